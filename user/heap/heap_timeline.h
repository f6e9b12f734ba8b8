/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An allocation trace as a timeline, for the formats of output/. Each domain is a thread. It shows the call
 * stack of each sampled allocation from its time to the next one's (common frames go on), and an instant for
 * each allocation. Counters show estimated live bytes and bytes allocated so far.
 */
#pragma once

#include "heap/trace.h"
#include "model/timeline.h"

/* The timeline and the owner of its names. */
struct memtrace_shown;

/* `trace` must outlive it. 0 or -ENOMEM. */
int memtrace_show(struct memtrace_shown **ret_shown, const struct memtrace *trace);
void memtrace_shown_free(struct memtrace_shown *shown);

const struct timeline *memtrace_shown_timeline(const struct memtrace_shown *shown);

/* The caller owns the timeline from now on; its names are still `shown`'s. */
struct timeline *memtrace_shown_take_timeline(struct memtrace_shown *shown);

DEFINE_CLEANUP(struct memtrace_shown *, memtrace_shown_free)
