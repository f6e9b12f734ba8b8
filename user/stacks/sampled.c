/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two neighbouring stacks are laid over each other from the outermost call on:
 *
 *	before		now
 *	main		main		goes on
 *	  serve +10	  serve +50	goes on: same function, same frame; it has moved to its next call site
 *	    read	    read	another call: serve made it from another place
 *	      copy	      copy	... and so is all that is within it
 *
 * A call goes on if its function and its frame (CFA) agree, and its caller is still at the call. So a caller
 * that has moved is not cut in two, recursion is told apart by frames, and a second call of the same function
 * shows unless it comes from the same place. Where frame pointers gave no CFA, functions and call sites have
 * to do.
 *
 * An edge between two ticks stands in the middle: nobody knows better, and it is off by half their distance
 * at most. Time within a pause is no place for an edge, since the thread did not run: what differs behind it
 * ended where the pause began.
 *
 * A stack may be cut: its outermost frames were not copied, or are on another stack than a coroutine or a
 * signal's handler. It is laid where its frames fit; the callers above them go on. Where none fits, those go
 * on that the next whole stack shows again. If the first stack was cut, its callers are inferred as soon as a
 * whole one shows them.
 */
#include "stacks/sampled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "base/spill.h"
#include "stacks/stacks_internal.h"

/* A call of a stack, from the outermost on. */
struct call {
	const struct symbol *symbol;
	uint64_t ip, cfa;
	uint64_t site; /* where its caller called it; 0: not known, or it is inlined */
	bool is_inlined;
};

struct calls {
	struct call *items;
	size_t cnt, cap;
};

struct sampler {
	const struct stacks_config *config;
	struct timeline_thread *thread;
	uint64_t period;
	struct segment segment;		  /* its frames are those of `open` */
	struct calls open, now;		  /* what goes on, and the item's */
	const struct sampled_item *end;	  /* of all items */
	const struct sampled_item *later; /* one whose calls were read ahead; NULL: none was */
	struct calls later_calls;
	bool is_whole; /* the outermost of `open` has no caller */
	bool has_known;
	uint64_t known; /* until then the open calls are known to be so */
	/* Items since then whose stack is not known. */
	const struct sampled_item *waiting;
	size_t waiting_cnt;
	bool no_memory;
};

/* How the item's stack fits the one before. */
struct fit {
	size_t outer;	 /* so many calls of `now` are callers of the first open one */
	size_t kept;	 /* so many open calls go on */
	size_t fresh;	 /* the first call of `now` that is a new one */
	uint64_t unseen; /* where frames are between those two that no copy has held; 0: nowhere */
};

/* Stands for them. */
static const struct symbol unseen_callers = {.name = "[unknown]", .object = ""};

/* A frame is hardly larger: some have a path in them, or two. */
enum { FRAME_MAX = 1 << 14 };

/* ---- the item's stack ---- */

static void add_call(struct sampler *sampler, struct calls *to, const struct call *call)
{
	if (ARRAY_PUSH(to->items, to->cnt, to->cap, *call))
		sampler->no_memory = true;
}

static void add_inlined(struct sampler *sampler, struct calls *to, const struct call *function, uint64_t time)
{
	const struct stacks_config *config = sampler->config;
	uint64_t end;
	const struct inline_chain *chain =
		config->inlines_at ? config->inlines_at(config->ctx, function->ip, time, &end) : NULL;

	for (size_t i = 0; chain && i < chain->cnt; i++) {
		struct call call = {.symbol = chain->symbols[i],
				    .ip = function->ip,
				    .cfa = function->cfa,
				    .is_inlined = true};

		add_call(sampler, to, &call);
	}
}

static void read_stack(struct sampler *sampler, const struct sampled_item *item, struct calls *to)
{
	uint64_t site = 0;

	to->cnt = 0;
	for (size_t i = item->cnt; i-- > 0;) {
		struct call call = {.ip = item->ips[i], .cfa = item->cfas ? item->cfas[i] : 0, .site = site};

		call.symbol = sampler->config->symbol_at(sampler->config->ctx, call.ip, item->start);
		add_call(sampler, to, &call);
		add_inlined(sampler, to, &call, item->start);
		site = call.ip;
	}
}

