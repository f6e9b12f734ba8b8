/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a slot ready for a thread: outside for the first one, in the runtime for those that follow. */
#pragma once

#include "translate/layout.h"

static inline uint64_t slot_address(uint32_t slot)
{
	return ARENA_BASE + ARENA_SLOTS + (uint64_t)slot * SLOT_SIZE;
}

/* `context` is where the slot `self` is for the caller. The slot is taken with `tid`. */
static inline void slot_prepare(struct context *context, uint64_t self, uint64_t runtime,
				const struct runtime_header *header, int32_t pid, int32_t tid)
{
	uint64_t *targets = (uint64_t *)((uint8_t *)context + SLOT_TARGETS);

	__builtin_memset(context, 0, sizeof(*context));
	context->pos = -RING_SIZE;
	context->self = self;
	context->link = runtime + header->link;
	context->link_on = runtime + header->link_on;
	context->miss = runtime + header->miss;
	context->wrap = runtime + header->wrap;
	context->wrap_indirect = runtime + header->wrap_indirect;
	context->gate = runtime + header->gate;
	context->stamp = runtime + header->stamp;
	context->stale = runtime + header->stale;
	context->birth = -1;
	context->pid = pid;
	for (uint32_t i = 0; i < TARGETS; i++)
		targets[i] = runtime + header->miss_first;
	__atomic_store_n(&context->tid, tid, __ATOMIC_RELEASE);
}
