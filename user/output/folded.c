/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timeline as folded stacks, "thread;main;f NANOSECONDS" for each stack that took time by itself, sorted:
 * what flamegraph.pl, speedscope and inferno read; or for each stack with what it called, which adds up to
 * more than there was, but is what to compare by. Threads of one name are one. Memory is by the number of
 * stacks that differ. Moments (hits, gaps) and the order of calls are not in it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sort.h"
#include "output/names.h"
#include "output/shown_args.h"
#include "output/sink.h"
#include "output/walk.h"

struct folder {
	struct names stacks; /* threads, and calls below them; values are times */
	uint32_t at;	     /* the innermost call that is open, or the thread */
	uint64_t since_ns;   /* nobody has been given the time from here on */
	bool no_memory;
};

/* To the call that is open; a thread's time outside of all calls is nobody's. */
static void pass_time(struct folder *folder, uint64_t to_ns)
{
	struct name *call = &folder->stacks.items[folder->at];

	if (call->parent)
		call->value += to_ns - folder->since_ns;
	folder->since_ns = to_ns;
}

static void enter(struct folder *folder, uint32_t parent, const char *text)
{
	uint32_t stack = folder->no_memory ? 0 : names_get(&folder->stacks, parent, text);

	folder->no_memory |= !stack;
	folder->at = stack;
}

static void begin_thread(void *ctx, const struct timeline_thread *thread)
{
	struct folder *folder = ctx;

	folder->since_ns = 0;
	enter(folder, 0, *thread->name ? thread->name : "[no name]");
}

static void begin_slice(void *ctx, const struct slice *slice)
{
	struct folder *folder = ctx;

	if (folder->no_memory)
		return;
	pass_time(folder, slice->start_ns);
	enter(folder, folder->at, *slice_name(slice) ? slice_name(slice) : "[no name]");
}

static void end_slice(void *ctx, const struct slice *slice)
{
	struct folder *folder = ctx;

	if (folder->no_memory)
		return;
	pass_time(folder, slice->end_ns);
	folder->at = folder->stacks.items[folder->at].parent;
}

/* ---- output ---- */

static void write_line(struct output *output, const struct names *stacks, const uint32_t *path, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		output_write(output, ";", i ? 1 : 0);
		write_folded_name(output, stacks->items[path[i]].text);
	}
	output_printf(output, " %" PRIu64 "\n", stacks->items[path[cnt - 1]].value);
}

static int compare_siblings(const void *left, const void *right, void *ctx)
{
	const struct name *items = ctx, *a = &items[*(const uint32_t *)left],
			  *b = &items[*(const uint32_t *)right];

	return ORDER_UP(a->parent, b->parent) ?: strcmp(a->text, b->text);
}

/*
 * The numbers of all names, in order of their parents and then of their texts; names[cnt]: none. NULL: no
 * memory.
 */
static uint32_t *sort_siblings(const struct names *stacks)
{
	size_t cnt = stacks->cnt ? stacks->cnt - 1 : 0;
	uint32_t *sorted = calloc(cnt + 1, sizeof(*sorted));

	for (size_t i = 0; sorted && i < cnt; i++)
		sorted[i] = (uint32_t)i + 1;
	if (sorted)
		qsort_r(sorted, cnt, sizeof(*sorted), compare_siblings, stacks->items);
	return sorted;
}

/* Where the children of each name begin in `sorted`; those without have what follows. NULL: no memory. */
static size_t *find_children(const struct names *stacks, const uint32_t *sorted)
{
	size_t *first = calloc(stacks->cnt + 1, sizeof(*first)), at = 0;

	for (size_t i = 0; first && i < stacks->cnt; i++) {
		first[i] = at;
		while (sorted[at] && stacks->items[sorted[at]].parent == i)
			at++;
	}
	if (first)
		first[stacks->cnt] = at;
	return first;
}

/* Depth first. path[i] is a child of path[i - 1]; next[i]: where in `sorted` its brother is. */
static int write_stacks(struct output *output, const struct names *stacks)
{
	CLEANUP(freep) uint32_t *sorted = sort_siblings(stacks);
	CLEANUP(freep) size_t *first = sorted ? find_children(stacks, sorted) : NULL;
	uint32_t path[WALK_VIEWER_DEPTH + 1];
	size_t next[WALK_VIEWER_DEPTH + 2] = {0}, cnt = 0;

	if (!first)
		return -ENOMEM;
	for (;;) {
		uint32_t parent = cnt ? path[cnt - 1] : 0;

		if (stacks->cnt && next[cnt] < first[parent + 1]) {
			path[cnt] = sorted[next[cnt]++];
			next[cnt + 1] = first[path[cnt]];
			cnt++;
			if (stacks->items[path[cnt - 1]].value)
				write_line(output, stacks, path, cnt);
		} else if (!cnt--) {
			return 0;
		}
	}
}

/* Callers have lower numbers than what they call. */
static void add_to_callers(struct names *stacks)
{
	for (size_t i = stacks->cnt; i-- > 1;)
		stacks->items[stacks->items[i].parent].value += stacks->items[i].value;
}

static int write_weighted(const struct timeline *timeline, struct output *output, bool by_total)
{
	/*
	 * Of a deep recursion each level is a stack, and a line: beyond what viewers show they would only add
	 * up.
	 */
	static const struct walk_ops ops = {.depth_max = WALK_VIEWER_DEPTH,
					    .thread = begin_thread,
					    .begin = begin_slice,
					    .end = end_slice};
	struct folder folder = {0};
	int err = walk_timeline(timeline, &ops, &folder);

	if (!err && by_total)
		add_to_callers(&folder.stacks);
	if (!err)
		err = folder.no_memory ? -ENOMEM : write_stacks(output, &folder.stacks);
	names_release(&folder.stacks);
	return err;
}

static int write_folded(const struct timeline *timeline, struct output *output)
{
	return write_weighted(timeline, output, false);
}

static int write_total(const struct timeline *timeline, struct output *output)
{
	return write_weighted(timeline, output, true);
}

const struct sink sink_folded_total = {
	.name = "folded-total",
	.suffix = ".total",
	.how_to_open = "sort it by its numbers",
	.write = write_total,
};

const struct sink sink_folded = {
	.name = "folded",
	.suffix = ".folded",
	.how_to_open = "feed it to flamegraph.pl, or open it in https://www.speedscope.app",
	.write = write_folded,
};
