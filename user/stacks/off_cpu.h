/* SPDX-License-Identifier: BSD-2-Clause */
/* When a thread did not run. Its own trace shows only that it was not in user mode. */
#pragma once

#include "model/timeline.h"

struct off_cpu {
	uint64_t start_ns, end_ns; /* on the timeline; end_ns UINT64_MAX: it did not run again */
};

/*
 * Adds a slice for each of `times` (in order, not overlapping), within the "[syscall]" or "[untraced]" that
 * it falls into; where these are several, one in each. 0 or -ENOMEM.
 */
int off_cpu_add(struct timeline_thread *thread, const struct off_cpu *times, size_t cnt);
