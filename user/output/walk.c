/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/walk.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/sort.h"
#include "model/slice_cursor.h"

struct walk {
	const struct timeline *timeline;
	const struct walk_ops *ops;
	void *ctx;
	uint64_t too_deep;		  /* slices left out */
	const struct timeline_hit **hits; /* by process, thread and time */
	size_t hit_cnt;
	/* The thread at hand. */
	const struct timeline_thread *thread;
	size_t instant, hit, hit_end; /* what comes next, and the end of its hits */
	struct slice *open;
	size_t open_cnt, open_cap;
};

/* ---- hits ---- */

static int compare_owner(const struct timeline_hit *hit, int32_t pid, int32_t tid)
{
	return ORDER_UP((int32_t)hit->hit->pid, pid) ?: ORDER_UP((int32_t)hit->hit->tid, tid);
}

static int compare_hits(const void *left, const void *right)
{
	const struct timeline_hit *a = *(const struct timeline_hit *const *)left;
	const struct timeline_hit *b = *(const struct timeline_hit *const *)right;

	return compare_owner(a, (int32_t)b->hit->pid, (int32_t)b->hit->tid)
		       ?: ORDER_UP(a->time_ns, b->time_ns) ?: ORDER_UP(a, b);
}

static int sort_hits(struct walk *walk)
{
	const struct timeline *timeline = walk->timeline;

	if (!walk->ops->hit)
		return 0;
	walk->hits = calloc(timeline->hit_cnt + 1, sizeof(*walk->hits));
	if (!walk->hits)
		return -ENOMEM;
	walk->hit_cnt = timeline->hit_cnt;
	for (size_t i = 0; i < walk->hit_cnt; i++)
		walk->hits[i] = &timeline->hits[i];
	sort_array(walk->hits, walk->hit_cnt, sizeof(*walk->hits), compare_hits);
	return 0;
}

/* Where the hits of a thread begin, or would. */
static size_t hits_from(const struct walk *walk, int32_t pid, int32_t tid)
{
	return BISECT(walk->hit_cnt, i, compare_owner(walk->hits[i], pid, tid) < 0);
}

/* A hit at the very end of a slice is inside where it is of the slice's function. */
static bool hit_is_due(const struct walk *walk, uint64_t before_ns, const struct slice *ending)
{
	const struct timeline_hit *hit = walk->hit < walk->hit_end ? walk->hits[walk->hit] : NULL;

	if (!hit)
		return false;
	return hit->time_ns < before_ns ||
	       (ending && ending->symbol && hit->time_ns == ending->end_ns && hit->symbol == ending->symbol);
}

/* ---- one thread ---- */

/* Instants and hits that come before the next begin or end. */
static void tell_some(struct walk *walk, uint64_t instants_before_ns, uint64_t hits_before_ns,
		      const struct slice *ending)
{
	const struct timeline_thread *thread = walk->thread;

	for (;;) {
		const struct instant *instant =
			walk->instant < thread->instant_cnt ? &thread->instants[walk->instant] : NULL;
		bool has_hit = hit_is_due(walk, hits_before_ns, ending);

		if (instant && instant->time_ns < instants_before_ns &&
		    (!has_hit || instant->time_ns <= walk->hits[walk->hit]->time_ns)) {
			walk->instant++;
			if (walk->ops->instant)
				walk->ops->instant(walk->ctx, instant);
		} else if (has_hit) {
			walk->ops->hit(walk->ctx, walk->hits[walk->hit++]);
		} else {
			return;
		}
	}
}

/* Most threads have none, or none left. */
static void tell_moments(struct walk *walk, uint64_t instants_before_ns, uint64_t hits_before_ns,
			 const struct slice *ending)
{
	if (walk->instant < walk->thread->instant_cnt || walk->hit < walk->hit_end)
		tell_some(walk, instants_before_ns, hits_before_ns, ending);
}

static void end_slices(struct walk *walk, size_t keep)
{
	while (walk->open_cnt > keep) {
		const struct slice *slice = &walk->open[--walk->open_cnt];

		tell_moments(walk, slice->end_ns, slice->end_ns, slice);
		if (walk->ops->end)
			walk->ops->end(walk->ctx, slice);
	}
}

