/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one stack shows that the one before did not has begun between the two, and what it lacks has ended
 * (fit.c tells which calls go on).
 *
 * An edge between two ticks stands in the middle: nobody knows better, and it is off by half their distance
 * at most. Time within a pause is no place for an edge, since the thread did not run: what differs behind it
 * ended where the pause began.
 */
#include "stacks/sampled/sampled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/spill.h"
#include "stacks/sampled/sampled_internal.h"

/* ---- slices ---- */

static void push_slice(struct sampler *sampler, enum slice_kind kind, const struct call *call, uint64_t time,
		       uint8_t flags)
{
	struct frame *frame =
		segment_push(&sampler->segment, kind, call ? call->symbol : NULL, call ? call->ip : 0, time);

	if (frame)
		segment_slice(&sampler->segment, frame)->flags = flags;
}

static void end_calls(struct sampler *sampler, size_t keep, uint64_t time, uint8_t flags)
{
	struct segment *segment = &sampler->segment;

	for (size_t i = keep; i < segment->frame_cnt; i++)
		segment_slice(segment, &segment->frames[i])->flags |= flags;
	segment_pop_to(segment, keep, time);
	sampler->open.cnt = keep;
}

static void begin_call(struct sampler *sampler, const struct call *call, uint64_t time, uint8_t flags)
{
	struct calls *open = &sampler->open;

	if (ARRAY_PUSH(open->items, open->cnt, open->cap, *call))
		sampler->no_memory = true;
	push_slice(sampler, SLICE_CALL, call, time,
		   flags | SLICE_SAMPLED | (call->is_inlined ? SLICE_INLINED : 0));
}

static void put_unknown(struct sampler *sampler, uint64_t from, uint64_t to)
{
	push_slice(sampler, SLICE_UNKNOWN, NULL, from, SLICE_SAMPLED);
	segment_pop(&sampler->segment, to);
}

/* Each has its end already when it begins. */
static void pop_pauses(struct sampler *sampler, size_t keep)
{
	struct segment *segment = &sampler->segment;

	while (segment->frame_cnt > keep)
		segment_pop(segment, segment_slice(segment, segment_top(segment))->end_ns);
}

static void put_pauses(struct sampler *sampler, const struct sampled_item *item)
{
	struct segment *segment = &sampler->segment;

	for (size_t i = 0; i < item->pause_cnt; i++) {
		const struct sampled_pause *pause = &item->pauses[i];
		struct slice *slice;

		pop_pauses(sampler, sampler->open.cnt + pause->depth);
		push_slice(sampler, pause->kind, NULL, pause->start,
			   pause->flags | (pause->detail ? SLICE_DETAILED : 0));
		if (segment->no_memory)
			return;
		slice = segment_slice(segment, segment_top(segment));
		slice->end_ns = pause->end;
		if (pause->detail)
			slice->detail = pause->detail;
	}
	pop_pauses(sampler, sampler->open.cnt);
}

/* ---- between two stacks ---- */

/* So long no running thread goes without a tick. */
static bool is_hole(const struct sampler *sampler, uint64_t from, uint64_t to)
{
	return sampler->period && to > from && to - from > sampler->period + sampler->period / 2;
}

/* What was seen at `from` may be taken to be so for half a period more, unless something else is known. */
static uint64_t known_end(const struct sampler *sampler, uint64_t from, uint64_t to)
{
	return is_hole(sampler, from, to) ? from + sampler->period / 2 : to;
}

static uint64_t known_begin(const struct sampler *sampler, uint64_t from, uint64_t to)
{
	return is_hole(sampler, from, to) ? to - sampler->period / 2 : from;
}

/*
 * The items that waited, within the calls that go on; what ran between them is not known where it ran long.
 */
static void put_waiting(struct sampler *sampler, uint64_t from, uint64_t to, bool has_next)
{
	for (size_t i = 0; i < sampler->waiting_cnt; i++) {
		const struct sampled_item *item = &sampler->waiting[i];

		if (is_hole(sampler, from, item->start))
			put_unknown(sampler,
				    i || !sampler->has_known ? from : known_end(sampler, from, item->start),
				    item->start);
		put_pauses(sampler, item);
		from = item->end;
	}
	if (has_next && is_hole(sampler, from, to))
		put_unknown(sampler,
			    sampler->waiting_cnt || !sampler->has_known ? from : known_end(sampler, from, to),
			    known_begin(sampler, from, to));
}

