/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address filters of the intel_pt source: which code is traced, and where the trace is to stop. The processor
 * has few of them (two or four), which the kernel sets from a text (kernel/events/core.c,
 * perf_event_parse_addr_filter()):
 *
 *	filter 0xOFFSET/0xSIZE@FILE,stop 0xOFFSET/0xSIZE@FILE
 *
 * perf leaves it in its recordings, too (tools/perf/util/auxtrace.c), where "tracestop" also stops, and
 * spaces separate as well.
 */
#pragma once

#include "model/trigger.h"

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

/* One filter of such a text. */
struct address_filter {
	uint64_t offset, size; /* in the file; without a file, addresses */
	const char *file;      /* not 0-terminated; NULL: none, it is of the kernel */
	size_t file_len;
	bool stops; /* the trace stops here; else it is of what is here only */
};

/*
 * The next filter of *text, which moves behind it. False: there is none any more, or what follows cannot be
 * read.
 */
bool filters_next(const char **text, struct address_filter *ret_filter);
