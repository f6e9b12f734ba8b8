/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounds decoding without packets. Between two branches with packets a decoder follows straight code, direct
 * jumps and direct calls, which depends only on the start address. A walk that returns to an earlier address
 * would never end (`jmp .`, or packets of other code), so it is stopped; a pending asynchronous event would
 * have ended it in the first round. Other walks are cut after WALK_STEPS_MAX steps, far more than compilers
 * emit.
 *
 * So a stream has at most WALK_STEPS_MAX branches for each branch that has a packet.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { WALK_STEPS_MAX = 4096 };

/* All 0 at the start. */
struct walk {
	/* an earlier address of the walk (Brent's cycle search: it moves at powers of two) */
	uint64_t mark;
	uint32_t steps; /* blocks since the last packet */
	uint32_t moves_at;
};

/* A branch took a packet, or an event came: a new walk begins. */
static inline void walk_restart(struct walk *walk)
{
	walk->steps = 0;
}

/* One more block, at `ip`, without a packet. False: the walk must end. */
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