/* ---- laid over the one before ---- */

static bool agree(uint64_t a, uint64_t b)
{
	return a == b || !a || !b;
}

static bool goes_on(const struct call *open, const struct call *now)
{
	return open->is_inlined == now->is_inlined && symbol_same_function(open->symbol, now->symbol) &&
	       agree(open->cfa, now->cfa) && agree(open->site, now->site);
}

/* How many calls go on from open[at] and those of `stack` from `from` on. */
static size_t run_length_in(const struct sampler *sampler, size_t at, const struct calls *stack, size_t from)
{
	size_t cnt = 0;

	while (at + cnt < sampler->open.cnt && from + cnt < stack->cnt &&
	       goes_on(&sampler->open.items[at + cnt], &stack->items[from + cnt]))
		cnt++;
	return cnt;
}

static size_t run_length(const struct sampler *sampler, size_t at, size_t from)
{
	return run_length_in(sampler, at, &sampler->now, from);
}

/* The open calls whose frames lie above all that was looked at. */
static size_t above(const struct sampler *sampler, const struct sampled_item *item)
{
	uint64_t outermost = sampler->now.items[0].cfa, limit = outermost ? outermost : item->reached;
	size_t kept = 0;

	for (size_t i = 0; i < sampler->open.cnt; i++) {
		uint64_t cfa = sampler->open.items[i].cfa;

		if (cfa && cfa <= limit)
			break;
		if (cfa)
			kept = i + 1;
	}
	/* The innermost of them is the place where the item's outermost frame stands. */
	return kept && !outermost ? kept - 1 : kept;
}

/* The next stack that is whole and begins as the open calls do; NULL: there is none. */
static const struct sampled_item *next_whole(const struct sampler *sampler, const struct sampled_item *item)
{
	uint64_t root = sampler->open.items[0].cfa;

	if (sampler->later > item && sampler->later->cfas[sampler->later->cnt - 1] == root)
		return sampler->later;
	for (item++; root && item < sampler->end && !item->is_lost; item++)
		if (item->cnt && !item->reached && item->cfas && item->cfas[item->cnt - 1] == root)
			return item;
	return NULL;
}

/*
 * Of the first `cnt` open calls, above the item's, those that are there later, too, as far as is known: all
 * if the last of them called what is outermost now as it called what was there before.
 */
static size_t lasting(struct sampler *sampler, const struct sampled_item *item, size_t cnt)
{
	uint64_t outermost = sampler->now.items[0].cfa;
	const struct sampled_item *later = NULL;
	size_t length;

	if (cnt && (cnt == sampler->open.cnt || sampler->open.items[cnt].cfa != outermost))
		later = next_whole(sampler, item);
	if (!later)
		return cnt;
	if (later != sampler->later)
		read_stack(sampler, later, &sampler->later_calls);
	sampler->later = later;
	length = run_length_in(sampler, 0, &sampler->later_calls, 0);
	return length && length < cnt ? length : cnt;
}

/* The callers of a call with this frame, if that of the last one above cannot be its neighbour. */
static uint64_t unseen_below(const struct call *last, uint64_t cfa)
{
	return cfa && last->symbol != &unseen_callers && last->cfa > cfa + FRAME_MAX ? cfa + FRAME_MAX : 0;
}

static struct fit fit_cut(struct sampler *sampler, const struct sampled_item *item)
{
	struct fit fit = {.kept = above(sampler, item)};
	size_t longest = 0;

	for (size_t at = 0; at < sampler->open.cnt; at++) {
		size_t length = run_length(sampler, at, 0);

		if (length <= longest)
			continue;
		longest = length;
		fit = (struct fit){.kept = at + length, .fresh = length};
	}
	if (longest)
		return fit;
	fit.kept = lasting(sampler, item, fit.kept);
	if (fit.kept)
		fit.unseen = unseen_below(&sampler->open.items[fit.kept - 1], sampler->now.items[0].cfa);
	return fit;
}

