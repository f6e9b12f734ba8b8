/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the samples source does without BPF: perf's events of the targets' threads, which need no right for
 * processes of one's own (kernel.perf_event_paranoid up to 2). There are stacks of user code by the clock,
 * and when threads stop running and run again; not why, and not for whom.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "source/samples/events.h"
#include "source/samples/ring_writer.h"

struct perf_samples_config {
	uint32_t frequency;		     /* Hz */
	bool follow_forks;		     /* the children of targets, too */
	const struct samples_events *events; /* counted for each thread; NULL: none; not its own */
	struct samples_writer *writers; /* SAMPLES_RING_CNT for each of `cpu_cnt` processors; not its own */
	uint32_t cpu_cnt;
};

struct perf_samples;

/* Whether this can be had here: 0, or -EPERM with a sentence; else -errno with one. */
int perf_samples_try(void);

/* Errors as perf_samples_try() and samples_events_open(). */
int perf_samples_new(struct perf_samples **ret_samples, const struct perf_samples_config *config);
void perf_samples_free(struct perf_samples *samples);

/*
 * The threads of that process, and those that they will start, are recorded from perf_samples_start() on;
 * `at_exec`: from its exec on. -ESRCH with a sentence: it has ended; else -errno with one.
 */
int perf_samples_add(struct perf_samples *samples, pid_t pid, bool at_exec);

int perf_samples_start(struct perf_samples *samples);
void perf_samples_stop(struct perf_samples *samples);

/*
 * Moves pending records to the writers' rings. To be called at least every perf_samples_drain_ms(). 0, or
 * -errno with a sentence.
 */
int perf_samples_drain(struct perf_samples *samples);
int perf_samples_drain_ms(const struct perf_samples *samples);

/* "cycles" or "cpu-clock". */
const char *perf_samples_event(const struct perf_samples *samples);

DEFINE_CLEANUP(struct perf_samples *, perf_samples_free)
