/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls that led up to a moment on a thread. */
#pragma once

#include "model/timeline.h"

struct lead_up_call {
	const struct slice *slice;
	bool is_open; /* at the moment */
};

/* In the order in which they began. */
struct lead_up {
	struct lead_up_call *calls;
	size_t cnt, cap;
	size_t outer_cnt; /* of them: the callers of the first, which began before the calls asked for */
};

/*
 * Finds the last `wanted` slices of the thread that began up to time_ns, and their callers. `function` is
 * what was called at that moment, and its call is the last one; NULL: not known. 0 or -ENOMEM.
 */
int lead_up_find(struct lead_up *ret_lead_up, const struct timeline_thread *thread, uint64_t time_ns,
		 const char *function, size_t wanted);

/* The same of a hit, on its thread; empty where the timeline has no such thread. */
int lead_up_to_hit(struct lead_up *ret_lead_up, const struct timeline *timeline,
		   const struct timeline_hit *hit, size_t wanted);

void lead_up_release(struct lead_up *lead_up);
