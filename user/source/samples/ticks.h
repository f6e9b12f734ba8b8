/* SPDX-License-Identifier: BSD-2-Clause */
/* The events of perf that tick on every processor, whatever runs there, and call a BPF program. */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct samples_ticks {
	int *fds;  /* one for each processor that is online */
	int *cpus; /* which one that is */
	size_t cnt;
	const char *event; /* "cycles", or "cpu-clock" where the machine has no counter for them */
};

/*
 * What may tick, best first: fills in which event it is; its name, or NULL where there are no more.
 */
const char *samples_ticks_event(size_t nth, struct perf_event_attr *attr);

/* So many ticks a second the kernel allows now. */
uint32_t samples_ticks_max(void);

/* The sentence for an error of perf_event_open(2) with that frequency; returns the error. */
int samples_ticks_fail(int err, uint32_t frequency);

/*
 * Opens them, disabled. -EINVAL with a sentence: the kernel allows no such frequency; -EPERM, -EMFILE or what
 * else the kernel says, with a sentence. *ret_ticks is to be released.
 */
int samples_ticks_open(struct samples_ticks *ret_ticks, uint32_t frequency);

/*
 * The same of one event, which lasts as long as its name. Errors are those of
 * perf_event_open(2), without a sentence.
 */
int samples_ticks_open_event(struct samples_ticks *ret_ticks, const struct perf_event_attr *attr,
			     const char *name);

void samples_ticks_release(struct samples_ticks *ticks);

/*
 * What a tick takes from what it interrupts, in ns, without the program that it calls: measured, within
 * milliseconds. 0: it could not be measured.
 */
uint64_t samples_ticks_cost_ns(void);

int samples_ticks_enable(const struct samples_ticks *ticks);
void samples_ticks_disable(const struct samples_ticks *ticks);
