/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collects sideband records of several processors and sorts them by time. Context switches are frequent: the
 * list can keep only the newest, so that a recording of hours stays small.
 */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sort.h"
#include "model/snapshot.h"

struct record_list {
	struct record {
		/* the time; records of one processor with equal times keep their order */
		struct sort_key key;
		struct perf_event_header *bytes; /* a copy */
	} * items;
	size_t cnt, cap;
	size_t switch_cnt;
	size_t switch_max; /* 0: all */
	uint64_t nth;	   /* of the next one */
};

/*
 * Copies a record if decoding needs it, else ignores it. The copy ends in the trailer of model/sideband.h
 * with our event id. 0 or -ENOMEM.
 */
int record_list_add(struct record_list *records, const struct perf_event_header *record);

/* Adds consecutive records, as in snapshot.sideband. 0 or -ENOMEM. */
int record_list_add_all(struct record_list *records, const uint8_t *bytes, size_t size);

/* Sorts the records and moves them to the end of snapshot->sideband. 0 or -ENOMEM. */
int record_list_take(struct record_list *records, struct snapshot *snapshot);

void record_list_release(struct record_list *records);
