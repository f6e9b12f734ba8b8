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
	spill_free(segment->slices);
	free(segment->inferred);
	free(segment->frames);
	*segment = (struct segment){0};
}

struct frame *segment_top(struct segment *segment)
{
	return segment->frame_cnt ? &segment->frames[segment->frame_cnt - 1] : NULL;
}

static struct frame *push_frame(struct segment *segment, const struct frame *frame)
{
	if (ARRAY_PUSH(segment->frames, segment->frame_cnt, segment->frame_cap, *frame)) {
		segment->no_memory = true;
		return NULL;
	}
	return segment_top(segment);
}

struct frame *segment_push(struct segment *segment, enum slice_kind kind, const struct symbol *symbol,
			   uint64_t ip, uint64_t moment)
{
	const struct frame *top = segment_top(segment);
	int32_t depth = top ? top->depth + 1 : segment->outer + 1;
	struct frame frame = {
		.slice = segment->slice_cnt, .symbol = symbol, .depth = depth, .kind = (uint8_t)kind};
	struct slice slice = {.start_ns = moment,
			      .end_ns = moment,
			      .symbol = symbol,
			      .ip = ip,
			      .depth = (uint32_t)depth,
			      .kind = (uint8_t)kind};

	if (SPILL_PUSH(segment->slices, segment->slice_cnt, segment->slice_cap, slice)) {
		segment->no_memory = true;
		return NULL;
	}
	return push_frame(segment, &frame);
}

void segment_pop(struct segment *segment, uint64_t moment)
{
	struct frame *top = segment_top(segment);

	if (!top)
		return;
	segment_slice(segment, top)->end_ns = moment;
	segment->frame_cnt--;
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
	if (!push_frame(segment, &frame))
		return;
	memmove(segment->frames + 1, segment->frames, (segment->frame_cnt - 1) * sizeof(frame));
	segment->frames[0] = frame;
}

void segment_close(struct segment *segment, uint64_t moment)
{
	struct frame *top = segment_top(segment);

	if (top && top->kind == SLICE_UNTRACED && top->slice + 1 == segment->slice_cnt && !top->is_inferred) {
		segment->slice_cnt--;
		segment->frame_cnt--;
	}
	for (size_t i = 0; i < segment->frame_cnt; i++)
		segment_slice(segment, &segment->frames[i])->flags |= SLICE_OPEN_END;
	segment_pop_to(segment, 0, moment);
}

static struct slice settled(const struct segment *segment, struct slice slice)
{
	slice.depth = (uint32_t)((int32_t)slice.depth - segment->outer - 1);
	return slice;
}

/* Those inferred, outermost first, which come before all others. */
static void put_inferred(const struct segment *segment, struct slice *slices)
{
	for (size_t i = 0; i < segment->inferred_cnt; i++) {
		struct slice slice = segment->inferred[segment->inferred_cnt - 1 - i];

		slice.ip = 0;
		slices[i] = settled(segment, slice);
	}
}

/* The thread has none yet: the segment's become its own. There may be a hundred million. */
static int hand_over(struct segment *segment, struct timeline_thread *thread)
{
	size_t before = segment->inferred_cnt;

	if (spill_reserve(&segment->slices, &segment->slice_cap, before + segment->slice_cnt,
			  sizeof(struct slice)))
		return -ENOMEM;
	for (size_t i = segment->slice_cnt; i-- > 0 && (before || segment->outer != -1);) {
		segment->slices[before + i] = settled(segment, segment->slices[i]);
		if (!(i % LET_GO_EVERY))
			spill_let_go(segment->slices, (before + i) * sizeof(struct slice), SIZE_MAX);
	}
	put_inferred(segment, segment->slices);
	timeline_thread_replace(thread, segment->slices, before + segment->slice_cnt, segment->slice_cap);
	segment->slices = NULL;
	segment->slice_cnt = segment->slice_cap = 0;
	return 0;
}

int segment_write(struct segment *segment, struct timeline_thread *thread)
{
	size_t cnt = thread->slice_cnt + segment->inferred_cnt + segment->slice_cnt;

	if (segment->no_memory)
		return -ENOMEM;
	if (!thread->slice_cnt && cnt)
		return hand_over(segment, thread);
	if (spill_reserve(&thread->slices, &thread->slice_cap, cnt, sizeof(struct slice)))
		return -ENOMEM;
	put_inferred(segment, thread->slices + thread->slice_cnt);
	thread->slice_cnt += segment->inferred_cnt;
	for (size_t i = 0; i < segment->slice_cnt; i++) {
		thread->slices[thread->slice_cnt++] = settled(segment, segment->slices[i]);
		SPILL_PASS(segment->slices, i);
	}
	return 0;
}
