/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make bench: what `trailcam memtrace record` costs: a pair of malloc() and free() of 64 bytes, in a loop, on
 * a processor of its own; then whole programs. Beside it an empty BPF program where most tools put their
 * probes: on the first instruction of malloc and free, and on malloc's return. Usage: recording TRAILCAM
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/array.h"
#include "base/file/path.h"
#include "elf/elf_file.h"
#include "figures.h"
#include "probe/exits/exits.h"
#include "probe/site.h"
#include "source/alloc/recorder.h"
#include "trigger/uprobe_multi.h"

enum { ROUNDS = 5, RUNS = 5, PROGRAM_ARGS_MAX = 16 };

struct shared {
	volatile int go, done;
	volatile long pairs;
	volatile double pair_ns;
};

static struct shared *shared;

static double now_ns(void)
{
	return (double)clock_ns(CLOCK_MONOTONIC);
}

/* ---- a pair ---- */

static void child(void)
{
	cpu_set_t set;
	double start;

	CPU_ZERO(&set);
	CPU_SET(1, &set);
	sched_setaffinity(0, sizeof(set), &set);
	while (!shared->go)
		;
	start = now_ns();
	for (long i = 0; i < shared->pairs; i++) {
		void *volatile address = malloc(64);

		free(address);
	}
	shared->pair_ns = (now_ns() - start) / (double)shared->pairs;
	shared->done = 1;
	for (;;)
		pause();
}

static pid_t start_child(long pairs)
{
	pid_t pid;

	*shared = (struct shared){.pairs = pairs};
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

static double bare(long pairs)
{
	pid_t pid = start_child(pairs);

	shared->go = 1;
	while (!shared->done)
		usleep(1000);
	end_child(pid);
	return shared->pair_ns;
}

static int empty_program(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = (enum bpf_attach_type)UPROBE_MULTI_ATTACH_TYPE);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "GPL", insns, 2, &opts);
}

static uint64_t offset_of(struct elf_file *file, const char *name)
{
	const struct elf_symbol *symbol;
	uint64_t offset;

	if (!elf_file_find(file, name, &symbol, 1) || elf_file_offset(file, symbol->addr, &offset))
		die(name, -ENOENT);
	return offset;
}

/* As naive tools do. */
static double first_instructions(long pairs)
{
	const uint64_t zero[2] = {0};
	CLEANUP(freep) char *libc = NULL;
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	uint64_t offsets[2];
	struct uprobe_multi multi = {.offsets = offsets, .cookies = zero, .ref_ctr_offsets = zero, .cnt = 2};
	int entry, at_return, err = elf_library_find("/proc/self/exe", "libc.so.6", &libc);
	pid_t pid;

	if (!err)
		err = elf_file_open(&file, libc);
	if (err)
		die("libc", err);
	offsets[0] = offset_of(file, "malloc");
	offsets[1] = offset_of(file, "free");
	multi.path = libc;
	multi.prog_fd = empty_program();
	multi.pid = pid = start_child(pairs);
	err = uprobe_multi_open(&entry, &multi);
	multi.cnt = 1;
	multi.at = UPROBE_RETURN;
	if (!err)
		err = uprobe_multi_open(&at_return, &multi);
	if (err)
		die("uprobes", err);
	shared->go = 1;
	while (!shared->done)
		usleep(1000);
	close(at_return);
	close(entry);
	close(multi.prog_fd);
	end_child(pid);
	return shared->pair_ns;
}

/* As operator new is probed: where the kernel emulates, and on the return instructions. */
static double return_instructions(long pairs)
{
	enum { EXITS_MAX = 64 };
	const uint64_t zero[EXITS_MAX + 2] = {0};
	CLEANUP(freep) char *libc = NULL;
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	CLEANUP(exits_release) struct exits exits = {0};
	const struct elf_symbol *symbol;
	uint64_t offsets[EXITS_MAX + 2];
	struct uprobe_multi multi = {.offsets = offsets, .cookies = zero, .ref_ctr_offsets = zero, .cnt = 2};
	int link, err = elf_library_find("/proc/self/exe", "libc.so.6", &libc);

	if (!err)
		err = elf_file_open(&file, libc);
	for (size_t i = 0; i < 2 && !err; i++)
		err = elf_file_find(file, i ? "free" : "malloc", &symbol, 1)
			      ? elf_file_offset(file, site_cheapest(file, symbol, 1, true).addr, &offsets[i])
			      : -ENOENT;
	if (!err && elf_file_find(file, "malloc", &symbol, 1))
		err = exits_find(file, symbol->addr, &exits);
	for (size_t i = 0; i < exits.cnt && i < EXITS_MAX && !err; i++)
		if (exits.items[i].kind == EXIT_RETURN)
			err = elf_file_offset(file, exits.items[i].addr, &offsets[multi.cnt++]);
	multi.path = libc;
	multi.prog_fd = empty_program();
	multi.pid = start_child(pairs);
	if (!err)
		err = uprobe_multi_open(&link, &multi);
	if (err)
		die("uprobes", err);
	shared->go = 1;
	while (!shared->done)
		usleep(1000);
	close(link);
	close(multi.prog_fd);
	end_child(multi.pid);
	return shared->pair_ns;
}

