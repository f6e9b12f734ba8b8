/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is done on both sides of the arena, outside and in the runtime: a slot is made ready for a
 * thread that runs already, or for one born there; limits are changed by the memory that is ours; a
 * signal comes in another's place.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "translate/layout.h"

/* Of its context, in the program. */
static inline uint64_t slot_address(uint64_t ring_size, uint32_t slot)
{
	return ARENA_BASE + ARENA_SLOTS + slot * (ring_size + SLOT_SIZE) + ring_size;
}

/* Of all that is shared with the program. */
static inline uint64_t arena_bytes(uint64_t ring_size, uint32_t slot_cnt)
{
	return ARENA_SLOTS + slot_cnt * (ring_size + SLOT_SIZE);
}

/* Whether the slot was free; it is the caller's then. */
static inline bool slot_take(struct context *context)
{
	int32_t nobody = 0;

	return __atomic_compare_exchange_n(&context->tid, &nobody, -1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/*
 * `context` is where the slot `self` is for the caller, who has taken it. It is that of `tid`
 * from now on (-1: a child's).
 */
static inline void slot_prepare(struct context *context, uint64_t self, const struct shared *shared,
				const struct runtime_header *header, int32_t pid, int32_t tid)
{
	const uint64_t runtime = shared->runtime;
	uint64_t *targets = (uint64_t *)((uint8_t *)context + SLOT_TARGETS);

	enum { BEFORE = offsetof(struct context, tid), BEHIND = BEFORE + sizeof(context->tid) };

	__builtin_memset(context, 0, BEFORE);
	__builtin_memset((uint8_t *)context + BEHIND, 0, sizeof(*context) - BEHIND);
	context->pos = context->ring_start = -(int64_t)shared->ring_size;
	context->self = self;
	context->link = runtime + header->link;
	context->link_on = runtime + header->link_on;
	context->miss = runtime + header->miss;
	context->wrap = runtime + header->wrap;
	context->wrap_indirect = runtime + header->wrap_indirect;
	context->wrap_miss = runtime + header->wrap_miss;
	context->taken = runtime + header->taken;
	context->gate = runtime + header->gate;
	context->stamp = runtime + header->stamp;
	context->stale = runtime + header->stale;
	context->birth = -1;
	context->pid = pid;
	for (uint32_t i = 0; i < TARGETS; i++)
		targets[i] = runtime + header->miss;
	__atomic_store_n(&context->tid, tid, __ATOMIC_RELEASE);
}

/*
 * Stands in for a signal that waits, and does nothing where it is not caught. It is
 * none of the set; 0: all are.
 */
static inline uint32_t stand_in_beside(uint64_t signals)
{
	static const uint8_t harmless[] = {SIGWINCH, SIGURG, SIGCHLD};

	for (uint32_t i = 0; i < sizeof(harmless); i++)
		if (!(signals >> (harmless[i] - 1) & 1))
			return harmless[i];
	return 0;
}

/* The program's, where sigreturn(2) has that of the copy of its frame. */
static inline uint64_t stack_pointer_of(const struct context *context, uint64_t rsp)
{
	return rsp == context->self + SLOT_FRAME ? context->frame : rsp;
}

/* A limit of setrlimit(2), higher or lower by so much; UINT64_MAX is RLIM_INFINITY and stays. */
static inline uint64_t limit_raised(uint64_t limit, uint64_t by)
{
	return limit > UINT64_MAX - by ? UINT64_MAX : limit + by;
}

static inline uint64_t limit_lowered(uint64_t limit, uint64_t by)
{
	return limit == UINT64_MAX ? limit : limit < by ? 0 : limit - by;
}
