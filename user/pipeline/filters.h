/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address filters of the intel_pt source: which code is traced, and where the trace is to stop. The processor has few of them (two or four), which the kernel
 * sets from a text (kernel/events/core.c, perf_event_parse_addr_filter()):
 *
 *	filter 0xOFFSET/0xSIZE@FILE,stop 0xOFFSET/0xSIZE@FILE
 */
#pragma once

#include "trigger/trigger.h"

/* The text. All 0: empty. */
struct filters {
	char *text;
	size_t cnt;
};

void filters_release(struct filters *filters);

/* The whole functions that the probes stand in. -EINVAL with a sentence: one has no size; -ENOMEM. */
int filters_add_functions(struct filters *filters, const struct trigger *trigger);

/* Stops at the probes. 0 or -ENOMEM. */
int filters_add_stops(struct filters *filters, const struct trigger *trigger);
