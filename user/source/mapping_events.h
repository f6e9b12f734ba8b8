/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's records of a process's executable mappings, for sources that no session informs. Needs
 * CAP_PERFMON.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "model/snapshot.h"

struct mapping_events;

/* Records mappings from now on. The process need not have exec'd yet. 0, or -errno with a sentence. */
int mapping_events_open(struct mapping_events **ret_events, pid_t pid);

/*
 * Moves pending records to the end of snapshot->sideband, in time order: PERF_RECORD_MMAP2 and _COMM of the
 * process, with times of CLOCK_MONOTONIC. 0 or -ENOMEM. *ret_lost: some records were lost. To be called
 * often: records of other processes use the same ring.
 */
int mapping_events_take(struct mapping_events *events, struct snapshot *snapshot, bool *ret_lost);

void mapping_events_close(struct mapping_events *events);

DEFINE_CLEANUP(struct mapping_events *, mapping_events_close)
