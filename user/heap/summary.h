/* SPDX-License-Identifier: BSD-2-Clause */
/* What is in an allocation trace, in figures. Sums of words are of sampled ones (memtrace_bytes_of()). */
#pragma once

#include "heap/trace.h"

enum { MEMTRACE_CLASSES = 64 };

/*
 * Allocations by the power of two that a number of theirs is in: class 0 has 0 and 1, class n the numbers
 * from 2^n on.
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
	uint64_t domains;			     /* that allocated */
	uint64_t unknown;			     /* promotions and ends of what is not in the trace */
	uint64_t live;				     /* sampled words that never end */
	uint64_t depth_least, depth_most, depth_sum; /* of call stacks, in codes */
	struct memtrace_peak peak;
	struct memtrace_histogram sizes;     /* bytes of the allocation */
	struct memtrace_histogram lifetimes; /* microseconds; of what ends */
	/*
	 * What stacks are made of: codes, those with a place, places, and how many functions and files these
	 * are.
	 */
	uint64_t codes, known_codes, locations, functions, files;
};

/* 0 or -ENOMEM. */
int memtrace_summarize(const struct memtrace *trace, struct memtrace_summary *ret_summary);
