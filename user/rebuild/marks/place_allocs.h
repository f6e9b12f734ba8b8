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

/* 0 or -ENOMEM. */
int place_allocs(struct timeline *timeline, const struct snapshot *snapshot);

/* Adds the threads that allocate and are not there: where no calls are traced. 0 or -ENOMEM. */
int place_allocating(struct timeline *timeline, const struct snapshot *snapshot,
		     const struct history *history);
