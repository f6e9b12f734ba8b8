/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moments become nanoseconds, a group of some thousand moments at a time: first it is noted at which of them
 * something happens, then the time of each is worked out, then slices and instants take theirs. To go from
 * one begin or end to the next in their order would take twice as long: no processor foresees which it is.
 *
 *	stamps		| 100	    | 130	|
 *	moments		0   1	2   3	4   5	6
 *	happens		f   g	end h	    end		(f, g and h take a share)
 *	ns		100 110 120 130
 *
 * The time of a stamp goes up to the next one that is used, which may be in the next group: a group waits for
 * that. What ends in a later group than it began in waits on a stack for its end. Without time stamps there
 * is one group of all moments, which may outgrow memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/spill.h"
#include "stacks/lists/stamp_clock.h"
#include "stacks/stacks_internal.h"

enum { GROUP = 1 << 12 };		/* moments; more where one stamp has more */
enum { USED = 1 << 0, TAKES = 1 << 1 }; /* something happens; a slice begins that takes a share */

struct group {
	uint64_t first, end; /* moments; the last group has all that come, and room for `cnt` */
	size_t cnt;
	uint8_t *marks; /* of each moment */
	uint64_t *ns;	/* the same */
	size_t mark_cap, ns_cap;
	size_t slice, slice_end; /* that begin in it */
	size_t instant, instant_end;
	struct slice **ends; /* of slices that began before */
	size_t end_cnt, end_cap;
};

struct finish {
	const struct stacks_config *config;
	const struct moments *moments;
	struct timeline_thread *thread;
	struct group groups[2];
	/* The last stamp that is used. */
	struct {
		struct group *group; /* NULL: there is none yet */
		size_t from, to;     /* its moments, in the group */
		uint64_t ns, takes;
	} used;
	struct slice **open; /* that end behind the groups so far, outermost first */
	size_t open_cnt, open_cap;
};

static uint64_t to_ns(const struct finish *finish, uint64_t tsc)
{
	return finish->config->time_ns(finish->config->ctx, tsc);
}

static size_t index_of(const struct group *group, uint64_t moment)
{
	size_t at = moment > group->first ? moment - group->first : 0;

	return at < group->cnt ? at : group->cnt - 1;
}

/* ---- what happens when ---- */

/* The stamps from `at` on, up to the one behind the group. */
static size_t choose_stamps(struct group *group, const struct moments *moments, size_t at, uint64_t first)
{
	const struct stamp_list *stamps = &moments->stamps;
	uint64_t end;

	do
		at++;
	while (at < stamps->cnt && stamps->items[at].first < first + GROUP);
	end = at < stamps->cnt ? stamps->items[at].first : moments->next + 1;
	group->first = first;
	group->end = at < stamps->cnt ? end : UINT64_MAX;
	group->cnt = end > first ? end - first : 1;
	return at;
}

static int make_room(struct group *group)
{
	int err = spill_reserve(&group->marks, &group->mark_cap, group->cnt, sizeof(*group->marks));

	if (!err)
		err = spill_reserve(&group->ns, &group->ns_cap, group->cnt, sizeof(*group->ns));
	if (!err)
		memset(group->marks, 0, group->cnt);
	return err;
}

static int mark_slices(struct finish *finish, struct group *group)
{
	struct timeline_thread *thread = finish->thread;
	size_t i = group->slice;
	int err = 0;

	for (; i < thread->slice_cnt && thread->slices[i].start_ns < group->end && !err; i++) {
		struct slice *slice = &thread->slices[i];

		group->marks[index_of(group, slice->start_ns)] |=
			slice->flags & SLICE_INFERRED_START ? USED : USED | TAKES;
		if (slice->end_ns < group->end)
			group->marks[index_of(group, slice->end_ns)] |= USED;
		else
			err = ARRAY_PUSH(finish->open, finish->open_cnt, finish->open_cap, slice);
	}
	group->slice_end = i;
	return err;
}

static int mark(struct finish *finish, struct group *group)
{
	struct timeline_thread *thread = finish->thread;
	size_t i = group->instant;
	int err = make_room(group);

	group->end_cnt = 0;
	while (!err && finish->open_cnt && finish->open[finish->open_cnt - 1]->end_ns < group->end) {
		struct slice *slice = finish->open[--finish->open_cnt];

		group->marks[index_of(group, slice->end_ns)] |= USED;
		err = ARRAY_PUSH(group->ends, group->end_cnt, group->end_cap, slice);
	}
	for (; !err && i < thread->instant_cnt && thread->instants[i].time_ns < group->end; i++)
		group->marks[index_of(group, thread->instants[i].time_ns)] |= USED;
	group->instant_end = i;
	return err ? err : mark_slices(finish, group);
}

