/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FXT (Fuchsia trace format) records: https://fuchsia.dev/fuchsia-src/reference/tracing/trace-format. A
 * record is built in memory as 64-bit words and written whole, so that a cut file ends at a record. Limits of
 * the format and of its readers (Perfetto): 32767 strings and 255 threads in tables whose entries may be
 * replaced, 4095 words a record, 15 arguments, 32000 bytes a string.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/bytes/output.h"

enum {
	FXT_STRINGS = 32767,
	FXT_THREADS = 255,
	FXT_ARGS_MAX = 15,
	FXT_RECORD_WORDS = 4095,
	FXT_STRING_MAX = 32000,
	FXT_KEPT_WORDS = 7
};

enum fxt_event {
	FXT_INSTANT = 0,
	FXT_COUNTER = 1,
	FXT_BEGIN = 2,
	FXT_END = 3,
	FXT_COMPLETE = 4, /* a begin, and in its last word the end */
	FXT_FLOW_BEGIN = 8,
	FXT_FLOW_END = 10
};

struct fxt;

int fxt_new(struct fxt **ret_fxt, struct output *output);
void fxt_free(struct fxt *fxt);

/* Magic word and clock (1 tick = 1 ns). */
void fxt_header(struct fxt *fxt);

/* Names for the viewer. */
void fxt_name_process(struct fxt *fxt, uint64_t pid, const char *name);
void fxt_name_thread(struct fxt *fxt, uint64_t pid, uint64_t tid, const char *name);

/*
 * An event: begin, up to FXT_ARGS_MAX arguments (more are dropped), end. Nothing else in between. `name` may
 * be NULL for FXT_END. Names of events and arguments, and the value of fxt_arg_lasting(), must stay where
 * they are, unchanged, until fxt_free().
 */
void fxt_event_begin(struct fxt *fxt, enum fxt_event type, uint64_t pid, uint64_t tid, uint64_t time_ns,
		     const char *name);
void fxt_arg_pointer(struct fxt *fxt, const char *name, uint64_t value);
void fxt_arg_int(struct fxt *fxt, const char *name, int64_t value);
void fxt_arg_string(struct fxt *fxt, const char *name, const char *value);
void fxt_arg_lasting(struct fxt *fxt, const char *name, const char *value);
void fxt_event_end(struct fxt *fxt);

/*
 * The event that was just ended, whose first argument is a pointer, is kept under that key (not NULL), if it
 * is short. fxt_event_repeat() then writes it again, with other values for what it is given; false: it is
 * not kept (any more), and nothing was written.
 */
void fxt_event_keep(struct fxt *fxt, const void *key);
bool fxt_event_repeat(struct fxt *fxt, const void *key, uint64_t pid, uint64_t tid, uint64_t time_ns,
		      uint64_t pointer);

/* The same of a kept FXT_BEGIN, as an FXT_COMPLETE. */
bool fxt_complete_repeat(struct fxt *fxt, const void *key, uint64_t pid, uint64_t tid, uint64_t time_ns,
			 uint64_t pointer, uint64_t end_ns);

/* An event FXT_END without name and arguments. */
void fxt_slice_end(struct fxt *fxt, uint64_t pid, uint64_t tid, uint64_t time_ns);

/*
 * The end of an event that has a number: of FXT_COMPLETE, its end; of FXT_COUNTER, whose arguments are its
 * values, it tells counters of one name apart; FXT_FLOW_BEGIN and FXT_FLOW_END of one number belong together.
 */
void fxt_event_end_id(struct fxt *fxt, uint64_t id);

/* -ENOMEM if that happened on the way, else 0. */
int fxt_error(const struct fxt *fxt);

DEFINE_CLEANUP(struct fxt *, fxt_free)
