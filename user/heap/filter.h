/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which allocations of a trace are of interest. What is filtered out is gone with its promotion and its end.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct memtrace;

/* All 0: everything. A limit of 0 is none. */
struct memtrace_filter {
	uint64_t after_us, before_us;		   /* made at that time or later, and earlier than that */
	uint64_t min_bytes, max_bytes;		   /* the allocation's size, both included */
	uint64_t min_lifetime_us, max_lifetime_us; /* one that never ends is longer than any */
	const char *function;	  /* a function of its call stack: the name or a glob(7); NULL: any */
	const char *allocated_in; /* the function that allocates */
	unsigned int sources;	  /* bits by enum memtrace_source; 0: all */
	bool live;		  /* what never ends within the trace */
	bool peak;		  /* of all that, what is alive when the most is */
};

/* Leaves in the trace what passes. 0 or -ENOMEM. */
int memtrace_filter_apply(const struct memtrace_filter *filter, struct memtrace *trace);
