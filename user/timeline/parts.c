/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One pass over the slices: those that are open where a part ends are carried over to the next one.
 */
#include "timeline/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "model/branch.h"

/* ---- where they begin ---- */

static bool is_next_snapshot(const struct instant *instant)
{
	static const char begin[] = "[gap: ";
	const char *gap = branch_gap_to_str(GAP_SNAPSHOT);

	return !instant->is_event && !strncmp(instant->text, begin, strlen(begin)) &&
	       !strncmp(instant->text + strlen(begin), gap, strlen(gap));
}

/* The times of those gaps, of all threads. */
struct gaps {
	uint64_t *items;
	size_t cnt, cap;
};

static void gaps_release(struct gaps *gaps)
{
	free(gaps->items);
}

static int find_gaps(const struct timeline *whole, struct gaps *gaps)
{
	int err = 0;

	for (size_t i = 0; i < whole->thread_cnt; i++) {
		const struct timeline_thread *thread = &whole->threads[i];

		for (size_t j = 0; j < thread->instant_cnt && !err; j++)
			if (is_next_snapshot(&thread->instants[j]))
				err = ARRAY_PUSH(gaps->items, gaps->cnt, gaps->cap,
						 thread->instants[j].time_ns);
	}
	return err;
}

/* The first one that is not before the time; UINT64_MAX: there is none. */
static uint64_t next_gap(const struct gaps *gaps, uint64_t time_ns)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < gaps->cnt; i++)
		if (gaps->items[i] >= time_ns && gaps->items[i] < first)
			first = gaps->items[i];
	return first;
}

/* When the hit stopped the trace. */
static uint64_t stop_ns(const struct timeline_hit *hit)
{
	return hit->time_ns +
	       (hit->hit->stopped_ns > hit->hit->time_ns ? hit->hit->stopped_ns - hit->hit->time_ns : 0);
}

static bool stopped(const struct timeline_hit *hit)
{
	return hit->hit->action & HIT_STOP;
}

/* The next hit that stopped the trace, from the nth on; NULL: there is none. */
static const struct timeline_hit *next_stop(const struct timeline *whole, size_t nth)
{
	for (; nth < whole->hit_cnt; nth++)
		if (stopped(&whole->hits[nth]))
			return &whole->hits[nth];
	return NULL;
}

/* Where a snapshot ends: what begins later is of the next one. */
struct end {
	uint64_t ns;	  /* UINT64_MAX: it is the last */
	uint64_t stop_ns; /* nothing is known after it */
	size_t hit_cnt;	  /* so many hits are before it */
};

/* The end of the snapshot of this hit. */
static struct end end_of(const struct timeline *whole, const struct gaps *gaps, size_t nth)
{
	const struct timeline_hit *hit = &whole->hits[nth], *next = next_stop(whole, nth + 1);
	uint64_t gap = next_gap(gaps, hit->time_ns);
	struct end end = {.ns = UINT64_MAX, .stop_ns = stop_ns(hit), .hit_cnt = nth + 1};

	if (gap != UINT64_MAX && (!next || gap <= next->time_ns))
		end.ns = gap;
	else if (gap == UINT64_MAX && next && stop_ns(hit) < next->time_ns)
		end.ns = stop_ns(hit) + 1;
	return end;
}

struct ends {
	struct end *items;
	size_t cnt, cap;
};

static void ends_release(struct ends *ends)
{
	free(ends->items);
}

/* Hits that stopped the same snapshot have one end. */
static int find_ends(const struct timeline *whole, struct ends *ends)
{
	CLEANUP(gaps_release) struct gaps gaps = {0};
	struct end last = {.ns = UINT64_MAX, .hit_cnt = whole->hit_cnt};
	int err = find_gaps(whole, &gaps);

	for (size_t i = 0; i < whole->hit_cnt && !err; i++) {
		struct end end;

		if (!stopped(&whole->hits[i]))
			continue;
		end = end_of(whole, &gaps, i);
		last.stop_ns = end.stop_ns;
		if (end.ns == UINT64_MAX)
			continue;
		if (ends->cnt && end.ns == ends->items[ends->cnt - 1].ns)
			ends->items[ends->cnt - 1] = end;
		else
			err = ARRAY_PUSH(ends->items, ends->cnt, ends->cap, end);
	}
	return err ? err : ARRAY_PUSH(ends->items, ends->cnt, ends->cap, last);
}

