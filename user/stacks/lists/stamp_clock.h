/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Goes by moments in their order, and says which share of the time of their stamps they have (moments.h).
 */
#pragma once

#include "model/timeline.h"
#include "stacks/lists/stamp_list.h"

/* The stamp at hand, and how many slices have begun in it. */
struct stamp_clock {
	struct stamp_reader reader;
	struct stamp stamp;
	const struct stamp *next; /* NULL: it is the last */
	uint64_t taken, last_taken;
};

/* Before the first stamp. 0 or -ENOMEM. */
int stamp_clock_begin(struct stamp_clock *clock, const struct stamp_list *stamps);
void stamp_clock_end(struct stamp_clock *clock);

/* Whether the moment is of a later stamp than the one at hand. */
static inline bool stamp_clock_is_behind(const struct stamp_clock *clock, uint64_t moment)
{
	return clock->next && clock->next->first <= moment;
}

/* To the next stamp. */
void stamp_clock_step(struct stamp_clock *clock);

/* How many slices of the stamp at hand have begun before the moment. */
static inline uint64_t stamp_clock_before(const struct stamp_clock *clock, uint64_t moment)
{
	return clock->taken - (clock->taken && clock->last_taken == moment);
}

/* The slice begins. */
static inline void stamp_clock_take(struct stamp_clock *clock, const struct slice *slice)
{
	if (slice->flags & SLICE_INFERRED_START || (clock->taken && clock->last_taken == slice->start_ns))
		return;
	clock->taken++;
	clock->last_taken = slice->start_ns;
}

/* The time between two stamps at which something happens, and what each of `takes` slices has of it. */
struct stamp_share {
	uint64_t start_ns;
	uint64_t part;
	uint64_t small; /* so many have no more than that; the others have one more */
};

static inline struct stamp_share stamp_share(uint64_t start_ns, uint64_t end_ns, uint64_t takes)
{
	uint64_t left = end_ns > start_ns ? end_ns - start_ns : 0;

	if (!takes)
		return (struct stamp_share){.start_ns = start_ns};
	return (struct stamp_share){start_ns, left / takes, takes - left % takes};
}

/* The time of what has so many slices `before` it. */
static inline uint64_t stamp_share_ns(const struct stamp_share *share, uint64_t before)
{
	return share->start_ns + before * share->part + (before > share->small ? before - share->small : 0);
}
