/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make bench: what sampling costs. The same work is done again and again, by turns alone, with a BPF program
 * that does nothing as often, with the samples source, and with `perf record` at the same frequency, by frame
 * pointers and by copies of stacks. Processor time is compared, so that others on the machine matter little,
 * and each with the one before it that was alone. Then two processes hand a byte to and fro, which is a switch
 * each, and one calls the kernel: recorded, and beside somebody who is.
 *
 *	sampling [-g]		-g: only whether goals are met
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/array.h"
#include "figures.h"
#include "source/samples/samples.h"
#include "source/samples/ticks.h"

enum { RUNS = 9, DEPTH = 12, LOOPS = 800, ROUNDS = 40000, CALLS = 1000000 };

/* BESIDE: somebody else is recorded. */
enum how { ALONE, EMPTY, SAMPLES, BESIDE, PERF_FP, PERF_DWARF, HOW_CNT };

enum {
	OF_TICKS = 1 << EMPTY | 1 << SAMPLES | 1 << PERF_FP | 1 << PERF_DWARF,
	OF_MOMENTS = 1 << SAMPLES | 1 << BESIDE
};

struct way {
	void (*fn)(void);
	unsigned int frequency;
	bool syscalls;
	unsigned int hows; /* bit N: enum how, beside ALONE */
};

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

static void call_kernel(void)
{
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
}

/* ---- one run ---- */

/* A program that does nothing, at each tick. */
static int start_empty(unsigned int frequency, struct samples_ticks *ret_ticks)
{
	static const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int program =
		bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "nothing", "GPL", nothing, ARRAY_SIZE(nothing), NULL);
	int err = program < 0 ? -errno : samples_ticks_open(ret_ticks, frequency);

	for (size_t i = 0; !err && i < ret_ticks->cnt; i++)
		err = ioctl(ret_ticks->fds[i], PERF_EVENT_IOC_SET_BPF, program) ? -errno : 0;
	if (program >= 0)
		close(program);
	return err ? err : samples_ticks_enable(ret_ticks);
}

/* Returns when it records. */
static pid_t start_perf(pid_t pid, unsigned int frequency, const char *graph)
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
		execlp("perf", "perf", "record", "-q", "-e", "cpu-clock", "-F", rate, "--call-graph", graph,
		       "-D", "-1", control, "-p", target, "-o", "/dev/null", (char *)NULL);
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

static int start_samples(const struct way *way, pid_t pid, struct samples **ret_samples)
{
	const struct samples_config config = {
		.frequency = way->frequency, .syscalls = way->syscalls, .page_faults = true};
	int err = samples_new(ret_samples, &config);

	err = err ? err : samples_add(*ret_samples, pid, false);
	return err ? err : samples_start(*ret_samples);
}

