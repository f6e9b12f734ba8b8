/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of perf's events of threads, and how they go into the rings of the samples source. */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/hash_index.h"
#include "source/pt_event.h"
#include "source/samples/ring_writer.h"

/* What is counted, by the identifiers of its records. All zero at the beginning. */
struct perf_ids {
	struct perf_id {
		uint64_t id;
		uint32_t event;	 /* of the list; 1: its first one */
		uint64_t period; /* what each record stands for; 0: it says so itself */
	} * items;
	size_t cnt, cap;
	struct hash_index by_id;
};

/* 0 or -ENOMEM. */
int perf_ids_add(struct perf_ids *ids, const struct perf_id *id);
void perf_ids_release(struct perf_ids *ids);

/* What is to be in the records of an event that is counted, and of the clock. */
void perf_records_of_counts(struct perf_event_attr *attr);
void perf_records_of_ticks(struct perf_event_attr *attr, uint32_t stack_bytes);

/* How much of perf's ring a tick takes. */
size_t perf_records_tick_bytes(uint32_t stack_bytes);

/* Where records of a processor go. */
struct perf_records {
	struct samples_writer *writers; /* SAMPLES_RING_CNT */
	uint64_t *throttled_ns;		/* no ticks since then; 0: there are */
	const struct perf_ids *ids;	/* of what is counted; all others are ticks */
};

/* Moves pending records from perf's ring to the writers'. 0, -ENOMEM or -EBADMSG, without a sentence. */
int perf_records_take(const struct perf_records *records, const struct pt_event_map *map);
