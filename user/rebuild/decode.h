/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decode: from a snapshot to a timeline, without the target and without privileges.
 */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "decode/decoder.h"
#include "model/snapshot.h"
#include "model/timeline.h"

struct decode_config {
	enum decoder_kind decoder;
	unsigned int threads;  /* 0: all processors */
	bool source_lines;     /* look up files and lines */
	bool hit_source_lines; /* the same, of the functions in the stacks of hits only */
	bool inlines;	       /* slices for inlined calls */
	bool stored;	       /* slices may stay where only model/slice_cursor.h finds them */
	const char *symfs;     /* a directory with the traced machine's files, or NULL */
	const char *from, *to; /* decode_file() keeps the time between calls of the two; NULL: all */
	void (*progress)(void *ctx, size_t done_bytes, size_t total_bytes); /* may be NULL */
	void *progress_ctx;
	bool (*is_cancelled)(void); /* may be NULL. True: the trace ends with what is decoded so far */
};

/* A decoded snapshot: the timeline, and the images that its symbols belong to. */
struct decoded;

/*
 * 0, or -errno with a sentence. Damaged or missing parts of the trace are gaps in the timeline, not errors.
 */
int decode_snapshot(struct decoded **ret_decoded, const struct snapshot *snapshot,
		    const struct decode_config *config);

/*
 * The same for a file: a recording (recording/recording.h), the text of perf script (input/perf_script.h), an
 * allocation trace (heap/trace.h), or a trace (input/fxt_read.h). "-" is standard input.
 */
int decode_file(struct decoded **ret_decoded, const char *path, const struct decode_config *config);

void decoded_free(struct decoded *decoded);

const struct timeline *decoded_timeline(const struct decoded *decoded);

/* All slices become arrays, as they are unless config->stored. 0 or -ENOMEM. */
int decoded_load(struct decoded *decoded);

/* Slices in all threads, gaps in all threads. */
size_t decoded_slice_cnt(const struct decoded *decoded);
size_t decoded_gap_cnt(const struct decoded *decoded);

/* The single steps of the way, for looking at each hand-off. */
struct decode_visitor {
	int (*branch)(void *ctx, int32_t tid, const struct branch *branch, uint64_t time_ns,
		      const struct symbol *from, const struct symbol *to);
	int (*instruction)(void *ctx, int32_t tid, uint64_t ip, enum branch_gap gap);
	void *ctx;
};

/*
 * Every branch of every AUX trace in order, with symbols (NULL for an address of 0). fn's non-zero return
 * ends it.
 */
int decode_branches(const struct snapshot *snapshot, const struct decode_config *config,
		    const struct decode_visitor *visitor);

/* Every instruction, by the reference decoder. */
int decode_instructions(const struct snapshot *snapshot, const struct decode_config *config,
			const struct decode_visitor *visitor);

DEFINE_CLEANUP(struct decoded *, decoded_free)
