/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of allocations by call path, and by function or line. Codes with unknown locations are skipped; a
 * stack without any known one is "[unknown]". Weights are sampled words (memtrace_bytes_of()).
 */
#pragma once

#include "heap/trace.h"

/* Which places are equal. */
enum memtrace_detail {
	MEMTRACE_BY_NAME,     /* the name of the function */
	MEMTRACE_BY_FUNCTION, /* and the file */
	MEMTRACE_BY_LINE,     /* and the line */
};

struct memtrace_weight {
	uint64_t allocations;		/* how many were sampled */
	uint64_t allocated, live, peak; /* all, never ended, alive at the peak */
};

struct memtrace_frame {
	const char *function, *file; /* owned by the reader; file "": several, or unknown */
	uint32_t line;		     /* 0: several, or unknown */
	/* total: with callees; a recursive call counts once */
	struct memtrace_weight self, total;
};

/*
 * A place called by a path of places. A path precedes those that extend it, which end at `end`; siblings are
 * sorted by name.
 */
struct memtrace_path {
	uint32_t parent, end; /* indices */
	uint32_t depth;	      /* 0: the first path, whose total is everything */
	uint32_t frame;	      /* index; undefined for the first path */
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
	bool no_recursion; /* skip a place that is on the path already */
};

/* `trace` must outlive the tree. 0 or -ENOMEM. */
int memtrace_tree_new(struct memtrace_tree **ret_tree, const struct memtrace *trace,
		      const struct memtrace_tree_config *config);
void memtrace_tree_free(struct memtrace_tree *tree);

/* Writes the frames of a path, outermost first, to frames[], which has room for its depth. */
void memtrace_tree_frames(const struct memtrace_tree *tree, uint32_t path, uint32_t *frames);

DEFINE_CLEANUP(struct memtrace_tree *, memtrace_tree_free)
