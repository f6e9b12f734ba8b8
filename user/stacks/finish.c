/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moments become nanoseconds, in their order, so that no more is remembered than what waits: what happened at
 * one stamp gets its time when the next stamp is known at which something happens.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/spill.h"
#include "stacks/lists/stamp_clock.h"
#include "stacks/stacks_internal.h"

struct finish {
	const struct stacks_config *config;
	struct timeline_thread *thread;
	struct stamp_clock clock;
	size_t instant;	   /* the next */
	uint64_t start_ns; /* of the last stamp at which something happened, of which these are: */
	struct waiting {
		uint64_t *time; /* a moment still */
		uint64_t before;
	} * waiting;
	size_t cnt, cap;
	struct slice **open;
	size_t open_cnt, open_cap;
};

static uint64_t to_ns(const struct finish *finish, uint64_t tsc)
{
	return finish->config->time_ns(finish->config->ctx, tsc);
}

/* The last stamp, of which so many slices take a share, is over at that time. */
static void settle(struct finish *finish, uint64_t end_ns, uint64_t takes)
{
	const struct stamp_share share = stamp_share(finish->start_ns, end_ns, takes);

	for (size_t i = 0; i < finish->cnt; i++)
		*finish->waiting[i].time = stamp_share_ns(&share, finish->waiting[i].before);
	finish->cnt = 0;
}

/* To the stamp of the moment, which is a later one. */
static void next_stamp(struct finish *finish, uint64_t moment)
{
	struct stamp_clock *clock = &finish->clock;
	uint64_t takes = clock->taken, ns;

	while (stamp_clock_is_behind(clock, moment))
		stamp_clock_step(clock);
	ns = to_ns(finish, clock->stamp.tsc);
	settle(finish, ns, takes);
	finish->start_ns = ns;
}

/* At the moment *time something happens. */
static int visit(struct finish *finish, uint64_t *time)
{
	struct waiting waiting = {.time = time};

	if (stamp_clock_is_behind(&finish->clock, *time))
		next_stamp(finish, *time);
	waiting.before = stamp_clock_before(&finish->clock, *time);
	return SPILL_PUSH(finish->waiting, finish->cnt, finish->cap, waiting);
}

/* Instants up to that moment, and then it. */
static int reach(struct finish *finish, uint64_t *time)
{
	struct timeline_thread *thread = finish->thread;
	int err = 0;

	while (finish->instant < thread->instant_cnt && thread->instants[finish->instant].time_ns <= *time &&
	       !err)
		err = visit(finish, &thread->instants[finish->instant++].time_ns);
	return err ? err : visit(finish, time);
}

static int end_slices(struct finish *finish, size_t keep)
{
	int err = 0;

	while (finish->open_cnt > keep && !err)
		err = reach(finish, &finish->open[--finish->open_cnt]->end_ns);
	return err;
}

static int begin_slice(struct finish *finish, struct slice *slice)
{
	int err = end_slices(finish, slice->depth);

	if (!err)
		err = reach(finish, &slice->start_ns);
	stamp_clock_take(&finish->clock, slice);
	return err ? err : ARRAY_PUSH(finish->open, finish->open_cnt, finish->open_cap, slice);
}

static int finish_slices(struct finish *finish, uint64_t end_tsc)
{
	struct timeline_thread *thread = finish->thread;
	int err = 0;

	for (size_t i = 0; i < thread->slice_cnt && !err; i++) {
		SPILL_PASS(thread->slices, i);
		err = begin_slice(finish, &thread->slices[i]);
	}
	if (!err)
		err = end_slices(finish, 0);
	while (finish->instant < thread->instant_cnt && !err)
		err = visit(finish, &thread->instants[finish->instant++].time_ns);
	settle(finish, to_ns(finish, end_tsc), finish->clock.taken);
	return err;
}

int thread_finish(struct timeline_thread *thread, struct slice_list *slices, const struct moments *moments,
		  const struct stacks_config *config)
{
	struct finish finish = {.config = config, .thread = thread};
	int err = stamp_clock_begin(&finish.clock, &moments->stamps);

	timeline_thread_replace(thread, slices->items, slices->cnt, slices->cap);
	*slices = (struct slice_list){0};
	if (!err)
		err = finish_slices(&finish, moments->tsc);
	err = err ? err : finish.clock.reader.err;
	stamp_clock_end(&finish.clock);
	spill_free(finish.waiting);
	free(finish.open);
	return err;
}
