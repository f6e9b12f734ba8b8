/* SPDX-License-Identifier: BSD-2-Clause */
/* The places and paths of a tree with the largest weights. */
#pragma once

#include "heap/tree.h"

/*
 * Up to `top` frames by self weight, or with `by_total` by total weight, largest first: indices, which the
 * caller frees. Frames of weight 0 do not count. 0 or -ENOMEM.
 */
int memtrace_hot_frames(const struct memtrace_tree *tree, size_t top, bool by_total, uint32_t **ret_frames,
			size_t *ret_cnt, size_t *ret_left_out);

/* A row of the displayed tree. */
struct memtrace_row {
	uint32_t path; /* index of the last of `calls` paths; each has the same weight as the one before it */
	uint32_t calls;
	uint32_t level; /* depth of the row */
};

/*
 * The `top` paths of largest weight and their callers as rows of a tree, siblings with the largest first. A
 * path that calls only one other shares a row with it. The caller frees *ret_rows. 0 or -ENOMEM.
 */
int memtrace_hot_paths(const struct memtrace_tree *tree, size_t top, struct memtrace_row **ret_rows,
		       size_t *ret_cnt, size_t *ret_left_out);
