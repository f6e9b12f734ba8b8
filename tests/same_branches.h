/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether both decoders give the same of one piece, which is what the fast one vouches for. Behind code that
 * is not known it goes on at the next address, where libipt gives up until the next PSB: up to there both
 * must agree, and perf says whether the rest is right (tests/e2e/packets.sh).
 */
#pragma once

#include <string.h>

#include "model/branch.h"

/* One more than the index of the gap where the fast decoder went on, or 0. */
static inline size_t where_lost(const struct branch_list *ours)
{
	for (size_t i = 0; i < ours->cnt; i++)
		if (ours->items[i].kind == BRANCH_GAP && ours->items[i].gap == GAP_NO_CODE)
			return i + 1;
	return 0;
}

/* In 32-bit code libipt has addresses above 2 GB negative, where no code is. */
static inline uint64_t as_theirs(uint64_t ours, uint64_t theirs)
{
	return theirs == (uint64_t)(int32_t)ours ? theirs : ours;
}

static inline bool is_same_branch(struct branch ours, const struct branch *theirs, bool near_loss)
{
	if (near_loss) {
		ours.tsc = theirs->tsc;
		ours.from = as_theirs(ours.from, theirs->from);
		ours.to = as_theirs(ours.to, theirs->to);
	}
	return !memcmp(&ours, theirs, sizeof(ours));
}

/*
 * libipt looks ahead: it may find that packets make no sense before it comes to the code that is not known,
 * and then forgets the last branch. Of what else the trace tells at that code it says nothing.
 */
static inline bool gives_up(const struct branch_list *ours, const struct branch_list *theirs, size_t i,
			    size_t lost)
{
	if (i + 1 != theirs->cnt || theirs->items[i].kind != BRANCH_GAP)
		return false;
	while (i + 1 < lost && ours->items[i].kind == BRANCH_EVENT)
		i++;
	return i + 1 == lost || (i + 2 == lost && theirs->items[theirs->cnt - 1].gap == GAP_BAD_TRACE);
}

/*
 * Damaged packets have filled libipt's queue of events: it gives up (pte_nomem), and ours, which has no such
 * queue, need not.
 */
static inline bool is_full(const struct branch_list *theirs, size_t i)
{
	enum { PTE_NOMEM = 9 };

	return i + 1 == theirs->cnt && theirs->items[i].kind == BRANCH_GAP &&
	       theirs->items[i].detail == PTE_NOMEM;
}

/*
 * A PSB+ may say where tracing is to begin (erratum BDM70). libipt passes over that address, perf does not,
 * and the next one may be told in 2 bytes that replace its last ones.
 */
static inline bool is_begun_by_psb(const struct branch_list *ours, const struct branch_list *theirs, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (ours->items[j].kind != BRANCH_EVENT)
			return false;
	return i < theirs->cnt && ours->items[i].flags & theirs->items[i].flags & BRANCH_TRACE_START &&
	       theirs->items[i].to >> 32 == 0;
}

/* The index of the first branch that differs, SIZE_MAX where none does. */
static inline size_t first_difference(const struct branch_list *ours, const struct branch_list *theirs)
{
	size_t lost = where_lost(ours), cnt = lost ? lost : ours->cnt;

	for (size_t i = 0; i < cnt; i++) {
		bool is_near = lost && i + 2 >= lost;

		if (is_full(theirs, i) || (lost && gives_up(ours, theirs, i, lost)))
			return SIZE_MAX;
		if (i >= theirs->cnt || !is_same_branch(ours->items[i], &theirs->items[i], is_near))
			return is_begun_by_psb(ours, theirs, i) ? SIZE_MAX : i;
	}
	return theirs->cnt == cnt ? SIZE_MAX : cnt;
}
