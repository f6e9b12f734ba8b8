/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's records of a process's executable mappings, as they come: for sources that are told of nothing
 * else. Needs CAP_PERFMON.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "model/snapshot.h"

struct mapping_events;

/* From now on. The process need not have exec'd yet. -errno with a sentence. */
int mapping_events_open(struct mapping_events **ret_events, pid_t pid);

/*
 * Moves what has come, in time order, to the end of snapshot->sideband: PERF_RECORD_MMAP2 and _COMM of the
 * process, with times of CLOCK_MONOTONIC. 0 or -ENOMEM. *ret_lost: some was lost. To be called often: what
 * others map takes room, too.
 */
int mapping_events_take(struct mapping_events *events, struct snapshot *snapshot, bool *ret_lost);

void mapping_events_close(struct mapping_events *events);

DEFINE_CLEANUP(struct mapping_events *, mapping_events_close)