/* ---- times ---- */

/* All moments of the group have their times. */
static void take_times(struct finish *finish, const struct group *group)
{
	struct timeline_thread *thread = finish->thread;

	for (size_t i = group->slice; i < group->slice_end; i++) {
		struct slice *slice = &thread->slices[i];

		SPILL_PASS(thread->slices, i);
		slice->start_ns = group->ns[index_of(group, slice->start_ns)];
		if (slice->end_ns < group->end)
			slice->end_ns = group->ns[index_of(group, slice->end_ns)];
	}
	for (size_t i = 0; i < group->end_cnt; i++)
		group->ends[i]->end_ns = group->ns[index_of(group, group->ends[i]->end_ns)];
	for (size_t i = group->instant; i < group->instant_end; i++)
		thread->instants[i].time_ns = group->ns[index_of(group, thread->instants[i].time_ns)];
}

/* The time of the last stamp that is used goes up to there. */
static void settle(struct finish *finish, uint64_t end_ns)
{
	struct group *group = finish->used.group;
	const struct stamp_share share = stamp_share(finish->used.ns, end_ns, finish->used.takes);
	uint64_t before = 0;

	for (size_t i = finish->used.from; group && i < finish->used.to; i++) {
		group->ns[i] = stamp_share_ns(&share, before);
		before += !!(group->marks[i] & TAKES);
	}
}

/* The stamp's moments are those [from, to) of the group. */
static void pass_stamp(struct finish *finish, struct group *group, const struct stamp *stamp, size_t from,
		       size_t to)
{
	struct group *last = finish->used.group;
	uint64_t takes = 0, ns;
	uint8_t all = 0;

	for (size_t i = from; i < to; i++) {
		all |= group->marks[i];
		takes += !!(group->marks[i] & TAKES);
	}
	if (!all)
		return;
	ns = to_ns(finish, stamp->tsc);
	settle(finish, ns);
	if (last && last != group)
		take_times(finish, last);
	finish->used.group = group;
	finish->used.from = from;
	finish->used.to = to;
	finish->used.ns = ns;
	finish->used.takes = takes;
}

static void pass_stamps(struct finish *finish, struct group *group, size_t from, size_t to)
{
	const struct stamp *stamps = finish->moments->stamps.items;

	for (size_t i = from; i < to; i++) {
		uint64_t end = i + 1 < to ? stamps[i + 1].first : group->first + group->cnt;

		pass_stamp(finish, group, &stamps[i], i == from ? 0 : stamps[i].first - group->first,
			   end - group->first);
	}
}

static int finish_groups(struct finish *finish)
{
	const struct stamp_list *stamps = &finish->moments->stamps;
	size_t slice = 0, instant = 0;
	int err = 0;

	for (size_t at = 0, next; at < stamps->cnt && !err; at = next) {
		struct group *group = &finish->groups[finish->used.group == &finish->groups[0]];

		group->slice = slice;
		group->instant = instant;
		next = choose_stamps(group, finish->moments, at, at ? stamps->items[at].first : 0);
		err = mark(finish, group);
		if (!err)
			pass_stamps(finish, group, at, next);
		slice = group->slice_end;
		instant = group->instant_end;
	}
	settle(finish, to_ns(finish, finish->moments->tsc));
	if (finish->used.group && !err)
		take_times(finish, finish->used.group);
	return err;
}

int thread_finish(struct timeline_thread *thread, struct slice_list *slices, const struct moments *moments,
		  const struct stacks_config *config)
{
	struct finish finish = {.config = config, .moments = moments, .thread = thread};
	int err;

	timeline_thread_replace(thread, slices->items, slices->cnt, slices->cap);
	*slices = (struct slice_list){0};
	err = finish_groups(&finish);
	for (size_t i = 0; i < ARRAY_SIZE(finish.groups); i++) {
		spill_free(finish.groups[i].marks);
		spill_free(finish.groups[i].ns);
		free(finish.groups[i].ends);
	}
	free(finish.open);
	return err;
}