static struct fit fit_whole(const struct sampler *sampler)
{
	struct fit fit = {0};

	if (sampler->open.cnt && !sampler->is_whole)
		while (fit.outer < sampler->now.cnt && !run_length(sampler, 0, fit.outer))
			fit.outer++;
	if (fit.outer == sampler->now.cnt)
		fit.outer = 0;
	fit.kept = run_length(sampler, 0, fit.outer);
	fit.fresh = fit.outer + fit.kept;
	return fit;
}

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

static bool is_wait(const struct sampled_item *item)
{
	for (size_t i = 0; i < item->pause_cnt; i++)
		if (item->pauses[i].kind != SLICE_RUN_QUEUE && item->pauses[i].kind != SLICE_UNTRACED)
			return true;
	return false;
}

/*
 * The calls that end where both stacks do and run there: what waited between was called by them, or they are
 * two.
 */
static void part_innermost(const struct sampler *sampler, struct fit *fit)
{
	if (sampler->open.items[fit->kept - 1].ip == sampler->now.items[fit->fresh - 1].ip)
		return;
	do {
		fit->kept--;
		fit->fresh--;
	} while (fit->fresh && sampler->now.items[fit->fresh].is_inlined);
}

/*
 * Of the first `cnt` open calls, those that may be open as it waits: if it was in another function of a
 * library, none of the library's calls that are innermost is the same one.
 */
static size_t open_as_it_waits(const struct sampler *sampler, size_t cnt, const struct sampled_item *item)
{
	const struct call *open = sampler->open.items;
	const struct symbol *leaf = sampler->config->symbol_at(sampler->config->ctx, item->leaf, item->start);

	if (!cnt || symbol_same_function(leaf, open[cnt - 1].symbol) || !leaf->object)
		return cnt;
	while (cnt && open[cnt - 1].symbol->object && !strcmp(leaf->object, open[cnt - 1].symbol->object))
		cnt--;
	return cnt;
}

static void part_library(const struct sampler *sampler, struct fit *fit, const struct sampled_item *item)
{
	size_t cut = fit->kept - open_as_it_waits(sampler, fit->kept, item);

	if (cut > fit->fresh)
		cut = fit->fresh;
	fit->kept -= cut;
	fit->fresh -= cut;
}

/* Two equal stacks need not be the same calls, if the thread was elsewhere meanwhile. */
static void part(const struct sampler *sampler, struct fit *fit)
{
	for (size_t i = 0; i < sampler->waiting_cnt; i++) {
		const struct sampled_item *item = &sampler->waiting[i];

		if (!fit->kept || fit->fresh != sampler->now.cnt || fit->kept != sampler->open.cnt)
			return;
		if (item->leaf && is_wait(item))
			part_library(sampler, fit, item);
		else if (is_wait(item))
			part_innermost(sampler, fit);
	}
}

static struct fit find_fit(struct sampler *sampler, const struct sampled_item *item)
{
	struct fit fit = item->reached ? fit_cut(sampler, item) : fit_whole(sampler);

	infer_callers(sampler, fit.outer);
	fit.kept += fit.outer;
	part(sampler, &fit);
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
	if (fit.unseen)
		begin_call(sampler, &(struct call){.symbol = &unseen_callers, .cfa = fit.unseen}, begin,
			   is_certain ? 0 : SLICE_INFERRED_START);
	begin_calls(sampler, item, fit.fresh, begin, is_certain ? 0 : SLICE_INFERRED_START);
}

static void see(struct sampler *sampler, const struct sampled_item *item)
{
	read_stack(sampler, item, &sampler->now);
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
		if (sampler->waiting[i].leaf && is_wait(&sampler->waiting[i]))
			kept = open_as_it_waits(sampler, kept, &sampler->waiting[i]);
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
	struct sampler sampler = {.config = config, .thread = thread, .period = period, .end = items + cnt};
	int err = build(&sampler, items, cnt, until);

	segment_release(&sampler.segment);
	free(sampler.open.items);
	free(sampler.now.items);
	free(sampler.later_calls.items);
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
