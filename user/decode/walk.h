/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bound on decoding without trace. Between two branches that packets tell about, a decoder follows
 * straight code, direct jumps and direct calls, which depends on nothing but the address it starts from. So a
 * walk that comes back to an address goes round forever (`jmp .`, or packets that do not belong to this code)
 * and can be stopped; a waiting asynchronous event would have ended it on the first round. Walks that do not
 * repeat are cut after WALK_STEPS_MAX, which no compiler's code comes near.
 *
 * With it the branches of a stream are bounded: at most WALK_STEPS_MAX for each branch that packets tell
 * about.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { WALK_STEPS_MAX = 4096 };

/* All 0 at the start. */
struct walk {
	uint64_t
		/* an address the walk has been at (Brent's cycle search: the mark moves at powers of two) */
		mark;
	uint32_t steps; /* blocks since the last trace */
	uint32_t moves_at;
};

/* A branch took trace, or an event came: a new walk begins. */
static inline void walk_restart(struct walk *walk)
{
	walk->steps = 0;
}

/* One more block, at `ip`, without trace. False: the walk must end here. */
static inline bool walk_step(struct walk *walk, uint64_t ip)
{
	if (!walk->steps++) {
		walk->mark = ip;
		walk->moves_at = 2;
		return true;
	}
	if (ip == walk->mark || walk->steps > WALK_STEPS_MAX)
		return false;
	if (walk->steps == walk->moves_at) {
		walk->mark = ip;
		walk->moves_at *= 2;
	}
	return true;
}