size_t timeline_part_cnt(const struct timeline *whole)
{
	CLEANUP(ends_release) struct ends ends = {0};

	return find_ends(whole, &ends) ? 1 : ends.cnt;
}

/* ---- what is in them ---- */

/* How far a thread, the hits and so on have been given out. */
struct place {
	size_t slice, instant;
	struct slice *open; /* slices of parts before that go on */
	size_t open_cnt, open_cap;
};

struct splitting {
	const struct timeline *whole;
	uint64_t start_ns;    /* of the part */
	struct end end;	      /* ... and where it ends */
	uint64_t last_ns;     /* what is known of it goes as far as here */
	struct place *places; /* of each thread */
	size_t *points;	      /* of each counter */
	size_t hit, flow;
	struct timeline part;
};

/* It is still open where the next part begins. */
static bool goes_on(const struct splitting *splitting, const struct slice *slice)
{
	return slice->end_ns > splitting->end.ns;
}

static void reach(struct splitting *splitting, uint64_t time_ns)
{
	splitting->last_ns = splitting->last_ns > time_ns ? splitting->last_ns : time_ns;
}

/* The end of one that is open is set when it is known how far the part goes. */
static int push_slice(struct splitting *splitting, struct timeline_thread *to, struct slice slice)
{
	if (slice.start_ns < splitting->start_ns) {
		slice.start_ns = splitting->start_ns;
		slice.flags |= SLICE_INFERRED_START;
	}
	reach(splitting, slice.start_ns);
	if (slice.end_ns >= splitting->end.ns)
		slice.end_ns = UINT64_MAX;
	else
		reach(splitting, slice.end_ns);
	return ARRAY_PUSH(to->slices, to->slice_cnt, to->slice_cap, slice);
}

static void end_open_slices(const struct splitting *splitting, struct timeline_thread *thread)
{
	for (size_t i = 0; i < thread->slice_cnt; i++) {
		struct slice *slice = &thread->slices[i];

		if (slice->end_ns != UINT64_MAX)
			continue;
		slice->end_ns = splitting->last_ns;
		slice->flags |= SLICE_OPEN_END;
	}
}

/* Those that were open, then those that begin in it; what is open at its end stays in place->open. */
static int take_slices(struct splitting *splitting, const struct timeline_thread *thread, struct place *place,
		       struct timeline_thread *to)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < place->open_cnt && !err; i++) {
		err = push_slice(splitting, to, place->open[i]);
		if (goes_on(splitting, &place->open[i]))
			place->open[kept++] = place->open[i];
	}
	place->open_cnt = kept;
	while (!err && place->slice < thread->slice_cnt &&
	       thread->slices[place->slice].start_ns < splitting->end.ns) {
		struct slice slice = thread->slices[place->slice++];

		err = push_slice(splitting, to, slice);
		if (!err && goes_on(splitting, &slice))
			err = ARRAY_PUSH(place->open, place->open_cnt, place->open_cap, slice);
	}
	return err;
}

static int take_thread(struct splitting *splitting, size_t nth)
{
	const struct timeline_thread *thread = &splitting->whole->threads[nth];
	struct timeline_thread *to = &splitting->part.threads[splitting->part.thread_cnt++];
	struct place *place = &splitting->places[nth];
	size_t first = place->instant;

	*to = (struct timeline_thread){.pid = thread->pid, .tid = thread->tid, .name = thread->name};
	while (place->instant < thread->instant_cnt &&
	       thread->instants[place->instant].time_ns < splitting->end.ns)
		place->instant++;
	to->instants = thread->instants ? thread->instants + first : NULL;
	to->instant_cnt = place->instant - first;
	return take_slices(splitting, thread, place, to);
}

