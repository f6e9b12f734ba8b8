/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make bench: what sampling costs the program that is sampled, beside a BPF program that does nothing
 * as often and beside `perf record` at the same frequency; then what a switch and a system call cost,
 * recorded and beside somebody who is.
 *
 * On a shared machine the noise is larger than what is measured. A hyperthread's neighbour slows
 * everything by a factor of nearly two, for milliseconds or for minutes; others push the caches out;
 * all of that only adds time. So
 *
 * - a worker on one processor does the same work in turns of some ms. It has a real-time priority, so
 *   nobody interrupts it, and its processor time is what counts;
 * - a turn at a frequency is compared with the turns alone just before and just after it, which have
 *   the same neighbours. The median of these ratios is not moved by the turns in which the neighbours
 *   change;
 * - a switch and a system call cost much more than the noise, but their programs take too long to load
 *   for that. There the shortest turn of each kind counts, and a ratio to empty programs at the same
 *   hooks and ticks;
 * - the figures come from each of PARTS parts of the turns, which are spread over the whole time: the
 *   median of the parts is the result, and how far they are apart is how much it can be trusted.
 *
 * The worker has a deep stack of which the upper end changes, and frame pointers, so that each of
 * perf's call graphs is whole.
 *
 * What cannot be less, measured by leaving out all else: two readings of the clock at a system call are
 * 1.8 times empty programs; two readings and three bare records at a switch with its wake-up 1.95 times.
 * A tick that copies the worker's 13 KB of stack and makes no use of them costs 1.0 us more than an empty
 * one, which is 1.0 points at 10 kHz. To find and write what has changed costs 2.0 us more. Without that,
 * 10 kHz would fill a ring of 64 MB in half a second.
 *
 *	sampling [-g]		-g: only whether goals are met
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/array.h"
#include "figures.h"
#include "source/samples/samples.h"
#include "source/samples/ticks.h"

enum { ROUNDS = 12, TURNS = 6, TURN_CNT = ROUNDS * TURNS, PARTS = 3 };

/* A turn takes 8 to 20 ms alone. */
enum { DEPTH = 64, LEAF = 11, LOOPS = 2700, BYTES = 2000, CALLS = 50000 };

/*
 * Before a turn of switches: after a rest, a thread has a stack taken at each of its first 64 ones, 6 us
 * each, then 1,000 a second.
 */
enum { FIRST_BYTES = 200 };

/* BESIDE: somebody else is recorded. The samples source is loaded from SAMPLES on. */
enum how { ALONE, EMPTY, PERF_FP, PERF_DWARF, SAMPLES, BESIDE, HOW_CNT };

enum {
	OF_TICKS = 1 << EMPTY | 1 << PERF_FP | 1 << PERF_DWARF | 1 << SAMPLES,
	OF_MOMENTS = 1 << ALONE | 1 << EMPTY | 1 << SAMPLES | 1 << BESIDE
};

enum { HOOKS = 2, PERFS = 2 };

struct way {
	char work; /* 'b'usy, 's'witches, 'c'alls */
	unsigned int frequency;
	bool syscalls;
	unsigned int hows;	  /* bit N: enum how */
	const char *hooks[HOOKS]; /* where empty programs are; none: at ticks */
	double cnt;		  /* of what is counted in a turn */
};

/* ---- the work ---- */

#define WITH_FRAME_POINTER \
	__attribute__((noinline, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))

static volatile unsigned long sink;

static WITH_FRAME_POINTER unsigned long recur(int n)
{
	volatile unsigned long frame[4] = {(unsigned long)n};

	for (int i = 0; i < 20; i++)
		sink += frame[0];
	return n < 2 ? 1 : recur(n - 1) + recur(n - 2) + frame[0] % 2;
}

static WITH_FRAME_POINTER void be_busy(int depth)
{
	volatile unsigned long frame[8] = {(unsigned long)depth, (unsigned long)&sink};

	if (depth)
		be_busy(depth - 1);
	for (int i = 0; !depth && i < LOOPS; i++)
		sink += recur(LEAF);
	sink += frame[0];
}

/* A thread on the same processor that sends each byte back. */
struct partner {
	int there[2], back[2]; /* pipes */
};

static void *send_back(void *arg)
{
	const struct partner *partner = arg;
	char byte;

	while (read(partner->there[0], &byte, 1) == 1 && write(partner->back[1], &byte, 1) == 1)
		;
	return NULL;
}

static void start_partner(struct partner *partner)
{
	pthread_t thread;

	if (pipe(partner->there) || pipe(partner->back) || pthread_create(&thread, NULL, send_back, partner))
		_exit(1);
}

