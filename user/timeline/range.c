/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A range begins with a slice and ends before another one, of one thread. There it is exact, by the order of
 * slices, where times are equal; the other threads are cut by time. A slice that reaches over several ranges
 * appears in each.
 *
 *	slices	|----------- a -----------|		a's part in the range, marked inferred and open
 *		  |from| |b|  |to|
 *	range	  |-----------|
 */
#include "timeline/range.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "base/spill.h"

struct range {
	uint64_t start_ns, end_ns; /* start_ns first: sorted by it */
	size_t thread;		   /* index */
	size_t first, end;	   /* slices of that thread: [first, end) begin in it */
};

struct range_list {
	struct range *items;
	size_t cnt, cap;
};

/* "f(int)" is called f, too. */
static bool is_called(const struct slice *slice, const char *name)
{
	size_t len = strlen(name);
	const char *shown = slice_name(slice);

	return slice->kind == SLICE_CALL && !(slice->flags & SLICE_INFERRED_START) &&
	       !strncmp(shown, name, len) && (!shown[len] || shown[len] == '(');
}

static int find_ranges(const struct timeline *timeline, const char *from, const char *to,
		       struct range_list *list)
{
	for (size_t t = 0; t < timeline->thread_cnt; t++) {
		const struct timeline_thread *thread = &timeline->threads[t];
		struct range range = {.thread = t, .first = SIZE_MAX};

		for (size_t i = 0; i < thread->slice_cnt; i++) {
			const struct slice *slice = &thread->slices[i];

			if (range.first != SIZE_MAX && is_called(slice, to)) {
				range.end = i;
				range.end_ns = slice->start_ns;
				if (ARRAY_PUSH(list->items, list->cnt, list->cap, range))
					return -ENOMEM;
				range.first = SIZE_MAX;
			}
			if (is_called(slice, from)) {
				range.first = i;
				range.start_ns = slice->start_ns;
			}
		}
	}
	return 0;
}

/* ---- cutting ---- */

struct cut {
	struct slice *slices;
	size_t cnt, cap;
};

static int keep(struct cut *cut, struct slice slice, const struct range *range)
{
	if (slice.start_ns < range->start_ns) {
		slice.start_ns = range->start_ns;
		slice.flags |= SLICE_INFERRED_START;
	}
	if (slice.end_ns > range->end_ns) {
		slice.end_ns = range->end_ns;
		slice.flags |= SLICE_OPEN_END;
	}
	return SPILL_PUSH(cut->slices, cut->cnt, cut->cap, slice);
}

/* Of the range's own thread: what slice `first` lies in, then all that begin before `end`. */
static int keep_own(struct cut *cut, const struct timeline_thread *thread, const struct range *range)
{
	uint32_t depth = thread->slices[range->first].depth;
	size_t *outer = calloc(depth + 1ul, sizeof(*outer));
	int err = outer ? 0 : -ENOMEM;

	for (size_t i = range->first, left = depth; !err && left > 0 && i-- > 0;)
		if (thread->slices[i].depth == left - 1)
			outer[--left] = i;
	for (uint32_t i = 0; i < depth && !err; i++)
		err = keep(cut, thread->slices[outer[i]], range);
	for (size_t i = range->first; i < range->end && !err; i++)
		err = keep(cut, thread->slices[i], range);
	free(outer);
	return err;
}

static int keep_other(struct cut *cut, const struct timeline_thread *thread, const struct range *range)
{
	int err = 0;

	for (size_t i = 0; i < thread->slice_cnt && !err; i++)
		if (thread->slices[i].start_ns < range->end_ns && thread->slices[i].end_ns > range->start_ns)
			err = keep(cut, thread->slices[i], range);
	return err;
}

static bool is_inside(const struct range_list *list, uint64_t time_ns)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (time_ns >= list->items[i].start_ns && time_ns <= list->items[i].end_ns)
			return true;
	return false;
}

static void cut_instants(struct timeline_thread *thread, const struct range_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < thread->instant_cnt; i++) {
		if (is_inside(list, thread->instants[i].time_ns))
			thread->instants[kept++] = thread->instants[i];
		else
			instant_release(&thread->instants[i]);
	}
	thread->instant_cnt = kept;
}

static int cut_thread(struct timeline *timeline, size_t index, const struct range_list *list)
{
	struct timeline_thread *thread = &timeline->threads[index];
	struct cut cut = {0};
	uint64_t done_ns = 0;
	int err = 0;

	for (size_t i = 0; i < list->cnt && !err; i++) {
		struct range range = list->items[i];

		if (range.start_ns < done_ns)
			range.start_ns = done_ns; /* two threads' ranges overlap: each time once */
		if (range.thread == index && range.start_ns == list->items[i].start_ns)
			err = keep_own(&cut, thread, &range);
		else if (range.start_ns < range.end_ns)
			err = keep_other(&cut, thread, &range);
		done_ns = range.end_ns > done_ns ? range.end_ns : done_ns;
	}
	if (err) {
		spill_free(cut.slices);
		return err;
	}
	timeline_thread_replace(thread, cut.slices, cut.cnt, cut.cap);
	cut_instants(thread, list);
	return 0;
}

int timeline_keep_between(struct timeline *timeline, const char *from, const char *to)
{
	struct range_list list = {0};
	int err = find_ranges(timeline, from, to, &list), cnt = (int)list.cnt;

	if (!err && list.cnt) {
		sort_array(list.items, list.cnt, sizeof(*list.items), sort_by_number);
		for (size_t i = 0; i < timeline->thread_cnt && !err; i++)
			err = cut_thread(timeline, i, &list);
	}
	free(list.items);
	return err ? err : cnt;
}
