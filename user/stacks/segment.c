/* SPDX-License-Identifier: BSD-2-Clause */
#include "stacks/segment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/spill.h"

enum { LET_GO_EVERY = 1 << 18 };

void segment_init(struct segment *segment, uint64_t start)
{
	*segment = (struct segment){.start = start, .outer = -1};
}

void segment_release(struct segment *segment)
{
	slice_list_release(&segment->slices);
	free(segment->inferred);
	free(segment->frames);
	*segment = (struct segment){0};
}

void segment_pop_to(struct segment *segment, size_t keep, uint64_t moment)
{
	while (segment->frame_cnt > keep)
		segment_pop(segment, moment);
}

void segment_replace(struct segment *segment, const struct symbol *symbol, uint64_t ip, uint64_t moment)
{
	const struct frame before = *segment_top(segment);
	struct frame *frame;

	segment_pop(segment, moment);
	frame = segment_push(segment, SLICE_CALL, symbol, ip, moment);
	if (!frame)
		return;
	frame->return_address = before.return_address;
	frame->call_from = before.call_from;
	frame->kernel_entry = before.kernel_entry;
	frame->resume = before.resume;
}

void segment_infer(struct segment *segment, const struct symbol *symbol, uint64_t ip)
{
	struct frame frame = {.slice = segment->inferred_cnt,
			      .symbol = symbol,
			      .depth = segment->outer,
			      .kind = SLICE_CALL,
			      .is_inferred = true};
	struct slice slice = {.start_ns = segment->start,
			      .end_ns = segment->start,
			      .symbol = symbol,
			      .ip = ip,
			      .depth = (uint32_t)segment->outer,
			      .kind = SLICE_CALL,
			      .flags = SLICE_INFERRED_START};

	if (ARRAY_PUSH(segment->inferred, segment->inferred_cnt, segment->inferred_cap, slice)) {
		segment->no_memory = true;
		return;
	}
	segment->outer--;
	if (!segment_add_frame(segment))
		return;
	memmove(segment->frames + 1, segment->frames, (segment->frame_cnt - 1) * sizeof(frame));
	segment->frames[0] = frame;
}

void segment_close(struct segment *segment, uint64_t moment)
{
	struct frame *top = segment_top(segment);
	bool is_last = top && !top->is_inferred && top->slice + 1 == slice_list_cnt(&segment->slices);

	if (is_last && top->kind == SLICE_UNTRACED) {
		segment->slices.cnt--;
		segment->frame_cnt--;
	}
	for (size_t i = 0; i < segment->frame_cnt; i++)
		segment_slice(segment, &segment->frames[i])->flags |= SLICE_OPEN_END;
	segment_pop_to(segment, 0, moment);
}

/* By how much deeper the segment's slices are in the end. */
static int32_t settled(const struct segment *segment)
{
	return -segment->outer - 1;
}

/* The nth of those inferred, outermost first, which come before all others. */
static struct slice inferred_at(const struct segment *segment, size_t nth)
{
	struct slice slice = segment->inferred[segment->inferred_cnt - 1 - nth];

	slice.ip = 0;
	slice.depth += (uint32_t)settled(segment);
	return slice;
}

/* The thread has none yet: the segment's become its own. */
static int hand_over(struct segment *segment, struct slice_list *slices)
{
	struct slice_list *from = &segment->slices;
	size_t before = segment->inferred_cnt;

	if (spill_reserve(&from->items, &from->cap, before + from->cnt, sizeof(struct slice)))
		return -ENOMEM;
	for (size_t i = from->cnt; i-- > 0 && (before || settled(segment));) {
		from->items[before + i] = from->items[i];
		from->items[before + i].depth += (uint32_t)settled(segment);
		if (!(i % LET_GO_EVERY))
			spill_let_go(from->items, (before + i) * sizeof(struct slice), SIZE_MAX);
	}
	for (size_t i = 0; i < before; i++)
		from->items[i] = inferred_at(segment, i);
	from->cnt += before;
	from->store = slices->store;
	slice_list_release(slices);
	*slices = *from;
	*from = (struct slice_list){0};
	return 0;
}

int segment_write(struct segment *segment, struct slice_list *slices)
{
	int err = segment->no_memory ? -ENOMEM : 0;

	if (!err && !slice_list_cnt(slices) && !segment->slices.block_cnt)
		return hand_over(segment, slices);
	for (size_t i = 0; i < segment->inferred_cnt && !err; i++) {
		struct slice slice = inferred_at(segment, i);

		err = slice_list_push(slices, &slice);
	}
	if (!err && slice_list_makes_room(slices, &segment->slices))
		err = slice_list_pack(slices, NULL, 0, true);
	return err ? err : slice_list_append(slices, &segment->slices, settled(segment));
}

int segment_pack(struct segment *segment, bool all)
{
	struct slice_list *slices = &segment->slices;
	size_t *open = NULL, first = segment->frame_cnt, cnt = 0;
	int err;

	if (!all && !slice_list_is_long(slices))
		return 0;
	/* Those open before what is packed now are known already. */
	while (first > 0 && !segment->frames[first - 1].is_inferred &&
	       segment->frames[first - 1].slice >= slices->packed_cnt)
		first--;
	open = calloc(segment->frame_cnt - first + 1, sizeof(*open));
	for (size_t i = first; open && i < segment->frame_cnt; i++)
		open[cnt++] = segment->frames[i].slice;
	err = open ? slice_list_pack(slices, open, cnt, all) : -ENOMEM;
	free(open);
	return err;
}