/* No call is in the slice; whether nothing else is, either. */
static bool is_leaf(const struct walk *walk, const struct slice *slice)
{
	const struct timeline_thread *thread = walk->thread;

	return walk->ops->leaf && slice->end_ns > slice->start_ns &&
	       (walk->instant >= thread->instant_cnt ||
		thread->instants[walk->instant].time_ns >= slice->end_ns) &&
	       !hit_is_due(walk, slice->end_ns, slice);
}

static int begin_slice(struct walk *walk, const struct slice *slice, bool has_calls)
{
	end_slices(walk, slice->depth);
	tell_moments(walk, slice->start_ns + 1, slice->start_ns, NULL);
	if (!has_calls && is_leaf(walk, slice)) {
		walk->ops->leaf(walk->ctx, slice);
		return 0;
	}
	if (walk->ops->begin)
		walk->ops->begin(walk->ctx, slice);
	return ARRAY_PUSH(walk->open, walk->open_cnt, walk->open_cap, *slice);
}

static int walk_slices(struct walk *walk)
{
	struct slice_cursor cursor;
	const struct slice *slice;
	struct slice last;
	bool has_last = false;
	int err = slice_cursor_begin(&cursor, walk->thread);

	while (!err && (slice = slice_cursor_next(&cursor))) {
		if (walk->ops->depth_max && slice->depth >= walk->ops->depth_max) {
			walk->too_deep++;
			continue;
		}
		if (has_last)
			err = begin_slice(walk, &last, slice->depth > last.depth);
		last = *slice;
		has_last = true;
	}
	if (has_last && !err)
		err = begin_slice(walk, &last, false);
	return slice_cursor_end(&cursor, err);
}

static int walk_thread(struct walk *walk, const struct timeline_thread *thread)
{
	int err;

	walk->thread = thread;
	walk->instant = 0;
	walk->hit = walk->hit_end = hits_from(walk, thread->pid, thread->tid);
	while (walk->hit_end < walk->hit_cnt &&
	       !compare_owner(walk->hits[walk->hit_end], thread->pid, thread->tid))
		walk->hit_end++;
	if (walk->ops->thread)
		walk->ops->thread(walk->ctx, thread);
	err = walk_slices(walk);
	end_slices(walk, 0);
	tell_moments(walk, UINT64_MAX, UINT64_MAX, NULL);
	if (walk->ops->thread_end)
		walk->ops->thread_end(walk->ctx);
	return err;
}

/* ---- all ---- */

static bool has_thread(const struct timeline *timeline, int32_t pid, int32_t tid)
{
	for (size_t i = 0; i < timeline->thread_cnt; i++)
		if (timeline->threads[i].pid == pid && timeline->threads[i].tid == tid)
			return true;
	return false;
}

static int walk_other_hits(struct walk *walk)
{
	int err = 0;

	for (size_t i = 0; i < walk->hit_cnt && !err;) {
		const struct hit *hit = walk->hits[i]->hit;
		char comm[HIT_COMM_BYTES + 1] = "";
		struct timeline_thread thread = {
			.pid = (int32_t)hit->pid, .tid = (int32_t)hit->tid, .name = comm};

		memcpy(comm, hit->comm, HIT_COMM_BYTES);
		if (!has_thread(walk->timeline, thread.pid, thread.tid))
			err = walk_thread(walk, &thread);
		while (i < walk->hit_cnt && !compare_owner(walk->hits[i], thread.pid, thread.tid))
			i++;
	}
	return err;
}

int walk_timeline(const struct timeline *timeline, const struct walk_ops *ops, void *ctx)
{
	struct walk walk = {.timeline = timeline, .ops = ops, .ctx = ctx};
	int err = sort_hits(&walk);

	for (size_t i = 0; i < timeline->thread_cnt && !err; i++)
		err = walk_thread(&walk, &timeline->threads[i]);
	if (!err)
		err = walk_other_hits(&walk);
	if (walk.too_deep)
		log_warn("%" PRIu64 " calls deeper than %" PRIu32 " were left out: viewers cannot show them",
			 walk.too_deep, ops->depth_max);
	free(walk.open);
	free(walk.hits);
	return err;
}
