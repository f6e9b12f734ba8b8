/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make bench: what a hit costs the program, and how soon user space knows of it, side by side with perf's
 * hardware breakpoint used as magic-trace uses it (a sample with registers, a wakeup for each). A child on
 * one processor calls a function every 100 us and times each call; the parent waits on another one. Medians
 * of each round; the table shows the median round and the spread.
 */
#include <linux/bpf.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture/hit_stacks.h"
#include "condition/condition.h"
#include "condition/condition_tree.h"
#include "figures.h"
#include "trigger/trigger.h"
#include "trigger/uprobe_multi.h"

enum { ROUNDS = 5, CALLS = 1500, GAP_NS = 100000 };

/* Between parent and child. */
struct shared {
	volatile int go, done;
	volatile uint64_t called_ns; /* when the call at hand began */
	volatile uint64_t call;	     /* its number, from 1 on */
	double cost_ns[CALLS];
};

static struct shared *shared;

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* ---- the program ---- */

/* Begins with an instruction that uprobes emulate, as functions with a frame pointer do. */
__asm__(".pushsection .text\n"
	".globl bench_target\n"
	".type bench_target, @function\n"
	"bench_target:\n"
	"	push %rbp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size bench_target, . - bench_target\n"
	".popsection\n");
struct pointed_to {
	long numbers[6];
	const char *text;
};
void bench_target(long a, const struct pointed_to *b);

/* What is printed without --print of a function with such parameters. */
static const char values[] =
	"arg0, arg1, *arg1, arg1[1], arg1[2], arg1[3], arg1[4], arg1[5], str(arg1[6], 64)";

static void child(void)
{
	const struct pointed_to pointed_to = {{1, 2, 3, 4, 5, 6}, "/a/path/as/they/are"};

	pin_to(1);
	while (!shared->go)
		;
	for (int i = 0; i < CALLS; i++) {
		uint64_t start, next = now_ns() + GAP_NS;

		shared->call = (uint64_t)i + 1;
		shared->called_ns = start = now_ns();
		bench_target(i, &pointed_to);
		shared->cost_ns[i] = (double)(now_ns() - start);
		while (now_ns() < next)
			;
	}
	shared->done = 1;
	for (;;)
		pause();
}

static pid_t start_child(void)
{
	pid_t pid;

	*shared = (struct shared){0};
	pid = fork();
	if (!pid)
		child();
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
}

/* ---- ways to know ---- */

struct result {
	double cost_ns, latency_ns; /* latency 0: not measured */
};

static double latencies[CALLS];

/* The parent has just learnt of the call at hand. */
static void note(size_t *cnt)
{
	if (*cnt < CALLS)
		latencies[(*cnt)++] = (double)(now_ns() - shared->called_ns);
}

static struct result result_of(size_t latency_cnt)
{
	return (struct result){median_of(shared->cost_ns, CALLS), median_of(latencies, latency_cnt)};
}

static struct result bare(void)
{
	pid_t pid = start_child();

	shared->go = 1;
	while (!shared->done)
		usleep(1000);
	end_child(pid);
	return result_of(0);
}

/* A probe with a program that does nothing. */
static struct result empty_probe(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = (enum bpf_attach_type)UPROBE_MULTI_ATTACH_TYPE);
	struct uprobe_multi multi = {.path = "/proc/self/exe", .cnt = 1};
	struct trigger trigger;
	struct result result;
	uint64_t zero = 0;
	int link, err = trigger_resolve(&trigger, "bench_target", "/proc/self/exe", HIT_RECORD);

	if (err)
		die("resolve", err);
	multi.prog_fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "GPL", insns, 2, &opts);
	multi.offsets = &trigger.probes[0].file_offset;
	multi.cookies = multi.ref_ctr_offsets = &zero;
	multi.pid = start_child();
	err = uprobe_multi_open(&link, &multi);
	if (err)
		die("attach", err);
	shared->go = 1;
	while (!shared->done)
		usleep(1000);
	result = result_of(0);
	close(link);
	close(multi.prog_fd);
	end_child(multi.pid);
	trigger_release(&trigger);
	return result;
}

static int ignore(void *ctx, struct trigger_hit *hit)
{
	(void)hit;
	++*(int *)ctx;
	return 0;
}

