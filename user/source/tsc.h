/* SPDX-License-Identifier: BSD-2-Clause */
/* The time stamp counter beside the kernel's clocks. */
#pragma once

#include <stdint.h>

/* One moment on three clocks. */
struct tsc_moment {
	uint64_t tsc;
	uint64_t ns;	      /* CLOCK_MONOTONIC */
	uint64_t realtime_ns; /* CLOCK_REALTIME, some nanoseconds later */
};

/* TSC to nanoseconds of CLOCK_MONOTONIC. */
struct tsc_clock {
	uint64_t tsc, ns; /* one moment */
	double ns_per_tick;
};

/* Now. Preemption between the readings does not matter. */
struct tsc_moment tsc_now(void);

/* The rate is that of the time since `start`. */
struct tsc_clock tsc_clock_since(const struct tsc_moment *start);

uint64_t tsc_clock_ns(const struct tsc_clock *clock, uint64_t tsc);
