/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the time of a timeline went: by function and by call path, for up to two timelines side by side.
 * Memory grows with the number of different functions and paths, not of calls.
 *
 *	self	the time of a call without that of what it called
 *	total	the whole time; of a function that is called within a call of itself,
 *		that of the outer call only
 */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "model/timeline.h"

enum { PROFILE_SIDES = 2, PROFILE_ROOT = 0 };

struct profile_sum {
	uint64_t calls, self_ns, total_ns;
	uint64_t sampled_self_ns,
		sampled_total_ns; /* so much of these is known from samples, and uncertain */
};

/* A function, or a pause ("[syscall]" and the like), whose object is "". Texts are the timeline's. */
struct profile_function {
	const char *name, *object;
	enum slice_kind kind;
	struct profile_sum sides[PROFILE_SIDES];
};

/*
 * A function called by a path of functions. Paths stand after the one that they go on from; the first,
 * PROFILE_ROOT, stands for the threads and has their time and all calls.
 */
struct profile_path {
	size_t function; /* index */
	size_t parent;	 /* index */
	uint32_t depth;	 /* 0: PROFILE_ROOT */
	struct profile_sum sides[PROFILE_SIDES];
};

struct profile {
	struct profile_function *functions;
	size_t function_cnt, function_cap;
	struct profile_path *paths;
	size_t path_cnt, path_cap;
};

/*
 * Functions of one name are the same one: with `by_object`, only where their objects are, too. 0 or -ENOMEM.
 */
int profile_new(struct profile **ret_profile, bool by_object);
void profile_free(struct profile *profile);

/*
 * Adds what the thread did to a side, 0 or 1. The thread's timeline has to outlive the profile. 0 or -ENOMEM.
 */
int profile_add(struct profile *profile, size_t side, const struct timeline_thread *thread);

/*
 * Who called the functions of this name on side 0, or with `callees` what they called: for each function of
 * the profile, by index, how often and for how long. What nothing in the trace called stands behind them, at
 * function_cnt. Time that a function took within a call of itself counts once. The array is the caller's to
 * free; NULL: no memory.
 */
struct profile_sum *profile_around(const struct profile *profile, const char *name, bool callees);

DEFINE_CLEANUP(struct profile *, profile_free)
