/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls one function with many arguments and results: for triggers with rules. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Sleeps so many milliseconds; gives -1 for odd numbers. */
__attribute__((noinline)) long work(long number, const char *name, long ms)
{
	struct timespec time = {.tv_nsec = ms * 1000000};

	__asm__ volatile("" ::"r"(name));
	if (ms)
		nanosleep(&time, NULL);
	return number % 2 ? -1 : number;
}

__attribute__((noinline)) long recurse(long depth)
{
	return depth ? recurse(depth - 1) + 1 : 0;
}

__attribute__((noinline)) void crash(volatile int *where)
{
	*where = 1;
}

/* rules [crash|exit STATUS] */
int main(int argc, char **argv)
{
	static const char *const names[] = {"zero", "one", "two", "three", "four", "five", "six", "seven"};
	long sum = 0;

	for (long i = 0; i < 8; i++)
		sum += work(i, names[i], i == 5 ? 60 : 0);
	sum += recurse(5);
	printf("sum %ld\n", sum);
	fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "crash"))
		crash(NULL);
	if (argc > 1 && !strcmp(argv[1], "usr1"))
		raise(SIGUSR1);
	return argc > 2 ? atoi(argv[2]) : 0;
}
