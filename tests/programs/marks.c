/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks the moments when something happened: with our header, and as magic-trace does it. */
#include "user/trailcam.h"

#include <stdio.h>

/* magic-trace's own indicator, as its library defines it. */
__attribute__((noinline)) void magic_trace_stop_indicator(long start, long value)
{
	__asm__ volatile("" ::"r"(start), "r"(value));
}

__attribute__((noinline)) static void busy(void)
{
	for (volatile int i = 0; i < 100; i++)
		;
}

int main(void)
{
	uint64_t start = trailcam_mark_start();

	busy();
	trailcam_snapshot(start, 42);
	trailcam_snapshot(0, 43);
	magic_trace_stop_indicator(2 * 1000 + 1, 2 * 44 + 1);
	puts("marked");
	return 0;
}
