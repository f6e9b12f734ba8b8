/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls at intervals that it measures itself: for each, the time before it, and the first thing in it. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { CALLS = 20 };

static uint64_t inside[CALLS];
static volatile unsigned int sink;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

__attribute__((noinline)) static void work(unsigned int cnt)
{
	while (cnt--)
		sink += cnt;
}

__attribute__((noinline)) static void paced(unsigned int i)
{
	inside[i] = now();
	work(2000 * (i + 1));
}

int main(void)
{
	uint64_t before[CALLS];

	for (unsigned int i = 0; i < CALLS; i++) {
		work(5000 * (CALLS - i));
		before[i] = now();
		paced(i);
	}
	for (unsigned int i = 0; i < CALLS; i++)
		printf("%llu %llu\n", (unsigned long long)before[i], (unsigned long long)inside[i]);
	return 0;
}