/* When calls that have ended by `time` did so, and those that are new then began. */
static void find_edges(const struct sampler *sampler, uint64_t time, uint64_t *ret_end, uint64_t *ret_begin)
{
	size_t cnt = sampler->waiting_cnt;

	time = time > sampler->known ? time : sampler->known;
	if (!cnt && !is_hole(sampler, sampler->known, time)) {
		*ret_end = *ret_begin = sampler->known + (time - sampler->known) / 2;
		return;
	}
	*ret_end = known_end(sampler, sampler->known, cnt ? sampler->waiting[0].start : time);
	*ret_begin = known_begin(sampler, cnt ? sampler->waiting[cnt - 1].end : sampler->known, time);
}

static void infer_callers(struct sampler *sampler, size_t cnt)
{
	struct calls *open = &sampler->open;

	for (size_t i = cnt; i-- > 0;) {
		const struct call *call = &sampler->now.items[i];

		if (ARRAY_PUSH(open->items, open->cnt, open->cap, *call))
			sampler->no_memory = true;
		segment_infer(&sampler->segment, call->symbol, call->ip);
		if (!sampler->segment.no_memory)
			sampler->segment.inferred[sampler->segment.inferred_cnt - 1].flags |=
				SLICE_SAMPLED | (call->is_inlined ? SLICE_INLINED : 0);
	}
	/* Those that were pushed last are the outermost now. */
	if (cnt && !sampler->no_memory) {
		memmove(open->items + cnt, open->items, (open->cnt - cnt) * sizeof(*open->items));
		memcpy(open->items, sampler->now.items, cnt * sizeof(*open->items));
	}
}

static void begin_calls(struct sampler *sampler, const struct sampled_item *item, size_t fresh, uint64_t time,
			uint8_t flags)
{
	for (size_t i = fresh; i < sampler->now.cnt; i++) {
		bool begins_here = item->is_begin && i + 1 == sampler->now.cnt;

		begin_call(sampler, &sampler->now.items[i], begins_here ? item->start : time,
			   begins_here ? 0 : flags);
	}
}

/* The first stack, or the first behind a loss. */
static void see_first(struct sampler *sampler, const struct sampled_item *item)
{
	size_t cnt = sampler->waiting_cnt;
	uint64_t begin = item->start;

	if (cnt) {
		put_waiting(sampler, sampler->waiting[0].start, item->start, true);
		begin = known_begin(sampler, sampler->waiting[cnt - 1].end, item->start);
	}
	begin_calls(sampler, item, 0, begin, SLICE_INFERRED_START);
	sampler->is_whole = !item->reached;
}

/* Where calls are that go on, as of now. */
static void move_on(struct sampler *sampler, const struct fit *fit)
{
	for (size_t i = 0; i < fit->fresh; i++) {
		struct call *open = &sampler->open.items[fit->kept - fit->fresh + i];
		const struct call before = *open;

		*open = sampler->now.items[i];
		open->cfa = open->cfa ? open->cfa : before.cfa;
		open->site = open->site ? open->site : before.site;
	}
}

static struct fit find_fit(struct sampler *sampler, const struct sampled_item *item)
{
	struct fit fit = sampled_fit(sampler, item);

	infer_callers(sampler, fit.outer);
	fit.kept += fit.outer;
	sampled_part(sampler, &fit);
	/* However much it looks like the one before. */
	if (item->is_begin && fit.fresh == sampler->now.cnt && fit.fresh) {
		fit.fresh--;
		fit.kept--;
	}
	return fit;
}

static void see_next(struct sampler *sampler, const struct sampled_item *item)
{
	struct fit fit = find_fit(sampler, item);
	uint64_t end, begin;
	bool is_certain;

	sampler->is_whole |= !item->reached;
	find_edges(sampler, item->start, &end, &begin);
	is_certain = end == begin;
	end_calls(sampler, fit.kept, end, is_certain ? 0 : SLICE_OPEN_END);
	put_waiting(sampler, sampler->known, item->start, true);
	move_on(sampler, &fit);
	if (fit.unseen.symbol)
		begin_call(sampler, &fit.unseen, begin, is_certain ? 0 : SLICE_INFERRED_START);
	begin_calls(sampler, item, fit.fresh, begin, is_certain ? 0 : SLICE_INFERRED_START);
}

static void see(struct sampler *sampler, const struct sampled_item *item)
{
	sampled_read(sampler, item, &sampler->now);
	if (sampler->no_memory)
		return;
	if (sampler->has_known)
		see_next(sampler, item);
	else
		see_first(sampler, item);
	put_pauses(sampler, item);
	sampler->has_known = true;
	sampler->known = item->end;
	sampler->waiting_cnt = 0;
}

