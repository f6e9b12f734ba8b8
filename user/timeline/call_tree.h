/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The slices of one thread as rows of a tree, whose calls can be folded: what they called is hidden then. A
 * row has the index of its slice in the thread. Memory: 9 bytes a slice.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/timeline.h"

#define CALL_TREE_NONE UINT32_MAX

struct call_tree {
	const struct timeline_thread *thread;
	uint32_t *parents; /* CALL_TREE_NONE of an outermost call */
	uint32_t *ends;	   /* the row behind all that the call called */
	uint8_t *folded;
};

/*
 * All calls are folded. The thread's slices must be in its array (timeline_load()), and outlive the tree. 0,
 * -ENOMEM, or -EFBIG with a sentence: more slices than rows can be counted.
 */
int call_tree_init(struct call_tree *ret_tree, const struct timeline_thread *thread);
void call_tree_release(struct call_tree *tree);

/* The row below or above that is not hidden, or CALL_TREE_NONE. `row` itself is not hidden. */
uint32_t call_tree_below(const struct call_tree *tree, uint32_t row);
uint32_t call_tree_above(const struct call_tree *tree, uint32_t row);

/* Whether the call called anything. */
static inline bool call_tree_has_callees(const struct call_tree *tree, uint32_t row)
{
	return tree->ends[row] > row + 1;
}

/* The row itself, or, where that is hidden, the folded call that hides it. */
uint32_t call_tree_shown(const struct call_tree *tree, uint32_t row);

/* Unfolds what hides the row. */
void call_tree_reveal(struct call_tree *tree, uint32_t row);

void call_tree_fold_all(struct call_tree *tree, bool fold);

/* What the call took without what it called. */
uint64_t call_tree_self_ns(const struct call_tree *tree, uint32_t row);

/*
 * The innermost slice around a moment, of this function if there is one of it there; CALL_TREE_NONE: the
 * thread began later. `symbol` may be NULL.
 */
uint32_t call_tree_at(const struct call_tree *tree, uint64_t time_ns, const struct symbol *symbol);

/*
 * The next row from `row` on, or the one before it, whose title has the text in it, hidden rows too;
 * CALL_TREE_NONE: there is none there. A text without capitals matches those, too.
 */
uint32_t call_tree_find(const struct call_tree *tree, uint32_t row, const char *text, bool backwards);
