/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records of all processors' rings, kept until a snapshot wants them, in time order then. Who ran when is told for every context switch: of these only
 * the newest are kept, so that a recording of hours stays small; a ring of trace bytes reaches less far back.
 */
#pragma once

#include <linux/perf_event.h>

#include "source/snapshot.h"

enum { PT_SWITCHES_MAX = 1 << 18 };

struct pt_records {
	struct pt_record {
		uint64_t time_ns, nth;
		struct perf_event_header *bytes; /* its own */
	} * items;
	size_t cnt, cap;
	size_t switch_cnt;
	uint64_t nth; /* of the next one */
};

/* Takes a copy of a record that is of use, and passes over others. 0 or -ENOMEM. */
int pt_records_add(struct pt_records *records, const struct perf_event_header *record);

/* Records one behind the other, as in snapshot.sideband. */
int pt_records_add_all(struct pt_records *records, const uint8_t *bytes, size_t size);

/* Moves them to the end of snapshot->sideband. 0 or -ENOMEM. */
int pt_records_take(struct pt_records *records, struct snapshot *snapshot);

void pt_records_release(struct pt_records *records);

/* How many records PERF_RECORD_LOST speaks of. */
uint64_t pt_records_lost(const struct perf_event_header *record);

/* The TSC's relation to the time in records. -ENOTSUP without a sentence: the kernel does not tell it. */
int pt_records_clock(struct trace_clock *ret_clock, const volatile struct perf_event_mmap_page *page);
