/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inputs: what can become a timeline. One row each in inputs.c. An input knows its files, and makes of one
 * the threads with their calls, mostly by batches (batch.h), the rest of the timeline, and what the
 * timeline's symbols belong to.
 */
#pragma once

#include "rebuild/decode.h"

struct input {
	const char *name;
	bool (*is)(const char *path); /* whether the file looks like one; NULL: any may be */
	/*
	 * `decoded` is empty. 0, or -errno with a sentence that names the file; what is there by then is
	 * released with `decoded`.
	 */
	int (*read)(struct decoded *decoded, const char *path, const struct decode_config *config);
};

extern const struct input input_fxt;	   /* a trace that was written before */
extern const struct input input_memtrace;  /* sampled allocations in memtrace's CTF */
extern const struct input input_script;	   /* the text of perf script */
extern const struct input input_recording; /* PT recordings, perf.data with samples, calls */

/* Never NULL. */
const struct input *input_find(const char *path);

/* A part of a recording: what one kind of source left in it. */
struct part {
	bool (*has)(const struct snapshot *snapshot);
	/*
	 * Adds its threads to decoded->timeline; the first part sets timeline.base_ns. decoded->history is
	 * there. 0, or -errno with a sentence.
	 */
	int (*build)(struct decoded *decoded, const struct snapshot *snapshot,
		     const struct decode_config *config);
};

extern const struct part part_samples; /* sampled stacks, counted events */
extern const struct part part_traces;  /* Intel PT's packets */
extern const struct part part_calls;   /* begins and ends of calls */