/* ---- the whole ---- */

static int write_out(struct sampler *sampler)
{
	struct timeline_thread *thread = sampler->thread;
	const struct stacks_config *config = sampler->config;
	struct slice_list slices = {
		.items = thread->slices, .cnt = thread->slice_cnt, .cap = thread->slice_cap};
	size_t first = thread->slice_cnt;
	int err = sampler->no_memory ? -ENOMEM : segment_write(&sampler->segment, &slices);

	thread->slices = slices.items;
	thread->slice_cnt = slices.cnt;
	thread->slice_cap = slices.cap;
	for (size_t i = first; i < thread->slice_cnt && !err; i++) {
		struct slice *slice = &thread->slices[i];

		slice->start_ns = config->time_ns(config->ctx, slice->start_ns);
		slice->end_ns = config->time_ns(config->ctx, slice->end_ns);
		SPILL_PASS(thread->slices, i);
	}
	return err;
}

/* Before the items that waited: no stack behind them says what had ended. */
static void end_elsewhere(struct sampler *sampler)
{
	size_t kept = sampler->open.cnt;

	for (size_t i = 0; i < sampler->waiting_cnt; i++)
		kept = sampled_open_as_it_waits(sampler, kept, &sampler->waiting[i]);
	if (kept < sampler->open.cnt)
		end_calls(sampler, kept, known_end(sampler, sampler->known, sampler->waiting[0].start),
			  SLICE_OPEN_END);
}

/* All that is open ends, where it is not known any more; what comes then has nothing to do with it. */
static int end_segment(struct sampler *sampler, uint64_t until)
{
	size_t cnt = sampler->waiting_cnt;
	uint64_t end = sampler->known;
	int err;

	end_elsewhere(sampler);
	if (sampler->has_known || cnt) {
		put_waiting(sampler, sampler->has_known ? sampler->known : sampler->waiting[0].start, until,
			    false);
		end = cnt ? sampler->waiting[cnt - 1].end : end;
		segment_close(&sampler->segment, until > end ? known_end(sampler, end, until) : end);
	}
	err = write_out(sampler);
	segment_release(&sampler->segment);
	sampler->open.cnt = sampler->waiting_cnt = 0;
	sampler->has_known = false;
	return err;
}

static int build(struct sampler *sampler, const struct sampled_item *items, size_t cnt, uint64_t until)
{
	int err = 0;

	segment_init(&sampler->segment, cnt ? items[0].start : 0);
	for (size_t i = 0; i < cnt && !err; i++) {
		const struct sampled_item *item = &items[i];

		if (item->is_lost) {
			err = end_segment(sampler, item->start);
			segment_init(&sampler->segment, item->end);
		} else if (item->cnt) {
			see(sampler, item);
		} else {
			sampler->waiting = sampler->waiting_cnt ? sampler->waiting : item;
			sampler->waiting_cnt++;
		}
	}
	return err ? err : end_segment(sampler, until);
}

int sampled_build(const struct stacks_config *config, const struct sampled_item *items, size_t cnt,
		  uint64_t until, uint64_t period, struct timeline_thread *thread)
{
	struct sampler sampler = {.config = config,
				  .thread = thread,
				  .period = period,
				  .whole = {.items = items, .end = items + cnt}};
	int err = build(&sampler, items, cnt, until);

	segment_release(&sampler.segment);
	free(sampler.open.items);
	free(sampler.now.items);
	free(sampler.later_calls.items);
	free(sampler.whole.keys);
	return err;
}

static uint64_t median(uint64_t *numbers, size_t cnt)
{
	sort_array(numbers, cnt, sizeof(*numbers), sort_by_number);
	return cnt ? numbers[cnt / 2] : 0;
}

uint64_t sampled_period(const struct sampled_item *items, size_t cnt)
{
	CLEANUP(freep) uint64_t *numbers = calloc(cnt + 1, sizeof(*numbers));
	uint64_t before = UINT64_MAX;
	size_t told = 0;

	if (!numbers)
		return 0;
	for (size_t i = 0; i < cnt; i++)
		if (items[i].period)
			numbers[told++] = items[i].period;
	if (told)
		return median(numbers, told);
	for (size_t i = 0; i < cnt; i++) {
		if (!items[i].cnt || items[i].start != items[i].end)
			continue;
		if (before < items[i].start)
			numbers[told++] = items[i].start - before;
		before = items[i].start;
	}
	return median(numbers, told);
}