static void play(const struct partner *partner, int bytes)
{
	char byte = 0;

	for (int i = 0; i < bytes; i++)
		if (write(partner->there[1], &byte, 1) != 1 || read(partner->back[0], &byte, 1) != 1)
			_exit(1);
}

static void call_kernel(void)
{
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
}

/* ---- the worker: does what it is told, and answers how long that took ---- */

struct worker {
	pid_t pid;
	int orders, answers;
};

static void work(int orders, int answers)
{
	static struct partner partner;
	uint64_t ns;
	char order;

	start_partner(&partner);
	while (read(orders, &order, 1) == 1) {
		if (order == 's')
			play(&partner, FIRST_BYTES);
		ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		if (order == 'b')
			be_busy(DEPTH);
		else if (order == 's')
			play(&partner, BYTES);
		else
			call_kernel();
		ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - ns;
		if (write(answers, &ns, sizeof(ns)) != sizeof(ns))
			break;
	}
	_exit(0);
}

/* On the last processor, before everybody else. */
static void take_processor(void)
{
	const struct sched_param first = {.sched_priority = 1};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)sysconf(_SC_NPROCESSORS_ONLN) - 1, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || sched_setscheduler(0, SCHED_FIFO, &first))
		die("worker", -errno);
}

static void start_worker(struct worker *ret_worker)
{
	int orders[2], answers[2];
	pid_t pid;

	if (pipe(orders) || pipe(answers))
		die("pipe", -errno);
	pid = fork();
	if (!pid) {
		close(orders[1]);
		close(answers[0]);
		take_processor();
		work(orders[0], answers[1]);
	}
	close(orders[0]);
	close(answers[1]);
	*ret_worker = (struct worker){.pid = pid, .orders = orders[1], .answers = answers[0]};
}

static void stop_worker(const struct worker *worker)
{
	close(worker->orders);
	waitpid(worker->pid, NULL, 0);
	close(worker->answers);
}

static double ask(const struct worker *worker, const struct way *way)
{
	uint64_t ns;

	if (write(worker->orders, &way->work, 1) != 1 || read(worker->answers, &ns, sizeof(ns)) != sizeof(ns))
		die("worker", -EIO);
	return (double)ns;
}

/* ---- peers ---- */

static int load_empty(enum bpf_prog_type type)
{
	static const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int program = bpf_prog_load(type, "nothing", "GPL", nothing, ARRAY_SIZE(nothing), NULL);

	if (program < 0)
		die("an empty BPF program", -errno);
	return program;
}

/* A program that does nothing, at each tick; disabled. */
static void open_empty(unsigned int frequency, struct samples_ticks *ret_ticks)
{
	int program = load_empty(BPF_PROG_TYPE_PERF_EVENT), err = samples_ticks_open(ret_ticks, frequency);

	for (size_t i = 0; !err && i < ret_ticks->cnt; i++)
		err = ioctl(ret_ticks->fds[i], PERF_EVENT_IOC_SET_BPF, program) ? -errno : 0;
	close(program);
	if (err)
		die("an empty BPF program", err);
}

struct perf {
	pid_t pid;
	int orders, answers;
};

/* Disabled. */
static void start_perf(struct perf *perf, pid_t pid, unsigned int frequency, const char *graph)
{
	char target[16], rate[16], control[48];
	int orders[2], answers[2];

	if (pipe(orders) || pipe(answers))
		die("pipe", -errno);
	perf->pid = fork();
	if (!perf->pid) {
		snprintf(target, sizeof(target), "%d", pid);
		snprintf(rate, sizeof(rate), "%u", frequency);
		snprintf(control, sizeof(control), "--control=fd:%d,%d", orders[0], answers[1]);
		execlp("perf", "perf", "record", "-q", "-e", "cpu-clock", "-F", rate, "--call-graph", graph,
		       "-D", "-1", control, "-p", target, "-o", "/dev/null", (char *)NULL);
		_exit(127);
	}
	close(orders[0]);
	close(answers[1]);
	perf->orders = orders[1];
	perf->answers = answers[0];
}

static void tell_perf(const struct perf *perf, const char *order)
{
	char answer[8];

	if (write(perf->orders, order, strlen(order)) != (ssize_t)strlen(order) ||
	    read(perf->answers, answer, sizeof(answer)) < 4)
		die("perf record", -EIO);
}

static void stop_perf(const struct perf *perf)
{
	kill(perf->pid, SIGINT);
	waitpid(perf->pid, NULL, 0);
	close(perf->orders);
	close(perf->answers);
}

