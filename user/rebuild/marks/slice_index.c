/* SPDX-License-Identifier: BSD-2-Clause */
#include "rebuild/marks/slice_index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/spill.h"
#include "model/slice_cursor.h"
#include "rebuild/marks/trigger_calls.h"

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
	struct indexed_slice *items; /* latest_end: of it and all before it */
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
	if (wanted->calls)
		return slice->symbol && !(slice->flags & SLICE_OPEN_END) &&
		       trigger_calls_have(wanted->calls, wanted->trigger, slice->symbol);
	return slice->kind == SLICE_UNTRACED && slice->ip == wanted->ip;
}

/* ---- gathering ---- */

struct gathering {
	struct slice_index *index;
	size_t nth, outermost;
	/* Slices of the index behind whose end none has begun yet, the one that ends first last. */
	size_t *pending;
	size_t pending_cnt, pending_cap;
};

static struct indexed_slice *last_pending(const struct gathering *gathering)
{
	return &gathering->index->items[gathering->pending[gathering->pending_cnt - 1]];
}

static int add_pending(struct gathering *gathering, size_t index)
{
	const struct indexed_slice *items = gathering->index->items;
	size_t at = gathering->pending_cnt;
	int err = ARRAY_PUSH(gathering->pending, gathering->pending_cnt, gathering->pending_cap, index);

	for (; !err && at && items[gathering->pending[at - 1]].slice.end_ns < items[index].slice.end_ns; at--)
		gathering->pending[at] = gathering->pending[at - 1];
	if (!err)
		gathering->pending[at] = index;
	return err;
}

static int gather(struct gathering *gathering, const struct slice *slice)
{
	struct slice_index *index = gathering->index;
	struct indexed_slice item = {.slice = *slice, .nth = gathering->nth, .next_start_ns = UINT64_MAX};
	int err;

	if (!slice->depth)
		gathering->outermost = gathering->nth;
	for (; gathering->pending_cnt && last_pending(gathering)->slice.end_ns < slice->start_ns;
	     gathering->pending_cnt--)
		last_pending(gathering)->next_start_ns = slice->start_ns;
	gathering->nth++;
	if (!belongs(&index->wanted, slice))
		return 0;
	item.outermost = gathering->outermost;
	item.latest_end = index->cnt ? index->items[index->cnt - 1].latest_end : 0;
	item.latest_end = slice->end_ns > item.latest_end ? slice->end_ns : item.latest_end;
	err = SPILL_PUSH(index->items, index->cnt, index->cap, item);
	return err ? err : add_pending(gathering, index->cnt - 1);
}

static int fill_index(struct slice_index *index)
{
	struct gathering gathering = {.index = index};
	struct slice_cursor cursor;
	const struct slice *slice;
	int err = slice_cursor_begin(&cursor, index->wanted.thread);

	while (!err && (slice = slice_cursor_next(&cursor)))
		err = gather(&gathering, slice);
	free(gathering.pending);
	return slice_cursor_end(&cursor, err);
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
		    known->symbol == wanted->symbol && known->name == wanted->name &&
		    known->calls == wanted->calls && known->trigger == wanted->trigger)
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

/* ---- looking ---- */

/* Index of the first slice that begins after time_ns. */
static size_t first_after(const struct slice_index *index, uint64_t time_ns)
{
	return BISECT(index->cnt, i, index->items[i].slice.start_ns <= time_ns);
}

/* The slice that is nearest; of equally near ones the last, which is the innermost. NULL: there is none. */
static const struct indexed_slice *nearest(const struct slice_index *index, uint64_t time_ns, bool is_later)
{
	size_t after = first_after(index, time_ns), i = after;
	const struct indexed_slice *best = NULL;

	for (; i < index->cnt && (!best || index->items[i].slice.start_ns == best->slice.start_ns); i++)
		best = &index->items[i];
	for (i = after; i-- > 0 && (!best || slice_distance(&best->slice, time_ns));) {
		const struct indexed_slice *item = &index->items[i];

		if (best && item->latest_end < time_ns &&
		    time_ns - item->latest_end >= slice_distance(&best->slice, time_ns))
			break;
		if (best && is_later && slice_distance(&item->slice, time_ns))
			continue;
		if (!best || slice_distance(&item->slice, time_ns) < slice_distance(&best->slice, time_ns))
			best = item;
	}
	return best;
}

int slice_indices_nearest(struct slice_indices *indices, const struct slice_wanted *wanted, uint64_t time_ns,
			  const struct indexed_slice **ret_slice)
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

int slice_indices_around(struct slice_indices *indices, const struct slice_wanted *wanted, uint64_t time_ns,
			 uint32_t depth, const struct indexed_slice **ret_slice)
{
	const struct slice_index *index;
	int err = index_of(indices, wanted, &index);

	*ret_slice = NULL;
	for (size_t i = err ? 0 : first_after(index, time_ns); i-- > 0;) {
		const struct indexed_slice *item = &index->items[i];

		if (item->latest_end <= time_ns)
			break;
		if (item->slice.depth == depth && item->slice.start_ns < time_ns &&
		    item->slice.end_ns > time_ns) {
			*ret_slice = item;
			break;
		}
	}
	return err;
}

uint64_t slice_moved_into(const struct slice *slice, uint64_t time_ns)
{
	if (time_ns < slice->start_ns)
		return slice->start_ns;
	return time_ns > slice->end_ns ? slice->end_ns : time_ns;
}
