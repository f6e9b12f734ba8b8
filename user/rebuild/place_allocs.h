/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts the snapshot's sampled allocations on the timeline: an instant for each on the thread that asked for
 * the memory, within the call that it was asked with as far as clocks agree, one where it was freed, and two
 * counters, which estimate what all allocations are from those that were sampled: the bytes allocated since
 * the timeline began, and those of them and from before that are alive.
 */
#pragma once

#include "model/snapshot.h"
#include "model/timeline.h"

/* 0 or -ENOMEM. */
int place_allocs(struct timeline *timeline, const struct snapshot *snapshot);
