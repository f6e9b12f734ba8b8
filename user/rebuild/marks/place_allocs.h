/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts the snapshot's sampled allocations on the timeline. Each becomes an instant on the thread that asked
 * for the memory, within the call that asked, as far as the clocks agree. Its end becomes a second instant.
 * Two counters estimate all allocations from the sampled ones: the bytes allocated since the timeline began,
 * and the bytes that are alive, older ones included.
 */
#pragma once

#include "history/history.h"
#include "model/snapshot.h"
#include "model/timeline.h"

/* symbol_at as in place_hits.h: for their call stacks. 0 or -ENOMEM. */
int place_allocs(struct timeline *timeline, const struct snapshot *snapshot,
		 const struct symbol *(*symbol_at)(void *ctx, int32_t pid, uint64_t ip, uint64_t trace_ns),
		 void *ctx);

/* Adds the threads that allocate and are not there: where no calls are traced. 0 or -ENOMEM. */
int place_allocating(struct timeline *timeline, const struct snapshot *snapshot,
		     const struct history *history);