/* ---- turns ---- */

struct turns {
	struct worker worker;
	struct samples_ticks empty;
	struct perf perfs[PERFS];
	struct samples *samples;
	int hook_program;
};

static double turn_samples(const struct turns *turns, const struct way *way, pid_t pid)
{
	int err = samples_add(turns->samples, pid, false);
	double ns;

	if (!err)
		err = samples_start(turns->samples);
	if (err)
		die("samples", err);
	ns = ask(&turns->worker, way);
	samples_stop(turns->samples);
	samples_drop(turns->samples, pid);
	return ns;
}

static double turn_perf(const struct turns *turns, const struct way *way, const struct perf *perf)
{
	double ns;

	tell_perf(perf, "enable\n");
	ns = ask(&turns->worker, way);
	tell_perf(perf, "disable\n");
	return ns;
}

static double turn_empty(const struct turns *turns, const struct way *way)
{
	int links[HOOKS] = {-1, -1};
	double ns;

	samples_ticks_enable(&turns->empty);
	for (int i = 0; i < HOOKS && way->hooks[i]; i++)
		links[i] = bpf_raw_tracepoint_open(way->hooks[i], turns->hook_program);
	ns = ask(&turns->worker, way);
	samples_ticks_disable(&turns->empty);
	for (int i = 0; i < HOOKS && way->hooks[i]; i++)
		close(links[i]);
	return ns;
}

/* Its processor time, in ns. */
static double turn(const struct turns *turns, const struct way *way, enum how how)
{
	if (how == EMPTY)
		return turn_empty(turns, way);
	if (how == PERF_FP || how == PERF_DWARF)
		return turn_perf(turns, way, &turns->perfs[how - PERF_FP]);
	if (how == SAMPLES || how == BESIDE)
		return turn_samples(turns, way, how == SAMPLES ? turns->worker.pid : getpid());
	return ask(&turns->worker, way);
}

/* Of each turn: of ticks, % more than alone just before and after it; else its ns. */
struct figures {
	double items[HOW_CNT][TURN_CNT];
};

static void take_turns(const struct turns *turns, const struct way *way, enum how first, enum how end,
		       int round, struct figures *figures)
{
	double before = turn(turns, way, ALONE), after, ns;

	for (int i = 0; i < TURNS; i++)
		for (enum how how = first; how < end; how++) {
			double *figure = &figures->items[how][round * TURNS + i];

			if (!(way->hows >> how & 1))
				continue;
			ns = *figure = turn(turns, way, how);
			if (way->hooks[0])
				continue;
			after = turn(turns, way, ALONE);
			*figure = 100 * (2 * ns / (before + after) - 1);
			before = after;
		}
}

static void measure(const struct way *way, struct figures *figures)
{
	static const char *const graphs[PERFS] = {"fp", "dwarf,8192"};
	const struct samples_config config = {
		.frequency = way->frequency, .syscalls = way->syscalls, .page_faults = true};
	struct turns turns = {.hook_program = load_empty(BPF_PROG_TYPE_RAW_TRACEPOINT)};
	int err;

	start_worker(&turns.worker);
	for (int i = 0; i < PERFS && !way->hooks[0]; i++)
		start_perf(&turns.perfs[i], turns.worker.pid, way->frequency, graphs[i]);
	for (int round = 0; round < ROUNDS; round++) {
		open_empty(way->frequency, &turns.empty);
		take_turns(&turns, way, ALONE, SAMPLES, round, figures);
		samples_ticks_release(&turns.empty);
		err = samples_new(&turns.samples, &config);
		if (err)
			die("samples", err);
		take_turns(&turns, way, SAMPLES, HOW_CNT, round, figures);
		samples_free(turns.samples);
	}
	for (int i = 0; i < PERFS && !way->hooks[0]; i++)
		stop_perf(&turns.perfs[i]);
	close(turns.hook_program);
	stop_worker(&turns.worker);
}

/* ---- figures ---- */

static const char *const names[HOW_CNT] = {"alone",
					   "empty BPF programs",
					   "perf record --call-graph fp",
					   "perf record --call-graph dwarf,8192",
					   "recorded",
					   "beside somebody recorded"};

enum pick { LEAST, MEDIAN };

/* One figure of each part. */
static void pick(const struct figures *figures, enum how how, enum pick which, double ret_parts[static PARTS])
{
	for (int part = 0; part < PARTS; part++) {
		double items[TURN_CNT];
		size_t cnt = 0;

		for (int i = 0; i < TURN_CNT; i++)
			if (i / TURNS % PARTS == part)
				items[cnt++] = figures->items[how][i];
		ret_parts[part] = median_of(items, cnt);
		if (which == LEAST)
			ret_parts[part] = items[0];
	}
}

