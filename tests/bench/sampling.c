/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make bench: what sampling costs the program that is sampled. The same work is done again and again, by
 * turns alone, with the samples source, and with `perf record` at the same frequency with copies of stacks;
 * processor time is compared, so that others on the machine matter little. Then two processes hand a byte to
 * and fro, which is a switch each.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "figures.h"
#include "source/samples/samples.h"

enum { RUNS = 9, DEPTH = 12, LOOPS = 800, ROUNDS = 40000 };

enum how { ALONE, SAMPLES, PERF, HOW_CNT };

/* ---- the work ---- */

static volatile unsigned long sink;

static __attribute__((noinline)) void work(int depth)
{
	volatile char frame[64];

	frame[0] = (char)depth;
	for (int i = 0; depth == 0 && i < 100000; i++)
		sink += (unsigned long)i;
	if (depth)
		work(depth - 1);
	sink += (unsigned long)frame[0];
}

static void be_busy(void)
{
	for (int i = 0; i < LOOPS; i++)
		work(DEPTH);
}

/* A byte to another process and back, so many times. */
static void play(void)
{
	int there[2], back[2];
	char ball = 0;

	if (pipe(there) || pipe(back))
		_exit(1);
	if (!fork()) {
		for (int i = 0; i < ROUNDS; i++)
			if (read(there[0], &ball, 1) != 1 || write(back[1], &ball, 1) != 1)
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < ROUNDS; i++)
		if (write(there[1], &ball, 1) != 1 || read(back[0], &ball, 1) != 1)
			_exit(1);
	wait(NULL);
}

/* ---- one run ---- */

/* Returns when it records. */
static pid_t start_perf(pid_t pid, unsigned int frequency)
{
	char target[16], rate[16], control[48], answer[8];
	int ctl[2], ack[2];
	pid_t perf;

	if (pipe(ctl) || pipe(ack))
		die("pipe", -errno);
	perf = fork();
	if (!perf) {
		snprintf(target, sizeof(target), "%d", pid);
		snprintf(rate, sizeof(rate), "%u", frequency);
		snprintf(control, sizeof(control), "--control=fd:%d,%d", ctl[0], ack[1]);
		execlp("perf", "perf", "record", "-q", "-e", "cpu-clock", "-F", rate, "--call-graph",
		       "dwarf,8192", "-D", "-1", control, "-p", target, "-o", "/dev/null", (char *)NULL);
		_exit(127);
	}
	close(ack[1]);
	if (write(ctl[1], "enable\n", 7) != 7 || read(ack[0], answer, sizeof(answer)) < 4)
		die("perf record", -EIO);
	close(ack[0]);
	close(ctl[0]);
	close(ctl[1]);
	return perf;
}

/* Processor time of the child that does `fn`, in seconds, its own children's with it. */
static double run(void (*fn)(void), enum how how, unsigned int frequency)
{
	const struct samples_config config = {.frequency = frequency};
	CLEANUP(samples_freep) struct samples *samples = NULL;
	struct rusage usage;
	pid_t pid, perf = 0;
	int go[2], err;
	char word = 0;

	if (pipe(go))
		die("pipe", -errno);
	pid = fork();
	if (!pid) {
		if (read(go[0], &word, 1) != 1)
			_exit(1);
		fn();
		_exit(0);
	}
	if (how == SAMPLES) {
		err = samples_new(&samples, &config);
		err = err ? err : samples_add(samples, pid, false);
		err = err ? err : samples_start(samples);
		if (err)
			die("samples", err);
	} else if (how == PERF) {
		perf = start_perf(pid, frequency);
	}
	err = write(go[1], &word, 1) == 1 ? 0 : -errno;
	close(go[0]);
	close(go[1]);
	if (err || wait4(pid, NULL, 0, &usage) != pid)
		die("child", err);
	if (perf) {
		kill(perf, SIGINT);
		waitpid(perf, NULL, 0);
	}
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/*
 * By turns, so that what else the machine does falls on all alike. The least: all that disturbs adds to it.
 */
static void compare(void (*fn)(void), unsigned int frequency, bool with_perf, double ret_seconds[HOW_CNT])
{
	double seconds[HOW_CNT][RUNS];

	for (int i = 0; i < RUNS; i++)
		for (enum how how = 0; how < HOW_CNT; how++)
			seconds[how][i] = how == PERF && !with_perf ? 0 : run(fn, how, frequency);
	for (enum how how = 0; how < HOW_CNT; how++) {
		median_of(seconds[how], RUNS); /* sorts */
		ret_seconds[how] = seconds[how][0];
	}
}

int main(int argc, char **argv)
{
	static const unsigned int frequencies[] = {1000, 2000, 5000, 10000};
	bool with_perf = argc < 2 || strcmp(argv[1], "-p") != 0;
	double seconds[HOW_CNT];

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("sampling a busy program: processor time, in %% more than alone\n");
	for (size_t i = 0; i < ARRAY_SIZE(frequencies); i++) {
		compare(be_busy, frequencies[i], with_perf, seconds);
		printf("  %5u Hz: samples %6.2f", frequencies[i],
		       100 * (seconds[SAMPLES] / seconds[ALONE] - 1));
		if (with_perf)
			printf("   perf record --call-graph dwarf %6.2f",
			       100 * (seconds[PERF] / seconds[ALONE] - 1));
		printf("\n");
	}
	compare(play, 1000, false, seconds);
	printf("switches: a pipe's byte there and back\n  alone %.2f us, one of both recorded %.2f us (%.0f "
	       "ns more)\n",
	       1e6 * seconds[ALONE] / ROUNDS, 1e6 * seconds[SAMPLES] / ROUNDS,
	       1e9 * (seconds[SAMPLES] - seconds[ALONE]) / ROUNDS);
	return 0;
}
