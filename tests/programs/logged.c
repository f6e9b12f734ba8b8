/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that knows its calls: each function notes on CLOCK_MONOTONIC when it begins and when it ends. At
 * the end it writes a line for each call: name, begin, end, depth.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { CALLS_MAX = 4096, FUNCTIONS = 5 };

static struct {
	const char *name;
	uint64_t begin, end;
	int depth;
} calls[CALLS_MAX];
static int call_cnt, depth;
static unsigned long sink;
static uint64_t seed = 42;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static unsigned int draw(unsigned int below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned int)(seed >> 33) % below;
}

static void work(unsigned int amount)
{
	for (unsigned int i = 0; i < amount * 100000; i++)
		sink += i * 3;
	__asm__ volatile("" ::"r"(sink) : "memory");
}

static void any(void);

static int begin(const char *name)
{
	int nth = call_cnt++;

	calls[nth].name = name;
	calls[nth].depth = depth++;
	calls[nth].begin = now();
	return nth;
}

static void end(int nth)
{
	calls[nth].end = now();
	depth--;
}

#define FUNCTION(name)                                   \
	static __attribute__((noinline)) void name(void) \
	{                                                \
		int nth = begin(#name);                  \
                                                         \
		work(draw(40));                          \
		for (unsigned int i = draw(4); i-- > 0;) \
			any();                           \
		work(draw(10));                          \
		end(nth);                                \
	}

FUNCTION(alpha)
FUNCTION(beta)
FUNCTION(gamma_)
FUNCTION(delta)
FUNCTION(epsilon)

/* Each of them from a place of its own; recursion, too. */
static void any(void)
{
	if (depth > 8 || call_cnt > CALLS_MAX / 8)
		return;
	switch (draw(FUNCTIONS)) {
	case 0:
		alpha();
		break;
	case 1:
		beta();
		break;
	case 2:
		gamma_();
		break;
	case 3:
		delta();
		break;
	default:
		epsilon();
		break;
	}
}

int main(void)
{
	for (int i = 0; i < 60; i++)
		any();
	for (int i = 0; i < call_cnt; i++)
		printf("%s %" PRIu64 " %" PRIu64 " %d\n", calls[i].name, calls[i].begin, calls[i].end,
		       calls[i].depth);
	return 0;
}
