/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of sideband as they come, from several processors, to be put in time order. Who ran when is told
 * for every context switch: of these only the newest can be kept, so that a recording of hours stays small.
 */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sort.h"
#include "model/snapshot.h"

struct record_list {
	struct record {
		struct sort_key key; /* its time; of equal times, a processor's records come in order */
		struct perf_event_header *bytes; /* its own */
	} * items;
	size_t cnt, cap;
	size_t switch_cnt;
	size_t switch_max; /* 0: all */
	uint64_t nth;	   /* of the next one */
};

/*
 * Takes a copy of a record that is of use, and passes over others. It ends in the trailer that
 * model/sideband.h describes; the event's id in it becomes ours. 0 or -ENOMEM.
 */
int record_list_add(struct record_list *records, const struct perf_event_header *record);

/* Records one behind the other, as in snapshot.sideband. */
int record_list_add_all(struct record_list *records, const uint8_t *bytes, size_t size);

/* Moves them to the end of snapshot->sideband. 0 or -ENOMEM. */
int record_list_take(struct record_list *records, struct snapshot *snapshot);

void record_list_release(struct record_list *records);
