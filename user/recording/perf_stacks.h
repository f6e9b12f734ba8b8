/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies of stacks that were packed, and so do not stand in the file: they share what they have in common. */
#pragma once

#include <stdint.h>

#include "model/snapshot.h"

/* All zero: empty. */
struct perf_stacks {
	/* one more than the number of the last page of each place in the pool; 0: none; NULL: not yet */
	uint32_t *last;
};

/* The sample's stack, wherever it is, becomes one of the snapshot's pool. 0 or -ENOMEM. */
int perf_stacks_keep(struct perf_stacks *stacks, struct snapshot *snapshot, struct stack_sample *sample);

void perf_stacks_release(struct perf_stacks *stacks);