enum way { WAY_NONE, WAY_SPIN, WAY_WAKE };

static struct result ours(const char *when, const char *print, uint32_t action, enum way way,
			  uint32_t stack_bytes)
{
	struct trigger trigger;
	struct trigger_config config = {
		.triggers = &trigger, .trigger_cnt = 1, .pid = start_child(), .stack_bytes = stack_bytes};
	struct pollfd pollfd = {.events = POLLIN};
	struct trigger_set *set;
	struct result result;
	size_t cnt = 0;
	int seen = 0, err = trigger_resolve(&trigger, "bench_target", "/proc/self/exe", action);

	if (!err && when)
		err = condition_parse(&trigger.rule.condition, when);
	if (!err && print)
		err = prints_parse(&trigger.rule.prints, print);
	if (!err && print)
		trigger.rule.prints->is_automatic = true;
	if (!err)
		err = trigger_set_attach(&set, &config);
	if (err)
		die("attach", err);
	pollfd.fd = trigger_set_fd(set);
	shared->go = 1;
	while (!shared->done) {
		if (way == WAY_WAKE && poll(&pollfd, 1, 10) <= 0)
			continue;
		if (way == WAY_NONE)
			usleep(500);
		if (!trigger_set_pending(set))
			continue;
		if (way != WAY_NONE)
			note(&cnt);
		trigger_set_read(set, ignore, &seen);
	}
	result = result_of(cnt);
	trigger_set_free(set);
	end_child(config.pid);
	trigger_release(&trigger);
	return result;
}

/* The hit stops the thread; whoever traces it is told by waitpid(2). */
static struct result frozen(void)
{
	struct trigger trigger;
	struct trigger_config config = {
		.triggers = &trigger, .trigger_cnt = 1, .pid = start_child(), .freeze = true};
	struct trigger_set *set;
	struct result result;
	size_t cnt = 0;
	int seen = 0, status, err = trigger_resolve(&trigger, "bench_target", "/proc/self/exe", HIT_STOP);

	if (!err)
		err = trigger_set_attach(&set, &config);
	if (err)
		die("attach", err);
	ptrace(PTRACE_SEIZE, config.pid, NULL, NULL);
	shared->go = 1;
	while (!shared->done) {
		if (waitpid(config.pid, &status, __WALL | WNOHANG) <= 0)
			continue;
		note(&cnt);
		trigger_set_read(set, ignore, &seen);
		ptrace(PTRACE_CONT, config.pid, NULL, NULL);
	}
	result = result_of(cnt);
	trigger_set_free(set);
	end_child(config.pid);
	trigger_release(&trigger);
	return result;
}

/* perf's hardware breakpoint, as magic-trace sets it: user registers in a sample, a wakeup for each. */
static struct result breakpoint(bool spin)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = (uintptr_t)bench_target,
		.bp_len = sizeof(long),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER,
		.sample_regs_user = 1 << 4 | 1 << 5, /* PERF_REG_X86_SI, DI */
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.wakeup_events = 1,
		.precise_ip = 2,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *ring;
	struct pollfd pollfd = {.events = POLLIN};
	struct result result;
	size_t cnt = 0;
	pid_t pid = start_child();

	pollfd.fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (pollfd.fd < 0)
		die("breakpoint", -errno);
	ring = mmap(NULL, 9 * page, PROT_READ | PROT_WRITE, MAP_SHARED, pollfd.fd, 0);
	if (ring == MAP_FAILED)
		die("breakpoint", -errno);
	shared->go = 1;
	while (!shared->done) {
		uint64_t head;

		if (!spin && poll(&pollfd, 1, 10) <= 0)
			continue;
		head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
		if (head == ring->data_tail)
			continue;
		note(&cnt);
		__atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
	}
	result = result_of(cnt);
	munmap(ring, 9 * page);
	close(pollfd.fd);
	end_child(pid);
	return result;
}

/* ---- the table ---- */

enum row {
	ROW_BARE,
	ROW_EMPTY,
	ROW_FALSE,
	ROW_RECORD,
	ROW_COPY,
	ROW_VALUES,
	ROW_SPIN,
	ROW_FREEZE,
	ROW_WAKE,
	ROW_BREAKPOINT,
	ROW_BREAKPOINT_SPIN,
	ROW_CNT,
};

