/* SPDX-License-Identifier: BSD-2-Clause */
/* Which places and paths of a tree have the most. */
#pragma once

#include "heap/tree.h"

/*
 * The frames with most by themselves, or with `by_total` with what they call, the greatest first, `top` at
 * most: indices, to be freed. Those without any do not count. 0 or -ENOMEM.
 */
int memtrace_hot_frames(const struct memtrace_tree *tree, size_t top, bool by_total, uint32_t **ret_frames,
			size_t *ret_cnt, size_t *ret_left_out);

/* A row of a tree that is shown. */
struct memtrace_row {
	uint32_t path; /* index: the last of `calls` paths that each have all that the one before them has */
	uint32_t calls;
	uint32_t level; /* rows it is below */
};

/*
 * The `top` paths with the most, callers included, as rows of a tree, of which siblings stand with the
 * greatest first. What a path calls is on its row as long as that is all that it does. *ret_cnt: how many
 * rows; to be freed. 0 or -ENOMEM.
 */
int memtrace_hot_paths(const struct memtrace_tree *tree, size_t top, struct memtrace_row **ret_rows,
		       size_t *ret_cnt, size_t *ret_left_out);