static void tell(const char *what, double *parts)
{
	printf("  %-36s %8.2f", what, median_of(parts, PARTS));
	printf("  (%.2f to %.2f)\n", parts[0], parts[PARTS - 1]);
}

static void tell_points(unsigned int frequency, const double parts[HOW_CNT][PARTS], enum how peer,
			double bound)
{
	double differences[PARTS];
	char what[128];

	for (int i = 0; i < PARTS; i++)
		differences[i] = parts[SAMPLES][i] - parts[peer][i];
	snprintf(what, sizeof(what), "%u samples a second: points above %s", frequency, names[peer]);
	tell_goal(what, differences, PARTS, AT_MOST, bound);
}

static void sample_at(unsigned int frequency, bool only_goals)
{
	const struct way way = {.work = 'b', .frequency = frequency, .hows = OF_TICKS};
	static struct figures figures;
	double parts[HOW_CNT][PARTS];

	measure(&way, &figures);
	for (enum how how = EMPTY; how <= SAMPLES; how++)
		pick(&figures, how, MEDIAN, parts[how]);
	tell_points(frequency, parts, EMPTY, 1.5);
	tell_points(frequency, parts, PERF_FP, 0);
	tell_points(frequency, parts, PERF_DWARF, 0);
	if (only_goals)
		return;
	printf("%u samples a second of a busy program: processor time, %% more than alone\n", frequency);
	for (enum how how = EMPTY; how <= SAMPLES; how++)
		tell(names[how], parts[how]);
}

/* How many times as much as empty programs. */
static void tell_times(const char *what, const double parts[HOW_CNT][PARTS], enum how how, double bound)
{
	double times[PARTS];
	char line[128];

	for (int i = 0; i < PARTS; i++)
		times[i] = parts[how][i] / parts[EMPTY][i];
	snprintf(line, sizeof(line), "%s, %s: times empty programs", what, names[how]);
	tell_goal(line, times, PARTS, AT_MOST, bound);
}

struct moments {
	struct way way;
	const char *what;
	double bound_ns, bound_times, bound_beside;
};

static void record_moments(const struct moments *moments, bool only_goals)
{
	const struct way *way = &moments->way;
	static struct figures figures;
	double parts[HOW_CNT][PARTS], copy[PARTS];
	char what[128];

	measure(way, &figures);
	for (enum how how = ALONE; how < HOW_CNT; how++) {
		if (!(way->hows >> how & 1))
			continue;
		pick(&figures, how, LEAST, parts[how]);
		for (int i = 0; i < PARTS; i++)
			parts[how][i] = parts[how][i] / way->cnt - (how == ALONE ? 0 : parts[ALONE][i]);
	}
	tell_times(moments->what, parts, SAMPLES, moments->bound_times);
	tell_times(moments->what, parts, BESIDE, moments->bound_beside);
	snprintf(what, sizeof(what), "%s, recorded: ns more", moments->what);
	memcpy(copy, parts[SAMPLES], sizeof(copy));
	tell_goal(what, copy, PARTS, AT_MOST, moments->bound_ns);
	if (only_goals)
		return;
	printf("%s: ns, and how many more than alone\n", moments->what);
	for (enum how how = ALONE; how < HOW_CNT; how++)
		if (way->hows >> how & 1)
			tell(names[how], parts[how]);
}

int main(int argc, char **argv)
{
	static const unsigned int frequencies[] = {1000, 2000, 5000, 10000};
	static const struct moments moments[] = {
		{.way = {'s', 1000, false, OF_MOMENTS, {"sched_switch", "sched_waking"}, 2 * BYTES},
		 .what = "a context switch, by a byte in a pipe",
		 .bound_ns = 640,
		 .bound_times = 2.8,
		 .bound_beside = 1.2},
		{.way = {'c', 1000, true, OF_MOMENTS, {"sys_enter", "sys_exit"}, CALLS},
		 .what = "a system call",
		 .bound_ns = 245,
		 .bound_times = 2.0,
		 .bound_beside = 1.2},
	};
	bool only_goals = argc > 1 && !strcmp(argv[1], "-g");

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < ARRAY_SIZE(frequencies); i++)
		sample_at(frequencies[i], only_goals);
	for (size_t i = 0; i < ARRAY_SIZE(moments); i++)
		record_moments(&moments[i], only_goals);
	return 0;
}
