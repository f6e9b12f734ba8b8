/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics of an allocation trace. Sums are of sampled words (memtrace_bytes_of()). */
#pragma once

#include "heap/trace.h"

enum { MEMTRACE_CLASSES = 64 };

/*
 * Counts allocations by a number's power of two: class 0 has 0 and 1, class n the numbers from 2^n to 2^(n+1)
 * - 1.
 */
struct memtrace_histogram {
	struct memtrace_class {
		uint64_t allocations, nsamples;
	} classes[MEMTRACE_CLASSES];
};

struct memtrace_summary {
	struct memtrace_source_sum {
		uint64_t allocations, nsamples, promoted, collected;
	} all, sources[MEMTRACE_SOURCE_CNT];
	uint64_t domains; /* with allocations */
	/* promotions and ends of allocations that are not in the trace */
	uint64_t unknown;
	uint64_t live;				     /* sampled words that never end */
	uint64_t depth_least, depth_most, depth_sum; /* of call stacks, in codes */
	struct memtrace_peak peak;
	struct memtrace_histogram sizes;     /* bytes of the allocation */
	struct memtrace_histogram lifetimes; /* microseconds; of allocations that end */
	/* The codes in stacks, those with a location, their locations, functions and files. */
	uint64_t codes, known_codes, locations, functions, files;
};

/* 0 or -ENOMEM. */
int memtrace_summarize(const struct memtrace *trace, struct memtrace_summary *ret_summary);
