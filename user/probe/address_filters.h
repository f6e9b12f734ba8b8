/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address filters of the intel_pt source: which code to trace, and where to stop the trace. The processor has
 * two or four. The kernel sets them from a text (kernel/events/core.c, perf_event_parse_addr_filter()):
 *
 *	filter 0xOFFSET/0xSIZE@FILE,stop 0xOFFSET/0xSIZE@FILE
 *
 * perf stores the text in its recordings (tools/perf/util/auxtrace.c); there "tracestop" also means stop, and
 * spaces also separate.
 */
#pragma once

#include "model/trigger.h"

/* A text of filters. All 0: empty. */
struct filters {
	char *text;
	size_t cnt;
};

void filters_release(struct filters *filters);

/*
 * Adds filters for the functions of the trigger's probes. -EINVAL with a sentence: one has no size; -ENOMEM.
 */
int filters_add_functions(struct filters *filters, const struct trigger *trigger);

/* Adds a stop at each probe of the trigger. 0 or -ENOMEM. */
int filters_add_stops(struct filters *filters, const struct trigger *trigger);

/* One parsed filter. */
struct address_filter {
	uint64_t offset, size; /* in the file; without a file, an address */
	const char *file;      /* not 0-terminated; NULL: a kernel address */
	size_t file_len;
	bool stops; /* true: the trace stops here; false: only this code is traced */
};

/* Parses the next filter and moves *text past it. False: the end, or the rest cannot be parsed. */
bool filters_next(const char **text, struct address_filter *ret_filter);
