/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A time namespace shifts CLOCK_MONOTONIC for the processes in it. The kernel's records (perf events, BPF)
 * have the clock as it is outside.
 */
#include "base/clock.h"

#include <pthread.h>
#include <stdio.h>

#include "base/cleanup.h"

static int64_t shift_ns;

static void read_shift(void)
{
	CLEANUP(fclosep) FILE *file = fopen("/proc/self/timens_offsets", "re"); /* since Linux 5.6 */
	long long seconds, ns;

	if (file && fscanf(file, "monotonic %lld %lld", &seconds, &ns) == 2)
		shift_ns = seconds * 1000000000 + ns;
}

uint64_t clock_kernel_ns(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_shift);
	return clock_ns(CLOCK_MONOTONIC) - (uint64_t)shift_ns;
}