static int take_counters(struct splitting *splitting)
{
	const struct timeline *whole = splitting->whole;
	struct timeline *part = &splitting->part;

	for (size_t i = 0; i < whole->counter_cnt; i++) {
		struct counter counter = whole->counters[i];
		size_t first = splitting->points[i], *end = &splitting->points[i];

		while (*end < counter.point_cnt && counter.points[*end].time_ns < splitting->end.ns)
			++*end;
		counter.points = counter.points ? counter.points + first : NULL;
		counter.point_cnt = *end - first;
		if (counter.point_cnt &&
		    ARRAY_PUSH(part->counters, part->counter_cnt, part->counter_cap, counter))
			return -ENOMEM;
	}
	return 0;
}

static void take_moments(struct splitting *splitting)
{
	const struct timeline *whole = splitting->whole;
	struct timeline *part = &splitting->part;

	part->hits = whole->hits ? whole->hits + splitting->hit : NULL;
	part->hit_cnt = splitting->end.hit_cnt - splitting->hit;
	splitting->hit = splitting->end.hit_cnt;
	part->flows = whole->flows ? whole->flows + splitting->flow : NULL;
	while (splitting->flow < whole->flow_cnt &&
	       whole->flows[splitting->flow].from_ns < splitting->end.ns) {
		splitting->flow++;
		part->flow_cnt++;
	}
}

/* Only arrays of its own: all that they point to is the whole's. */
static void part_release(struct timeline *part)
{
	for (size_t i = 0; i < part->thread_cnt; i++)
		free(part->threads[i].slices);
	free(part->threads);
	free(part->counters);
	*part = (struct timeline){0};
}

static int take_part(struct splitting *splitting)
{
	const struct timeline *whole = splitting->whole;
	struct timeline *part = &splitting->part;
	int err = 0;

	*part = *whole;
	part->threads = calloc(whole->thread_cnt + 1, sizeof(*part->threads));
	part->thread_cnt = part->hit_cnt = part->flow_cnt = part->counter_cnt = part->counter_cap = 0;
	part->counters = NULL;
	if (!part->threads)
		return -ENOMEM;
	for (size_t i = 0; i < whole->thread_cnt && !err; i++) {
		struct timeline_thread *thread = &part->threads[part->thread_cnt];

		err = take_thread(splitting, i);
		/* It has nothing to show. */
		if (!err && !thread->slice_cnt && !thread->instant_cnt)
			part->thread_cnt--;
	}
	for (size_t i = 0; i < part->thread_cnt; i++)
		end_open_slices(splitting, &part->threads[i]);
	take_moments(splitting);
	return err ? err : take_counters(splitting);
}

static void splitting_release(struct splitting *splitting)
{
	for (size_t i = 0; splitting->places && i < splitting->whole->thread_cnt; i++)
		free(splitting->places[i].open);
	free(splitting->places);
	free(splitting->points);
	part_release(&splitting->part);
}

int timeline_each_part(const struct timeline *whole,
		       int (*each)(void *ctx, const struct timeline *part, size_t nth), void *ctx)
{
	CLEANUP(ends_release) struct ends ends = {0};
	CLEANUP(splitting_release)
	struct splitting splitting = {.whole = whole,
				      .places = calloc(whole->thread_cnt + 1, sizeof(*splitting.places)),
				      .points = calloc(whole->counter_cnt + 1, sizeof(*splitting.points))};
	int err = splitting.places && splitting.points ? find_ends(whole, &ends) : -ENOMEM;

	for (size_t i = 0; i < ends.cnt && !err; i++) {
		splitting.end = ends.items[i];
		splitting.last_ns = ends.items[i].stop_ns;
		err = take_part(&splitting);
		if (!err)
			err = each(ctx, &splitting.part, i);
		part_release(&splitting.part);
		splitting.start_ns = splitting.end.ns;
	}
	return err;
}
