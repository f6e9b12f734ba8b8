/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where memory was allocated: by call path and by function, or by line. Codes whose place is not known are
 * passed over; what has no place at all is at "[unknown]". Weights are sampled words (memtrace_bytes_of()).
 */
#pragma once

#include "heap/trace.h"

/* What makes two places the same. */
enum memtrace_detail {
	MEMTRACE_BY_NAME,     /* the name of the function */
	MEMTRACE_BY_FUNCTION, /* and the file */
	MEMTRACE_BY_LINE,     /* and the line */
};

struct memtrace_weight {
	uint64_t allocations;		/* how many were sampled */
	uint64_t allocated, live, peak; /* all, what never ends, what is alive when the most is */
};

struct memtrace_frame {
	const char *function, *file; /* the reader's; file "": of several, or not known */
	uint32_t line;		     /* 0: of several, or not known */
	/* total: with what it calls; of a function that is within a call of itself, once. */
	struct memtrace_weight self, total;
};

/*
 * A place called by a path of places. A path stands before those that go on from it, which end where `end`
 * says; siblings are in the order of their names.
 */
struct memtrace_path {
	uint32_t parent, end; /* indices */
	uint32_t depth;	      /* 0: the first one, which has everything as its total */
	uint32_t frame;	      /* index; the first path's means nothing */
	struct memtrace_weight self, total;
};

struct memtrace_tree {
	struct memtrace_frame *frames;
	size_t frame_cnt, frame_cap;
	struct memtrace_path *paths;
	size_t path_cnt, path_cap;
	uint32_t *path_of; /* by index of struct memtrace_sample */
	struct memtrace_peak peak;
};

struct memtrace_tree_config {
	enum memtrace_detail detail;
	bool no_recursion; /* a place that is on the path already is passed over */
};

/* The trace has to outlive the tree. 0 or -ENOMEM. */
int memtrace_tree_new(struct memtrace_tree **ret_tree, const struct memtrace *trace,
		      const struct memtrace_tree_config *config);
void memtrace_tree_free(struct memtrace_tree *tree);

/* The frames of a path, outermost first, into frames[], which has room for its depth. */
void memtrace_tree_frames(const struct memtrace_tree *tree, uint32_t path, uint32_t *frames);

DEFINE_CLEANUP(struct memtrace_tree *, memtrace_tree_free)
