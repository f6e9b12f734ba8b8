/* SPDX-License-Identifier: BSD-2-Clause */
/* --events: what is counted beside the clock, each time a counter has come round. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/samples.h"
#include "source/samples/ticks.h"

enum { SAMPLES_EVENTS_MAX = SAMPLES_COUNTERS_MAX };

/* A list that was taken apart: "page-faults,branch-misses". */
struct samples_events {
	size_t items[SAMPLES_EVENTS_MAX]; /* indices of what there is, for samples_events_name() */
	size_t cnt;
};

/* How many there are; events NULL: none. */
static inline size_t samples_events_cnt(const struct samples_events *events)
{
	return events ? events->cnt : 0;
}

/* -EINVAL with a sentence: no such event, one twice, or more than SAMPLES_EVENTS_MAX; -ENOMEM. */
int samples_events_parse(const char *list, struct samples_events *ret_events);

/* The name of each that there is, by numbers from 0 on; NULL: there are no more. */
const char *samples_events_known(size_t number);

/* As perf calls it. */
const char *samples_events_name(const struct samples_events *events, size_t nth);

/* What perf_event_open(2) takes for it, to tick `frequency` times a second, or each time, disabled. */
void samples_events_attr(const struct samples_events *events, size_t nth, uint32_t frequency,
			 struct perf_event_attr *ret_attr);

/* Whether a processor's counter comes round each time it happens. */
bool samples_events_each_time(const struct samples_events *events, size_t nth);

/* Whether it happens in the kernel only. */
bool samples_events_in_kernel(const struct samples_events *events, size_t nth);

/* The sentence for an error of perf_event_open(2); returns the error, or -ENOTSUP. */
int samples_events_fail(const struct samples_events *events, size_t nth, uint32_t frequency, int err);

/*
 * Opens that event on every processor, disabled, to tick `frequency` times a second, or each time. -ENOTSUP
 * with a sentence: this machine cannot count it; else as samples_ticks_open().
 */
int samples_events_open(const struct samples_events *events, size_t nth, uint32_t frequency,
			struct samples_ticks *ret_ticks);
