/* SPDX-License-Identifier: BSD-2-Clause */
/* The recorded allocations of a timeline, summed by the function that made them, and by the call stack. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/containers/hash_index.h"
#include "model/timeline.h"

struct allocation_sum {
	const char *function;		/* "malloc" */
	const struct stack_text *stack; /* of `sites`, and NULL: it is not known */
	uint64_t cnt, bytes;		/* as they were asked for */
	uint64_t live_cnt, live_bytes;	/* of those, without an end in the trace */
};

/* All 0 at first. */
struct allocations {
	struct allocation_sum *items; /* of each function */
	size_t cnt, cap;
	struct allocation_sum *sites; /* of each function and stack */
	size_t site_cnt, site_cap;
	struct hash_index site_index;
	struct hash_index begun; /* the site of each allocation, by its number */
};

/* Adds those of the timeline's threads with this tid (0: of all). Texts are the timeline's. 0 or -ENOMEM. */
int allocations_add(struct allocations *allocations, const struct timeline *timeline, int32_t tid);

/* Functions and sites: the most bytes first, then by name. */
void allocations_sort(struct allocations *allocations);

void allocations_release(struct allocations *allocations);
