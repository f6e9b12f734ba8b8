/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes counters of the timeline from perf's counts: one for each event and thread. */
#pragma once

#include "model/timeline.h"

struct count {
	const char *name; /* of the event; copied */
	int32_t pid, tid;
	uint64_t time_ns; /* on the timeline */
	uint64_t value;
	bool is_level; /* the value itself; else how much the counter rises */
};

/* Adds a count. The counts of one counter must come in time order. 0 or -ENOMEM. */
int counts_add(struct timeline *timeline, const struct count *count);