/* Processor time of the child that does it, in seconds, its own children's with it. */
static double run(const struct way *way, enum how how)
{
	CLEANUP(samples_freep) struct samples *samples = NULL;
	struct samples_ticks ticks = {0};
	struct rusage usage;
	pid_t pid, perf = 0;
	int go[2], err = 0;
	char word = 0;

	if (pipe(go))
		die("pipe", -errno);
	pid = fork();
	if (!pid) {
		if (read(go[0], &word, 1) != 1)
			_exit(1);
		way->fn();
		_exit(0);
	}
	if (how == SAMPLES || how == BESIDE)
		err = start_samples(way, how == SAMPLES ? pid : getpid(), &samples);
	else if (how == EMPTY)
		err = start_empty(way->frequency, &ticks);
	else if (how != ALONE)
		perf = start_perf(pid, way->frequency, how == PERF_FP ? "fp" : "dwarf,8192");
	if (err)
		die("sampling", err);
	err = write(go[1], &word, 1) == 1 ? 0 : -errno;
	close(go[0]);
	close(go[1]);
	if (err || wait4(pid, NULL, 0, &usage) != pid)
		die("child", err);
	samples_ticks_release(&ticks);
	if (perf) {
		kill(perf, SIGINT);
		waitpid(perf, NULL, 0);
	}
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* ---- by turns, so that what else the machine does falls on all alike ---- */

struct figures {
	double items[HOW_CNT]
		    [RUNS]; /* ALONE: seconds; else how much more than alone just before, in the unit */
};

/* `unit`: what a second more is; 0: percents of the seconds alone. */
static void measure(const struct way *way, double unit, struct figures *figures)
{
	for (int i = 0; i < RUNS; i++) {
		double alone = run(way, ALONE);

		figures->items[ALONE][i] = alone;
		for (enum how how = EMPTY; how < HOW_CNT; how++)
			if (way->hows & 1u << how)
				figures->items[how][i] =
					(run(way, how) - alone) * (unit ? unit : 100 / alone);
	}
}

static void tell_difference(const char *what, const struct figures *figures, enum how one, enum how other,
			    double bound)
{
	double differences[RUNS];

	for (int i = 0; i < RUNS; i++)
		differences[i] = figures->items[one][i] - figures->items[other][i];
	tell_goal(what, differences, RUNS, AT_MOST, bound);
}

/* Sorts them. */
static void tell_all(const struct way *way, struct figures *figures)
{
	static const char *names[HOW_CNT] = {"alone",
					     "an empty BPF program",
					     "samples",
					     "beside somebody recorded",
					     "perf record --call-graph fp",
					     "perf record --call-graph dwarf,8192"};

	for (enum how how = EMPTY; how < HOW_CNT; how++) {
		if (!(way->hows & 1u << how))
			continue;
		printf("  %-36s %8.2f", names[how], median_of(figures->items[how], RUNS));
		printf("  (%.2f to %.2f)\n", figures->items[how][0], figures->items[how][RUNS - 1]);
	}
}

static void sample_at(unsigned int frequency, bool only_goals)
{
	const struct way way = {.fn = be_busy, .frequency = frequency, .hows = OF_TICKS};
	struct figures figures;
	char what[128];

	measure(&way, 0, &figures);
	snprintf(what, sizeof(what), "%u samples a second: points above an empty BPF program", frequency);
	tell_difference(what, &figures, SAMPLES, EMPTY, 1.5);
	snprintf(what, sizeof(what), "%u samples a second: points above perf record --call-graph fp",
		 frequency);
	tell_difference(what, &figures, SAMPLES, PERF_FP, 0);
	snprintf(what, sizeof(what), "%u samples a second: points above perf record --call-graph dwarf",
		 frequency);
	tell_difference(what, &figures, SAMPLES, PERF_DWARF, 0);
	if (only_goals)
		return;
	printf("%u samples a second of a busy program: processor time, %% more than alone\n", frequency);
	tell_all(&way, &figures);
}

static void record_moments(const struct way *way, const char *what, double cnt, double bound, bool only_goals)
{
	struct figures figures;

	measure(way, 1e9 / cnt, &figures);
	tell_goal(what, figures.items[SAMPLES], RUNS, AT_MOST, bound);
	if (only_goals)
		return;
	printf("%s (%.2f us alone)\n", what, 1e6 / cnt * median_of(figures.items[ALONE], RUNS));
	tell_all(way, &figures);
}

int main(int argc, char **argv)
{
	static const unsigned int frequencies[] = {1000, 2000, 5000, 10000};
	const struct way switches = {.fn = play, .frequency = 1000, .hows = OF_MOMENTS};
	const struct way calls = {.fn = call_kernel, .frequency = 1000, .syscalls = true, .hows = OF_MOMENTS};
	bool only_goals = argc > 1 && !strcmp(argv[1], "-g");

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < ARRAY_SIZE(frequencies); i++)
		sample_at(frequencies[i], only_goals);
	record_moments(&switches, "ns more for a byte through a pipe and back, one side recorded", ROUNDS,
		       640, only_goals);
	record_moments(&calls, "ns more for a system call that is recorded", CALLS, 245, only_goals);
	return 0;
}
