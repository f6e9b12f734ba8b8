/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls at intervals that it measures itself: for each, the time before it, and the first thing in it, in
 * nanoseconds of the monotonic clock. Before them is what takes long and has no branch.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

enum { CALLS = 20 };

/* What both clocks say at one moment. */
struct moment {
	uint64_t tsc, ns;
};

static uint64_t before[CALLS], inside[CALLS];
static volatile unsigned int sink;
static char memory[3 << 20];

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Of some tries the shortest one: something else may have come between. */
static struct moment moment_now(void)
{
	struct moment moment = {0};
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 50; i++) {
		uint64_t tsc = __rdtsc(), ns = now(), took = __rdtsc() - tsc;

		if (took < shortest)
			moment = (struct moment){tsc + took / 2, ns};
		shortest = took < shortest ? took : shortest;
	}
	return moment;
}

static uint64_t ns_at(const struct moment *begin, const struct moment *end, uint64_t tsc)
{
	return begin->ns + (uint64_t)((double)(tsc - begin->tsc) * (double)(end->ns - begin->ns) /
				      (double)(end->tsc - begin->tsc));
}

__attribute__((noinline)) static void work(unsigned int cnt)
{
	while (cnt--)
		sink += cnt;
}

static inline __attribute__((always_inline)) void fill(unsigned int size)
{
	void *to = memory;
	unsigned long cnt = size;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(cnt) : "a"(1) : "memory");
}

__attribute__((noinline)) static void paced(unsigned int i)
{
	inside[i] = __rdtsc();
	work(2000 * (i + 1));
}

int main(void)
{
	struct moment begin = moment_now(), end;

	for (unsigned int i = 0; i < CALLS; i++) {
		work(5000 * (CALLS - i));
		fill(i % 4 << 20);
		before[i] = __rdtsc();
		paced(i);
	}
	end = moment_now();
	for (unsigned int i = 0; i < CALLS; i++)
		printf("%llu %llu\n", (unsigned long long)ns_at(&begin, &end, before[i]),
		       (unsigned long long)ns_at(&begin, &end, inside[i]));
	return 0;
}
