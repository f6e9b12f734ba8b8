/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of an FXT file (output/bytes/fxt_record.h), whoever wrote it, with strings and threads in place
 * of references: plain, or gzip of any number of members. What the timeline has no use for is passed over:
 * names of processes, categories, blobs, logs, scheduling.
 */
#pragma once

#include "base/cleanup.h"
#include "output/bytes/fxt_names.h"
#include "output/bytes/fxt_record.h"

struct fxt_read_arg {
	const char *name;
	const char *text; /* a string's, else NULL */
	uint64_t value;	  /* a number's */
	bool is_address;  /* it is a pointer */
};

struct fxt_read_event {
	enum fxt_read_type {
		FXT_READ_INSTANT = FXT_INSTANT,
		FXT_READ_COUNTER = FXT_COUNTER,
		FXT_READ_BEGIN = FXT_BEGIN,
		FXT_READ_END = FXT_END,
		FXT_READ_COMPLETE, /* from time_ns to end_ns */
		FXT_READ_OTHER,
		FXT_READ_FLOW_BEGIN = FXT_FLOW_BEGIN, /* `end_ns` is its number */
		FXT_READ_FLOW_END = FXT_FLOW_END,
		FXT_READ_THREAD, /* its name; `pid` is 0 where it is not told */
	} type;
	uint64_t pid, tid, time_ns, end_ns;
	const char *name; /* "" where there is none; like all texts, of the stream's names */
	struct fxt_read_arg args[FXT_ARGS_MAX];
	size_t arg_cnt;
};

struct fxt_stream;

/* Whether the file is FXT, by its first word. */
bool fxt_stream_is(const char *path);

/* `names` is the caller's. 0; -errno of open(2); -ENOMEM; with a sentence. */
int fxt_stream_open(struct fxt_stream **ret_stream, const char *path, struct fxt_names *names);
void fxt_stream_close(struct fxt_stream *stream);

/* 1: the next event; 0: there is none, and why, if the file does not simply end, is warned of; -ENOMEM. */
int fxt_stream_next(struct fxt_stream *stream, struct fxt_read_event *event);

DEFINE_CLEANUP(struct fxt_stream *, fxt_stream_close)