static const char *const names[ROW_CNT] = {
	[ROW_BARE] = "no probe",
	[ROW_EMPTY] = "bare probe (a program that does nothing)",
	[ROW_FALSE] = "trigger with a false --when",
	[ROW_RECORD] = "hit recorded (registers), nobody woken",
	[ROW_COPY] = "... with a copy of the stack, as run and attach do",
	[ROW_VALUES] = "... and typed values: 2 parameters, 6 fields, a text",
	[ROW_SPIN] = "hit, user space spins",
	[ROW_FREEZE] = "hit, --freeze: the thread is stopped",
	[ROW_WAKE] = "hit, user space is woken",
	[ROW_BREAKPOINT] = "perf hardware breakpoint, woken (magic-trace's)",
	[ROW_BREAKPOINT_SPIN] = "perf hardware breakpoint, user space spins",
};

static struct result measure(enum row row)
{
	switch (row) {
	case ROW_BARE:
		return bare();
	case ROW_EMPTY:
		return empty_probe();
	case ROW_FALSE:
		return ours("arg0 == 123456 && arg1 == 3", NULL, HIT_RECORD, WAY_NONE, 0);
	case ROW_RECORD:
		return ours(NULL, NULL, HIT_RECORD, WAY_NONE, 0);
	case ROW_COPY:
		return ours(NULL, NULL, HIT_RECORD, WAY_NONE, HIT_STACKS_BYTES_MANY);
	case ROW_VALUES:
		return ours(NULL, values, HIT_RECORD, WAY_NONE, HIT_STACKS_BYTES_MANY);
	case ROW_SPIN:
		return ours(NULL, NULL, HIT_RECORD, WAY_SPIN, HIT_STACKS_BYTES_MANY);
	case ROW_FREEZE:
		return frozen();
	case ROW_WAKE:
		return ours(NULL, NULL, HIT_STOP, WAY_WAKE, HIT_STACKS_BYTES_MANY);
	default:
		return breakpoint(row == ROW_BREAKPOINT_SPIN);
	}
}

static struct result report(const char *name, const struct result *rounds)
{
	double cost[ROUNDS], latency[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		cost[i] = rounds[i].cost_ns;
		latency[i] = rounds[i].latency_ns;
	}
	median_of(cost, ROUNDS);
	median_of(latency, ROUNDS);
	printf("  %-48s %8.0f (%.0f to %.0f)", name, cost[ROUNDS / 2], cost[0], cost[ROUNDS - 1]);
	if (latency[ROUNDS / 2] > 0)
		printf("   %8.0f (%.0f to %.0f)", latency[ROUNDS / 2], latency[0], latency[ROUNDS - 1]);
	putchar('\n');
	return (struct result){cost[ROUNDS / 2], latency[ROUNDS / 2]};
}

int main(void)
{
	static struct result rounds[ROW_CNT][ROUNDS];
	struct result rows[ROW_CNT];

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		puts("triggers: left out, they need two processors");
		return 0;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("memory", -errno);
	pin_to(0);
	/* Round by round, so that what else the machine does falls on all alike. */
	for (int i = 0; i < ROUNDS; i++)
		for (enum row row = 0; row < ROW_CNT; row++)
			rounds[row][i] = measure(row);
	puts("triggers: ns that a call of the probed function takes, and ns from its beginning until user "
	     "space knows");
	for (enum row row = 0; row < ROW_CNT; row++)
		rows[row] = report(names[row], rounds[row]);
	printf("  a false condition costs %.0f ns more than the bare probe\n",
	       rows[ROW_FALSE].cost_ns - rows[ROW_EMPTY].cost_ns);
	printf("  a hit costs 1/%.1f of the breakpoint's; user space knows in 1/%.1f of its time\n",
	       (rows[ROW_BREAKPOINT].cost_ns - rows[ROW_BARE].cost_ns) /
		       (rows[ROW_COPY].cost_ns - rows[ROW_BARE].cost_ns),
	       rows[ROW_BREAKPOINT].latency_ns / rows[ROW_SPIN].latency_ns);
	return 0;
}