static int ignore(void *ctx, const struct alloc *alloc, const struct alloc_stack *stack)
{
	(void)alloc;
	(void)stack;
	++*(uint64_t *)ctx;
	return 0;
}

static double recorded(long pairs, uint64_t interval, uint32_t stack_bytes)
{
	struct alloc_recorder_config config = {
		.pid = start_child(pairs),
		.is_running = true,
		.exe = "/proc/self/exe",
		.interval_bytes = interval,
		.stack_bytes = stack_bytes,
		.live_max = 1 << 20,
		.sampler = ALLOC_SAMPLER_UPROBES,
	};
	struct alloc_recorder *recorder;
	uint64_t cnt = 0;
	int err = alloc_recorder_new(&recorder, &config);

	if (err)
		die("recorder", err);
	shared->go = 1;
	while (!shared->done) {
		alloc_recorder_read(recorder, ignore, &cnt);
		usleep(1000);
	}
	alloc_recorder_free(recorder);
	end_child(config.pid);
	return shared->pair_ns;
}

static double sampled(long pairs)
{
	return recorded(pairs, 512 << 10, 32 << 10);
}

static double sampled_densely(long pairs)
{
	return recorded(pairs, 8 << 10, 32 << 10);
}

static double everything(long pairs)
{
	return recorded(pairs, 1, 0);
}

static void pairs(void)
{
	static const struct {
		const char *name;
		double (*run)(long pairs);
		long pairs;
	} rows[] = {
		{"not recorded", bare, 5000000},
		{"an empty program on each first instruction and return", first_instructions, 20000},
		{"an empty program on emulated ones and return instructions", return_instructions, 20000},
		{"memtrace record, interval 512k", sampled, 300000},
		{"memtrace record, interval 8k", sampled_densely, 300000},
		{"memtrace record, every allocation, frame pointers", everything, 200000},
	};
	double first = 0;

	printf("malloc(64) and free(), ns a pair: median of %d (best)\n", ROUNDS);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		double ns[ROUNDS], middle;

		for (size_t j = 0; j < ROUNDS; j++)
			ns[j] = rows[i].run(rows[i].pairs);
		middle = median_of(ns, ROUNDS);
		if (!i)
			first = middle;
		printf("  %-60s %9.1f (%.1f)  x%.0f\n", rows[i].name, middle, ns[0], middle / first);
	}
}

/* ---- programs ---- */

static double run_seconds(char *const argv[])
{
	double start = now_ns();
	pid_t pid = fork();
	int status;

	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return status ? 0 : (now_ns() - start) / 1e9;
}

static double median_seconds(char *const argv[])
{
	double seconds[RUNS];

	for (size_t i = 0; i < RUNS; i++)
		seconds[i] = run_seconds(argv);
	return median_of(seconds, RUNS);
}

/* argv after the words of trailcam, if there are some. */
static double timed(const char *const *words, const char *const *argv)
{
	char *all[PROGRAM_ARGS_MAX + 16];
	size_t cnt = 0;

	for (; words && *words; words++)
		all[cnt++] = (char *)*words;
	for (; *argv; argv++)
		all[cnt++] = (char *)*argv;
	all[cnt] = NULL;
	return median_seconds(all);
}

static void programs(const char *trailcam)
{
	const char *const record[] = {trailcam, "memtrace", "record", "-o", "/tmp/bench.ctf", "--", NULL};
	const char *const dense[] = {trailcam, "memtrace",	 "record", "--interval", "8k",
				     "-o",     "/tmp/bench.ctf", "--",	   NULL};
	static const char *const argvs[][PROGRAM_ARGS_MAX] = {
		{"/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus", "-quiet", "-O2", "/tmp/bench.ii", "-o",
		 "/dev/null"},
		{"/usr/bin/perl", "-e", "my %h; $h{$_ % 50000} .= 'x' x 20 for 1..1000000"},
		{"sqlite3", ":memory:",
		 "with recursive c(x) as (select 1 union all select x+1 from c where x < 300000) "
		 "select count(distinct hex(x)) from c"},
	};

	if (system("printf '#include <map>\\n#include <regex>\\nstd::map<int, std::regex> m;\\n"
		   "bool f(const char *s) { return std::regex_match(s, m[0]); }\\n' | "
		   "g++-12 -E -x c++ - -o /tmp/bench.ii"))
		die("g++", -ENOENT);
	printf("\nwhole programs, seconds: median of %d\n  %-12s %12s %14s %14s\n", RUNS, "", "not recorded",
	       "interval 512k", "interval 8k");
	for (size_t i = 0; i < ARRAY_SIZE(argvs); i++) {
		double plain = timed(NULL, argvs[i]), usual = timed(record, argvs[i]),
		       often = timed(dense, argvs[i]);

		printf("  %-12s %12.3f %7.3f (x%.2f) %7.3f (x%.2f)\n", path_name(argvs[i][0]), plain, usual,
		       usual / plain, often, often / plain);
	}
	unlink("/tmp/bench.ii");
	unlink("/tmp/bench.ctf");
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pairs();
	programs(argv[1]);
	return 0;
}
