/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/hotspots.h"

#include "base/array.h"
#include "base/sort.h"

/* ---- places ---- */

static uint64_t rank(const struct memtrace_frame *frame, bool by_total)
{
	return by_total ? frame->total.allocated : frame->self.allocated;
}

int memtrace_hot_frames(const struct memtrace_tree *tree, size_t top, bool by_total, uint32_t **ret_frames,
			size_t *ret_cnt, size_t *ret_left_out)
{
	CLEANUP(freep) struct sort_key *keys = calloc(tree->frame_cnt + 1, sizeof(*keys));
	uint32_t *frames = keys ? calloc(tree->frame_cnt + 1, sizeof(*frames)) : NULL;
	size_t cnt = 0;

	if (!frames)
		return -ENOMEM;
	for (size_t i = 0; i < tree->frame_cnt; i++)
		if (rank(&tree->frames[i], by_total))
			keys[cnt++] = (struct sort_key){~rank(&tree->frames[i], by_total), i};
	sort_array(keys, cnt, sizeof(*keys), sort_by_key);
	*ret_cnt = cnt < top ? cnt : top;
	*ret_left_out = cnt - *ret_cnt;
	for (size_t i = 0; i < *ret_cnt; i++)
		frames[i] = (uint32_t)keys[i].nth;
	*ret_frames = frames;
	return 0;
}

/* ---- paths ---- */

/* The only thing that the path does: a call with all that it has. Else 0. */
static uint32_t only_callee(const struct memtrace_tree *tree, uint32_t path)
{
	uint32_t callee = path + 1;

	return callee < tree->paths[path].end &&
			       tree->paths[callee].total.allocated == tree->paths[path].total.allocated
		       ? callee
		       : 0;
}

/* The path at the end of the row that begins with this one. */
static uint32_t row_end(const struct memtrace_tree *tree, uint32_t path)
{
	for (uint32_t callee; (callee = only_callee(tree, path));)
		path = callee;
	return path;
}

struct chosen {
	const struct memtrace_tree *tree;
	struct sort_key *keys; /* of paths that begin a row, the greatest first */
	size_t cnt;
	bool *is_shown; /* by path */
};

static int choose(struct chosen *chosen, const struct memtrace_tree *tree, size_t top)
{
	chosen->tree = tree;
	chosen->keys = calloc(tree->path_cnt, sizeof(*chosen->keys));
	chosen->is_shown = calloc(tree->path_cnt, sizeof(*chosen->is_shown));
	if (!chosen->keys || !chosen->is_shown)
		return -ENOMEM;
	for (uint32_t i = 1; i < tree->path_cnt; i++)
		if (tree->paths[i].total.allocated &&
		    (!tree->paths[i].parent || !only_callee(tree, tree->paths[i].parent)))
			chosen->keys[chosen->cnt++] = (struct sort_key){~tree->paths[i].total.allocated, i};
	sort_array(chosen->keys, chosen->cnt, sizeof(*chosen->keys), sort_by_key);
	/* A caller has more than what it calls, or as much and the lower number: it is among them, too. */
	for (size_t i = 0; i < chosen->cnt && i < top; i++)
		chosen->is_shown[chosen->keys[i].nth] = true;
	return 0;
}

struct waiting {
	uint32_t path, level;
};

/* The least first, so that the greatest is the next to be taken. */
static void push_rows(const struct chosen *chosen, uint32_t caller, uint32_t level, struct waiting *waiting,
		      size_t *cnt)
{
	const struct memtrace_path *paths = chosen->tree->paths;
	size_t first = *cnt;

	for (uint32_t i = caller + 1; i < paths[caller].end; i = paths[i].end) {
		size_t at = *cnt;

		if (!chosen->is_shown[i])
			continue;
		for (; at > first && paths[waiting[at - 1].path].total.allocated >= paths[i].total.allocated;
		     at--)
			waiting[at] = waiting[at - 1];
		waiting[at] = (struct waiting){i, level};
		++*cnt;
	}
}

int memtrace_hot_paths(const struct memtrace_tree *tree, size_t top, struct memtrace_row **ret_rows,
		       size_t *ret_cnt, size_t *ret_left_out)
{
	struct chosen chosen = {0};
	int err = choose(&chosen, tree, top);
	size_t shown = chosen.cnt < top ? chosen.cnt : top, cnt = 0, waiting_cnt = 0;
	struct memtrace_row *rows = calloc(shown + 1, sizeof(*rows));
	struct waiting *waiting = calloc(shown + 1, sizeof(*waiting));

	if (!err && rows && waiting) {
		push_rows(&chosen, 0, 0, waiting, &waiting_cnt);
		while (waiting_cnt) {
			struct waiting next = waiting[--waiting_cnt];
			uint32_t end = row_end(tree, next.path);

			rows[cnt++] = (struct memtrace_row){
				end, 1 + tree->paths[end].depth - tree->paths[next.path].depth, next.level};
			push_rows(&chosen, end, next.level + 1, waiting, &waiting_cnt);
		}
		*ret_cnt = cnt;
		*ret_left_out = chosen.cnt - cnt;
		*ret_rows = TAKE_PTR(rows);
	} else {
		err = -ENOMEM;
	}
	free(chosen.keys);
	free(chosen.is_shown);
	free(waiting);
	free(rows);
	return err;
}
