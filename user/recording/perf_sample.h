/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PERF_RECORD_SAMPLE: one event, where it happened, and the call stack, as perf record was asked for it
 * (linux/perf_event.h, "PERF_RECORD_SAMPLE").
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>

#include "model/snapshot.h"

/* Where the event's id stands in a sample of such attributes: its offset. 0: nowhere. */
size_t perf_sample_id_at(const struct perf_event_attr *attr);

/*
 * Takes the `size` bytes of a record apart. *ret_sample owns its ips; its stack stays where it is, in the
 * record. Without PERF_SAMPLE_TID or PERF_SAMPLE_TIME it says nothing: then ret_sample->tid is -1. 0;
 * -EBADMSG with a sentence; -ENOMEM.
 */
int perf_sample_read(struct stack_sample *ret_sample, const struct perf_event_attr *attr,
		     const uint8_t *record, size_t size);

/* The raw bytes of a sample in our own recordings: what perf has no field for (model/sample.h). */
struct perf_sample_more {
	uint32_t size; /* of what follows */
	uint32_t kind, flags, state;
	uint64_t magic;
	union {
		uint64_t args[SAMPLE_ARG_CNT];
		struct sample_thread other; /* SAMPLE_WAKE_UP, SAMPLE_SWITCH_IN */
	};
	int64_t result;
	uint64_t address, since_ns, lost_cnt;
	int32_t nr, unused[3];
};

_Static_assert(sizeof(struct perf_sample_more) == 120, "it is part of the recording, and a multiple of 8");

#define PERF_SAMPLE_MORE_MAGIC 0x656c706d61736374ull /* "tcsample" */

enum { PERF_STACK_BYTES = 1 << 15 /* that a sample has at most: a record is less than 64 KiB */ };

/*
 * The events of samples, as attributes of perf.data: those that tick, then the moments. 0: there are no
 * samples.
 */
size_t perf_samples_event_cnt(const struct snapshot *snapshot);
const char *perf_samples_event_name(const struct snapshot *snapshot, size_t event);
void perf_samples_attr(const struct snapshot *snapshot, size_t event, struct perf_event_attr *ret_attr);

/* Their records. Event N has the id SIDEBAND_EVENT_ID + 1 + N. */
void perf_samples_write(const struct snapshot *snapshot, FILE *file);

/*
 * The name of an event where the file gives none: "cpu-clock", "cycles", "raw 0x1b0". The caller's. NULL: no
 * memory.
 */
char *perf_event_name(const struct perf_event_attr *attr);
