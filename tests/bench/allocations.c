/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make bench: what an allocation costs a program with libtrailcam-alloc.so before its allocator, beside the
 * same program without it. Nobody listens to the probes: with a sample in some thousands of allocations,
 * listening is not in these figures. Usage: allocations LIBRARY
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "figures.h"

enum { RUNS = 7, PAIRS = 5000000, HELD = 100000 };

static double now_ns(void)
{
	return (double)clock_ns(CLOCK_MONOTONIC);
}

/* At once given back, from the allocator's nearest memory. */
static double pair_ns(void)
{
	double start = now_ns();

	for (int i = 0; i < PAIRS; i++) {
		void *volatile address = malloc(64);

		free(address);
	}
	return (now_ns() - start) / PAIRS;
}

/* Of many sizes, and held. */
static double held_ns(void)
{
	static void *volatile held[HELD];
	double start = now_ns();

	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < HELD; i++)
			held[i] = malloc(16 + (size_t)i * 37 % 500);
		for (int i = 0; i < HELD; i++)
			free(held[i]);
	}
	return (now_ns() - start) / (10.0 * HELD);
}

/* The child writes its two figures. */
static void run_child(const char *library, double *ret_figures)
{
	int out[2];

	if (pipe(out))
		exit(1);
	if (!fork()) {
		dup2(out[1], STDOUT_FILENO);
		if (library)
			setenv("LD_PRELOAD", library, 1);
		execl("/proc/self/exe", "allocations", NULL);
		_exit(127);
	}
	close(out[1]);
	if (read(out[0], ret_figures, 2 * sizeof(double)) != 2 * sizeof(double))
		exit(1);
	close(out[0]);
	wait(NULL);
}

static void report(const char *what, double figures[RUNS][2], int which)
{
	double sorted[RUNS], middle;

	for (int i = 0; i < RUNS; i++)
		sorted[i] = figures[i][which];
	middle = median_of(sorted, RUNS);
	printf("  %-52s %10.1f ns  (%.1f to %.1f)\n", what, middle, sorted[0], sorted[RUNS - 1]);
}

int main(int argc, char **argv)
{
	double figures[2] = {0}, without[RUNS][2], with[RUNS][2];

	if (argc < 2) {
		figures[0] = pair_ns();
		figures[1] = held_ns();
		return write(STDOUT_FILENO, figures, sizeof(figures)) != sizeof(figures);
	}
	for (int i = 0; i < RUNS; i++) {
		run_child(NULL, without[i]);
		run_child(argv[1], with[i]);
	}
	printf("malloc and free, a pair\n");
	report("64 bytes, freed at once", without, 0);
	report("with libtrailcam-alloc.so", with, 0);
	report("16 to 515 bytes, 100000 held", without, 1);
	report("with libtrailcam-alloc.so", with, 1);
	return 0;
}
