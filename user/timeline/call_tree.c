/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slices stand a caller before its callees, so a subtree is a range of rows. No list of the rows that are
 * shown is kept: from one row to the next it is one step over a folded subtree, or a look at the callers for
 * one that hides the row above. Folding takes no time at all then, whatever its size.
 */
#include "timeline/call_tree.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static uint32_t slice_cnt(const struct call_tree *tree)
{
	return (uint32_t)tree->thread->slice_cnt;
}

/* Of the rows so far, the innermost that is less deep. */
static uint32_t parent_of(const struct call_tree *tree, uint32_t row)
{
	const struct slice *slices = tree->thread->slices;
	uint32_t parent = row ? row - 1 : CALL_TREE_NONE;

	while (parent != CALL_TREE_NONE && slices[parent].depth >= slices[row].depth)
		parent = tree->parents[parent];
	return parent;
}

int call_tree_init(struct call_tree *ret_tree, const struct timeline_thread *thread)
{
	struct call_tree tree = {.thread = thread};
	size_t cnt = thread->slice_cnt;

	if (cnt >= CALL_TREE_NONE)
		return fail(-EFBIG, "thread %d has too many calls to be shown as a tree", thread->tid);
	tree.parents = calloc(cnt + 1, sizeof(*tree.parents));
	tree.ends = calloc(cnt + 1, sizeof(*tree.ends));
	tree.folded = malloc(cnt + 1);
	if (!tree.parents || !tree.ends || !tree.folded) {
		call_tree_release(&tree);
		return -ENOMEM;
	}
	memset(tree.folded, 1, cnt + 1);
	for (uint32_t row = 0; row < cnt; row++)
		tree.parents[row] = parent_of(&tree, row);
	for (uint32_t row = (uint32_t)cnt; row--;) {
		uint32_t parent = tree.parents[row];

		if (tree.ends[row] <= row)
			tree.ends[row] = row + 1;
		if (parent != CALL_TREE_NONE && tree.ends[parent] < tree.ends[row])
			tree.ends[parent] = tree.ends[row];
	}
	*ret_tree = tree;
	return 0;
}

void call_tree_release(struct call_tree *tree)
{
	free(tree->parents);
	free(tree->ends);
	free(tree->folded);
	*tree = (struct call_tree){0};
}

uint32_t call_tree_below(const struct call_tree *tree, uint32_t row)
{
	uint32_t next = tree->folded[row] ? tree->ends[row] : row + 1;

	return next < slice_cnt(tree) ? next : CALL_TREE_NONE;
}

uint32_t call_tree_shown(const struct call_tree *tree, uint32_t row)
{
	uint32_t shown = row;

	for (uint32_t at = tree->parents[row]; at != CALL_TREE_NONE; at = tree->parents[at])
		if (tree->folded[at])
			shown = at;
	return shown;
}

uint32_t call_tree_above(const struct call_tree *tree, uint32_t row)
{
	return row ? call_tree_shown(tree, row - 1) : CALL_TREE_NONE;
}

void call_tree_reveal(struct call_tree *tree, uint32_t row)
{
	for (uint32_t at = tree->parents[row]; at != CALL_TREE_NONE; at = tree->parents[at])
		tree->folded[at] = 0;
}

void call_tree_fold_all(struct call_tree *tree, bool fold)
{
	memset(tree->folded, fold, slice_cnt(tree));
}

uint64_t call_tree_self_ns(const struct call_tree *tree, uint32_t row)
{
	const struct slice *slices = tree->thread->slices;
	uint64_t self_ns = slices[row].end_ns - slices[row].start_ns;

	for (uint32_t callee = row + 1; callee < tree->ends[row]; callee = tree->ends[callee])
		self_ns -= slices[callee].end_ns - slices[callee].start_ns;
	return self_ns;
}

uint32_t call_tree_at(const struct call_tree *tree, uint64_t time_ns, const struct symbol *symbol)
{
	const struct slice *slices = tree->thread->slices;
	size_t begun = timeline_thread_begun(tree->thread, time_ns + 1);
	uint32_t innermost = begun ? (uint32_t)begun - 1 : CALL_TREE_NONE, at;

	while (innermost != CALL_TREE_NONE && slices[innermost].end_ns < time_ns &&
	       tree->parents[innermost] != CALL_TREE_NONE)
		innermost = tree->parents[innermost];
	for (at = symbol ? innermost : CALL_TREE_NONE; at != CALL_TREE_NONE; at = tree->parents[at])
		if (slices[at].symbol && !strcmp(slices[at].symbol->name, symbol->name))
			return at;
	return innermost;
}

/* ---- search ---- */

static bool has_capitals(const char *text)
{
	for (; *text; text++)
		if (isupper((unsigned char)*text))
			return true;
	return false;
}

uint32_t call_tree_find(const struct call_tree *tree, uint32_t row, const char *text, bool backwards)
{
	char *(*const find)(const char *, const char *) = has_capitals(text) ? strstr : strcasestr;

	for (; row < slice_cnt(tree); row += backwards ? UINT32_MAX : 1)
		if (find(slice_title(&tree->thread->slices[row]), text))
			return row;
	return CALL_TREE_NONE;
}
