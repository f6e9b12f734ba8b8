/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slices from samples, where no branches were traced. What is known of a thread is a list of items in the
 * order of time: at this moment, or all the time from here to there, it had this call stack.
 */
#pragma once

#include "stacks/stacks.h"

/* A part of an item during which the thread ran no code of its own: a system call, or waiting in it. */
struct sampled_pause {
	uint64_t start, end;
	enum slice_kind kind;
	uint8_t flags;			   /* of its slice: SLICE_INFERRED_START, SLICE_OPEN_END */
	uint32_t depth;			   /* 0: below the calls; others lie within the last of one less */
	const struct slice_detail *detail; /* NULL: nothing more is known */
};

/* Times are of one clock: config->time_ns() takes them. */
struct sampled_item {
	uint64_t start, end; /* a tick of the clock: the same */
	uint64_t period;     /* how much time a tick stands for; 0: not known, or no tick */
	/*
	 * The call stack, innermost first: addresses inside each function, not behind its call. None: not
	 * known.
	 */
	const uint64_t *ips;
	const uint64_t *cfas; /* of each (image/unwind.h); NULL, or 0 within: not known */
	size_t cnt;
	/*
	 * Where stack memory ends that was looked at: callers whose frames lie above are missing. 0: none is.
	 */
	uint64_t reached;
	uint64_t leaf; /* with no stack: where the innermost call was; 0: not known */
	bool is_lost;  /* what happened from start to end is not known: calls may have ended and begun */
	bool is_begin; /* the innermost call began here */
	const struct sampled_pause *pauses; /* in order, a pause before what lies in it */
	size_t pause_cnt;
};

/*
 * The time from one tick to the next while the thread runs: the median of what ticks say, else of the
 * distances between those with a stack. 0: there are too few.
 */
uint64_t sampled_period(const struct sampled_item *items, size_t cnt);

/*
 * Adds the thread's slices up to `until`, the last moment that is known of it (earlier than the items' end:
 * that). Where a running thread has no tick for more than one and a half periods, "[unknown]" stands for what
 * it called; period 0: any distance will do. Calls are SLICE_SAMPLED; what cannot be followed further is
 * SLICE_OPEN_END, what was there before it could be seen is SLICE_INFERRED_START. 0 or -ENOMEM.
 */
int sampled_build(const struct stacks_config *config, const struct sampled_item *items, size_t cnt,
		  uint64_t until, uint64_t period, struct timeline_thread *thread);
