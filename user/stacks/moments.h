/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When things happened, before it can be said in nanoseconds. Packets tell the time less often than branches
 * happen, so that many branches share a time stamp; how they share the time up to the next one can only be
 * said when all of them are known. Until then a time is a moment: a number that grows by one with everything
 * that may begin a slice, and with every new time stamp.
 *
 *	stamp		tsc 100		    tsc 130
 *	happens		call f  ret  call g	ret
 *	moment		0	1    1		3		(2: all of stamp 100 is over)
 *	ns		100	115  115	130		(the 30 ns are shared by the two calls)
 *
 * A slice that begins takes an equal share of the time between its stamp and the next at which a slice begins
 * or ends; what ends takes none. Both integer: the k-th of n takes (time left) / (n - k). So magic-trace
 * shares it, too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stacks/lists/stamp_list.h"

/* All 0 at the start, but a store if stamps may be packed. */
struct moments {
	struct stamp_list stamps; /* those at which something happened */
	uint64_t next;		  /* the moment now, if the stamp stays the same */
	uint64_t tsc;		  /* now */
	uint64_t first_tsc;
	bool begun;
	bool no_memory; /* sticks */
};

void moments_release(struct moments *moments);

/* The time is `tsc` now; one that runs back stands still. */
static inline void moments_see(struct moments *moments, uint64_t tsc)
{
	if (!moments->begun)
		moments->first_tsc = tsc;
	if (tsc > moments->tsc || !moments->begun)
		moments->tsc = tsc;
	moments->begun = true;
}

/* The moment now, with a time stamp of its own. */
uint64_t moments_add_stamp(struct moments *moments, bool barrier);

/* The moment now. */
static inline uint64_t moments_now(struct moments *moments)
{
	const struct stamp_list *stamps = &moments->stamps;
	bool same = stamps->cnt && stamps->items[stamps->cnt - 1].tsc == moments->tsc;

	return same ? moments->next : moments_add_stamp(moments, false);
}

/* The same, for something at which a slice may begin (one at most). */
static inline uint64_t moments_reserve(struct moments *moments)
{
	uint64_t now = moments_now(moments);

	moments->next++;
	return now;
}

/* The same, for something before which all must have happened that happened at the same time. */
uint64_t moments_barrier(struct moments *moments);

/* Puts `later` behind: its moments become `*ret_offset` higher. 0 or -ENOMEM. */
int moments_append(struct moments *moments, const struct moments *later, uint64_t *ret_offset);

/* The TSC at a moment. `stamps` reads moments->stamps. */
uint64_t moments_tsc(const struct moments *moments, struct stamp_reader *stamps, uint64_t moment);
