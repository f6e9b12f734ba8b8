/* SPDX-License-Identifier: BSD-2-Clause */
/* The recorded allocations of a timeline, summed by the function that made them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/containers/hash_index.h"
#include "model/timeline.h"

struct allocation_sum {
	const char *function;	       /* "malloc" */
	uint64_t cnt, bytes;	       /* as they were asked for */
	uint64_t live_cnt, live_bytes; /* of those, without an end in the trace */
};

/* All 0 at first. */
struct allocations {
	struct allocation_sum *items;
	size_t cnt, cap;
	struct hash_index begun; /* the item of each allocation, by its number */
};

/* Adds those of the timeline's threads with this tid (0: of all). Texts are the timeline's. 0 or -ENOMEM. */
int allocations_add(struct allocations *allocations, const struct timeline *timeline, int32_t tid);

/* The most bytes first, then by name. */
void allocations_sort(struct allocations *allocations);

void allocations_release(struct allocations *allocations);
