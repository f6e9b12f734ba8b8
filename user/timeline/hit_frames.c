/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stack that is recorded with a hit ends where unwinding fails, and the calls of the thread begin where
 * the trace does. So each may know frames that the other lacks:
 *
 *	recorded   read_line  parse                  [unknown]
 *	calls      read_line  parse  load  run  main
 *	frames     read_line  parse  [unknown] load  run  main
 *
 * Both are walked outwards. A recorded frame is the next open call of its function; the calls in between have
 * frames of their own.
 */
#include "timeline/hit_frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "timeline/lead_up.h"

struct frames {
	struct hit_frame *items;
	size_t cnt, cap;
};

/* The stacks that an FXT file has are of names alone. */
static bool is_of(const struct symbol *symbol, const struct slice *slice)
{
	return symbol == slice->symbol ||
	       (symbol && slice->symbol && !*symbol->object && !strcmp(symbol->name, slice->symbol->name));
}

/*
 * Lead-ups stand outermost first. The number of calls within `from`, if `symbol` is open there; else `from`.
 */
static size_t seek(const struct lead_up *calls, size_t from, const struct symbol *symbol)
{
	for (size_t i = from; symbol && i-- > 0;)
		if (calls->calls[i].is_open && is_of(symbol, calls->calls[i].slice))
			return i;
	return from;
}

/* The open calls of [to, from), from the inside out. */
static int add_calls(struct frames *frames, const struct lead_up *calls, size_t from, size_t to)
{
	int err = 0;

	for (size_t i = from; i-- > to && !err;) {
		const struct lead_up_call *call = &calls->calls[i];
		const struct hit_frame frame = {.symbol = call->slice->symbol, .is_open = true};

		if (call->is_open && call->slice->symbol)
			err = ARRAY_PUSH(frames->items, frames->cnt, frames->cap, frame);
	}
	return err;
}

static int merge(struct frames *frames, const struct lead_up *calls, const struct timeline_hit *hit)
{
	size_t left = calls->cnt; /* calls without a frame so far */
	size_t recorded_cnt = hit_has_registers(hit->hit) ? hit->hit->stack_cnt : 0;
	int err = 0;

	for (size_t i = 0; i < recorded_cnt && !err; i++) {
		struct hit_frame frame = {.symbol = hit->stack_symbols[i], .ip = hit->hit->stack[i]};
		size_t at = seek(calls, left, frame.symbol);

		frame.is_open = at < left;
		if (frame.is_open) {
			frame.symbol = calls->calls[at].slice->symbol;
			err = add_calls(frames, calls, left, at + 1);
		}
		left = at;
		if (!err)
			err = ARRAY_PUSH(frames->items, frames->cnt, frames->cap, frame);
	}
	return err ? err : add_calls(frames, calls, left, 0);
}

int hit_frames_find(const struct timeline *timeline, const struct timeline_hit *hit,
		    struct hit_frame **ret_frames, size_t *ret_cnt)
{
	struct frames frames = {0};
	struct lead_up calls = {0};
	int err = lead_up_to_hit(&calls, timeline, hit, 1);

	if (!err)
		err = merge(&frames, &calls, hit);
	lead_up_release(&calls);
	if (err) {
		free(frames.items);
		return err;
	}
	*ret_frames = frames.items;
	*ret_cnt = frames.cnt;
	return 0;
}

bool hit_frames_are_cut(const struct timeline_hit *hit, const struct hit_frame *frames, size_t cnt)
{
	return hit->hit->action & HIT_CUT && cnt && frames[cnt - 1].ip;
}
