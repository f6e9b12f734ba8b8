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

/* The offset of the event's id in a sample with such attributes; 0: none. */
size_t perf_sample_id_at(const struct perf_event_attr *attr);

/*
 * Parses the `size` bytes of a record. *ret_sample owns its ips; its stack points into the record. A sample
 * without PERF_SAMPLE_TID or PERF_SAMPLE_TIME is useless: ret_sample->tid is then -1. 0; -EBADMSG with a
 * sentence; -ENOMEM.
 */
int perf_sample_read(struct stack_sample *ret_sample, const struct perf_event_attr *attr,
		     const uint8_t *record, size_t size);

/* The raw data of a sample in our recordings: fields that perf does not have (model/sample.h). */
struct perf_sample_more {
	uint32_t size; /* of the rest */
	uint32_t kind, flags, state;
	uint64_t magic;
	union {
		uint64_t args[SAMPLE_ARG_CNT];
		struct sample_thread other; /* of those that have one */
	};
	union {
		int64_t result;
		uint64_t switches; /* of switches */
	};
	uint64_t address;
	uint64_t other_ns; /* since_ns, or until_ns of an INTERRUPT */
	uint64_t lost_cnt;
	int32_t nr;
	uint32_t has_timeout;
	int64_t timeout_ns;
};

/* Behind it stands what the call is about, with a 0 at its end and filled up with them to a multiple of 8. */

_Static_assert(sizeof(struct perf_sample_more) == 120, "it is part of the recording, and a multiple of 8");

static inline bool perf_sample_has_other(uint32_t kind)
{
	return kind == SAMPLE_SWITCH_IN || kind == SAMPLE_WAKE_UP || kind == SAMPLE_INTERRUPT;
}

static inline bool perf_sample_has_switches(uint32_t kind)
{
	return kind == SAMPLE_SWITCH_OUT || kind == SAMPLE_SWITCH_IN;
}

#define PERF_SAMPLE_MORE_MAGIC 0x656c706d61736374ull /* "tcsample" */

/*
 * The events of samples as attributes of perf.data: first the ticks, then the moments. 0: there are no
 * samples.
 */
size_t perf_samples_event_cnt(const struct snapshot *snapshot);
const char *perf_samples_event_name(const struct snapshot *snapshot, size_t event);
void perf_samples_attr(const struct snapshot *snapshot, size_t event, struct perf_event_attr *ret_attr);

/*
 * Writes the sample records, packed. Event N has the id SIDEBAND_EVENT_ID + 1 + N. Errors as
 * packer_finish().
 */
int perf_samples_write(const struct snapshot *snapshot, FILE *file);

/*
 * A name for an event that has none in the file: "cpu-clock", "cycles", "raw 0x1b0". The caller frees it.
 * NULL: out of memory.
 */
char *perf_event_name(const struct perf_event_attr *attr);
