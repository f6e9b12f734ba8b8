/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clocks cannot be read at once. Each try reads CLOCK_MONOTONIC between two readings of the TSC; the try
 * with the closest two was interrupted least.
 */
#include "source/tsc.h"

#include <stdbool.h>
#include <x86intrin.h>

#include "base/clock.h"

enum { TRIES = 32 };

struct tsc_moment tsc_now(void)
{
	struct tsc_moment closest = {0};
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = __rdtsc(), ns = clock_kernel_ns(), took = __rdtsc() - before;

		if (took >= best)
			continue;
		best = took;
		closest = (struct tsc_moment){
			.tsc = before + took / 2, .ns = ns, .realtime_ns = clock_ns(CLOCK_REALTIME)};
	}
	return closest;
}

struct tsc_clock tsc_clock_since(const struct tsc_moment *start)
{
	const struct tsc_moment now = tsc_now();
	const bool ticked = now.tsc > start->tsc;

	return (struct tsc_clock){
		.tsc = start->tsc,
		.ns = start->ns,
		.ns_per_tick = ticked ? (double)(now.ns - start->ns) / (double)(now.tsc - start->tsc) : 1};
}

uint64_t tsc_clock_ns(const struct tsc_clock *clock, uint64_t tsc)
{
	double ticks = (double)(int64_t)(tsc - clock->tsc);

	return clock->ns + (uint64_t)(int64_t)(ticks * clock->ns_per_tick);
}
