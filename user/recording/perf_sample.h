/* SPDX-License-Identifier: BSD-2-Clause */
/* PERF_RECORD_SAMPLE: one event, where it happened, and the call stack, as perf record was asked for it (linux/perf_event.h, "PERF_RECORD_SAMPLE"). */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>

#include "model/snapshot.h"

/* Where the event's id stands in a sample of such attributes: its offset. 0: nowhere. */
size_t perf_sample_id_at(const struct perf_event_attr *attr);

/*
 * Takes the `size` bytes of a record apart. *ret_sample owns its ips; its stack stays where it is, in the record. Without PERF_SAMPLE_TID or
 * PERF_SAMPLE_TIME it says nothing: then ret_sample->tid is -1. 0; -EBADMSG with a sentence; -ENOMEM.
 */
int perf_sample_read(struct stack_sample *ret_sample, const struct perf_event_attr *attr,
		     const uint8_t *record, size_t size);

/* The name of an event where the file gives none: "cpu-clock", "cycles", "raw 0x1b0". The caller's. NULL: no memory. */
char *perf_event_name(const struct perf_event_attr *attr);
