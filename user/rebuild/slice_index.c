/* SPDX-License-Identifier: BSD-2-Clause */
#include "rebuild/slice_index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/spill.h"

uint64_t slice_distance(const struct slice *slice, uint64_t time_ns)
{
	if (time_ns < slice->start_ns)
		return slice->start_ns - time_ns;
	return time_ns > slice->end_ns ? time_ns - slice->end_ns : 0;
}

/* Symbols of different versions of an image are different objects. */
static bool same_function(const struct symbol *a, const struct symbol *b)
{
	return a == b || (a && b && a->start == b->start && !strcmp(a->name, b->name));
}

/* In the order in which they begin. */
struct slice_index {
	struct slice_wanted wanted;
	struct indexed_slice {
		const struct slice *slice;
		uint64_t latest_end; /* of it and all before it */
	} * items;
	size_t cnt, cap;
};

void slice_indices_release(struct slice_indices *indices)
{
	for (size_t i = 0; i < indices->cnt; i++)
		spill_free(indices->items[i].items);
	free(indices->items);
}

static bool belongs(const struct slice_wanted *wanted, const struct slice *slice)
{
	if (wanted->symbol)
		return same_function(slice->symbol, wanted->symbol);
	if (wanted->name)
		return slice->symbol && !strcmp(slice->symbol->name, wanted->name);
	return slice->kind == SLICE_UNTRACED && slice->ip == wanted->ip;
}

static int fill_index(struct slice_index *index)
{
	const struct timeline_thread *thread = index->wanted.thread;
	uint64_t latest = 0;
	int err = 0;

	for (size_t i = 0; i < thread->slice_cnt && !err; i++) {
		const struct slice *slice = &thread->slices[i];

		SPILL_PASS(thread->slices, i);
		if (!belongs(&index->wanted, slice))
			continue;
		latest = slice->end_ns > latest ? slice->end_ns : latest;
		err = SPILL_PUSH(index->items, index->cnt, index->cap,
				 ((struct indexed_slice){slice, latest}));
	}
	return err;
}

static int index_of(struct slice_indices *indices, const struct slice_wanted *wanted,
		    const struct slice_index **ret_index)
{
	struct slice_index fresh = {.wanted = *wanted};
	int err;

	for (size_t i = 0; i < indices->cnt; i++) {
		const struct slice_wanted *known = &indices->items[i].wanted;

		*ret_index = &indices->items[i];
		if (known->thread == wanted->thread && known->ip == wanted->ip &&
		    known->symbol == wanted->symbol && known->name == wanted->name)
			return 0;
	}
	err = fill_index(&fresh);
	if (!err)
		err = ARRAY_PUSH(indices->items, indices->cnt, indices->cap, fresh);
	if (err)
		spill_free(fresh.items);
	else
		*ret_index = &indices->items[indices->cnt - 1];
	return err;
}

/* Index of the first slice that begins after time_ns. */
static size_t first_after(const struct slice_index *index, uint64_t time_ns)
{
	size_t low = 0, high = index->cnt;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (index->items[mid].slice->start_ns <= time_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The slice that is nearest; of equally near ones the last, which is the innermost. NULL: there is none. */
static const struct slice *nearest(const struct slice_index *index, uint64_t time_ns, bool is_later)
{
	size_t after = first_after(index, time_ns), i = after;
	const struct slice *best = NULL;

	for (; i < index->cnt && (!best || index->items[i].slice->start_ns == best->start_ns); i++)
		best = index->items[i].slice;
	for (i = after; i-- > 0 && (!best || slice_distance(best, time_ns));) {
		const struct indexed_slice *item = &index->items[i];

		if (best && item->latest_end < time_ns &&
		    time_ns - item->latest_end >= slice_distance(best, time_ns))
			break;
		if (best && is_later && slice_distance(item->slice, time_ns))
			continue;
		if (!best || slice_distance(item->slice, time_ns) < slice_distance(best, time_ns))
			best = item->slice;
	}
	return best;
}

int slice_indices_nearest(struct slice_indices *indices, const struct slice_wanted *wanted, uint64_t time_ns,
			  const struct slice **ret_slice)
{
	const struct slice_index *index;
	int err;

	*ret_slice = NULL;
	if (!wanted->thread || (!wanted->symbol && !wanted->name && !wanted->ip))
		return 0;
	err = index_of(indices, wanted, &index);
	if (!err)
		*ret_slice = nearest(index, time_ns, wanted->is_later);
	return err;
}

uint64_t slice_moved_into(const struct slice *slice, uint64_t time_ns)
{
	if (!slice)
		return time_ns;
	if (time_ns < slice->start_ns)
		return slice->start_ns;
	return time_ns > slice->end_ns ? slice->end_ns : time_ns;
}
