/* SPDX-License-Identifier: BSD-2-Clause */
/* Selects allocations of a trace. A filtered allocation goes with its promotion and its end. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct memtrace;

/* All 0: everything. A limit of 0 is none. */
struct memtrace_filter {
	uint64_t after_us, before_us;  /* made in [after_us, before_us) */
	uint64_t min_bytes, max_bytes; /* size of the allocation, inclusive */
	/* an allocation that never ends exceeds any limit */
	uint64_t min_lifetime_us, max_lifetime_us;
	const char *function;	  /* a function in the call stack, by name or glob(7); NULL: any */
	const char *allocated_in; /* the allocating function */
	unsigned int sources;	  /* bits by enum memtrace_source; 0: all */
	bool live;		  /* only those that never end in the trace */
	bool peak;		  /* of the selected, only those alive at the peak */
};

/* Removes from the trace what does not pass. 0 or -ENOMEM. */
int memtrace_filter_apply(const struct memtrace_filter *filter, struct memtrace *trace);
