/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An allocation trace as a timeline, for the formats of output/: a thread for each domain, where the call
 * stack of each sampled allocation stands from its time on to the next one's (what neighbours have in common
 * went on), and a moment for each allocation; and what is alive and what was allocated so far, as counters of
 * estimated bytes.
 */
#pragma once

#include "heap/trace.h"
#include "model/timeline.h"

/* The timeline, and what its names belong to. */
struct memtrace_shown;

/* The trace has to outlive it. 0 or -ENOMEM. */
int memtrace_show(struct memtrace_shown **ret_shown, const struct memtrace *trace);
void memtrace_shown_free(struct memtrace_shown *shown);

const struct timeline *memtrace_shown_timeline(const struct memtrace_shown *shown);

DEFINE_CLEANUP(struct memtrace_shown *, memtrace_shown_free)
