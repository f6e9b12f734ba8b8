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
 * The last `wanted` slices of the thread that began up to time_ns, and what they were called from. Where the
 * moment is one at which `function` was called, that call is the last one; NULL: it is not known to be. 0 or
 * -ENOMEM.
 */
int lead_up_find(struct lead_up *ret_lead_up, const struct timeline_thread *thread, uint64_t time_ns,
		 const char *function, size_t wanted);
void lead_up_release(struct lead_up *lead_up);
