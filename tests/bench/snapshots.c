/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make bench: what thousands of snapshots in one run take of memory and disk, beside what the user allowed
 * them. The program that is recorded is this one again: it calls a function, each call is a snapshot, and
 * after the first and after the last it waits until somebody has looked at how large the process is that
 * records it. Calls and limits differ from row to row. Usage: snapshots TRAILCAM
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "figures.h"
#include "process/proc_status.h"
#include "recording/recording.h"

/* ---- the program ---- */

void bench_target(long n);

__attribute__((noinline)) void bench_target(long n)
{
	for (volatile long i = 0; i < n; i++)
		;
}

/* Says who records it, and waits. */
static void be_looked_at(void)
{
	pid_t recorder = getppid();
	char go;

	if (write(STDOUT_FILENO, &recorder, sizeof(recorder)) != sizeof(recorder) ||
	    read(STDIN_FILENO, &go, 1) != 1)
		exit(1);
}

static int run_program(long calls)
{
	for (long i = 1; i <= calls; i++) {
		bench_target(10);
		if (i == 1 || i == calls)
			be_looked_at();
	}
	return 0;
}

/* ---- one run ---- */

#define SNAPSHOT_SIZE "4k"
#define MAX_SIZE      "256k"

enum { SNAPSHOT_BYTES = 4 << 10, MAX_SIZE_BYTES = 256 << 10 };

struct run {
	const char *name, *calls;
	const char *options[8];
	/* may end before the last call: then the recorder is doing something else by that time */
	bool limited;
};

/* In bytes. */
struct cost {
	size_t hits;
	double held;  /* by how much the recorder grew from the first snapshot to the last */
	double peak;  /* of its memory, the trace's decoding included */
	double trace; /* packets */
	double recording, file;
};

struct peer {
	pid_t pid;
	int in, out;
};

static void exec_trailcam(const char *const *argv, int in, int out)
{
	int null = open("/dev/null", O_WRONLY);

	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execv(argv[0], (char *const *)argv);
	_exit(1);
}

static struct peer start(const char *const *argv)
{
	struct peer peer;
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		die("pipe", -errno);
	peer = (struct peer){.pid = fork(), .in = in[1], .out = out[0]};
	if (!peer.pid)
		exec_trailcam(argv, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	return peer;
}

/* The program waits for that. */
static double recorder_size(const struct peer *peer)
{
	uint64_t kilobytes;
	pid_t recorder;

	if (read(peer->out, &recorder, sizeof(recorder)) != sizeof(recorder))
		die("nothing was recorded", -ESRCH);
	if (proc_status_number(recorder, "VmRSS", 10, &kilobytes) || write(peer->in, "", 1) != 1)
		die("the recorder", -ESRCH);
	return (double)kilobytes * 1024;
}

/* The peak of all processes that it has started. */
static double finish(const struct peer *peer)
{
	struct rusage usage;
	int status;

	if (wait4(peer->pid, &status, 0, &usage) != peer->pid || status)
		die("trailcam failed", -ECHILD);
	close(peer->in);
	close(peer->out);
	return (double)usage.ru_maxrss * 1024;
}

static void look_at_recording(const char *path, struct cost *cost)
{
	struct snapshot *snapshot;
	int err = recording_load(&snapshot, path);

	if (err)
		die("recording", err);
	cost->hits = snapshot->hits->cnt;
	for (size_t i = 0; i < snapshot->aux_cnt; i++)
		cost->trace += (double)snapshot->aux[i].size;
	snapshot_free(snapshot);
}

static double take_file(int dir_fd, const char *name)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, 0) || unlinkat(dir_fd, name, 0))
		die(name, -errno);
	return (double)st.st_size;
}

/* Removes it and says how large it was. */
static double take_dir(const char *path)
{
	DIR *dir = opendir(path);
	double size = 0;

	if (!dir)
		die(path, -errno);
	for (struct dirent *entry; (entry = readdir(dir));)
		if (entry->d_name[0] != '.')
			size += take_file(dirfd(dir), entry->d_name);
	closedir(dir);
	rmdir(path);
	return size;
}

static void run_trailcam(const char *const *argv, const struct run *run, struct cost *cost)
{
	struct peer peer = start(argv);
	double first = recorder_size(&peer);

	if (strcmp(run->calls, "1"))
		cost->held = recorder_size(&peer) - first;
	cost->peak = finish(&peer);
}

static struct cost measure(const char *trailcam, const char *self, const struct run *run)
{
	char dir[] = "/tmp/trailcam-bench-XXXXXX", recording[64], file[64];
	const char *argv[32] = {trailcam,	    "run",	  "-t",	     "bench_target",
				"--multi-snapshot", "--max-hits", "1000000", "--keep-recording",
				recording,	    "-o",	  file};
	const char *const program[] = {"--", self, "--program", run->calls};
	struct cost cost = {0};
	size_t cnt = 11;

	if (!mkdtemp(dir))
		die("mkdtemp", -errno);
	snprintf(recording, sizeof(recording), "%s/rec", dir);
	snprintf(file, sizeof(file), "%s/x.fxt.gz", dir);
	for (size_t i = 0; i < ARRAY_SIZE(run->options) && run->options[i]; i++)
		argv[cnt++] = run->options[i];
	for (size_t i = 0; i < ARRAY_SIZE(program); i++)
		argv[cnt++] = program[i];
	run_trailcam(argv, run, &cost);
	look_at_recording(recording, &cost);
	cost.recording = take_dir(recording);
	cost.file = take_file(AT_FDCWD, file);
	rmdir(dir);
	return cost;
}

/* ---- the table ---- */

enum row { ROW_ONE, ROW_FEW, ROW_MANY, ROW_LIMITED, ROW_HIT, ROW_HITS, ROW_CNT };

#define STEP "--source", "step", "--step-from", "bench_target", "--snapshot-size", SNAPSHOT_SIZE
#define NONE "--source", "none", "--freeze"

static const struct run runs[ROW_CNT] = {
	[ROW_ONE] = {"1 call", "1", {STEP}, false},
	[ROW_FEW] = {"1,000 calls", "1000", {STEP}, false},
	[ROW_MANY] = {"10,000 calls", "10000", {STEP}, false},
	[ROW_LIMITED] = {"10,000 calls, --max-size " MAX_SIZE, "10000", {STEP, "--max-size", MAX_SIZE}, true},
	[ROW_HIT] = {"1 call, no branches", "1", {NONE}, false},
	[ROW_HITS] = {"10,000 calls, no branches, --max-size " MAX_SIZE,
		      "10000",
		      {NONE, "--max-size", MAX_SIZE},
		      true},
};

static void report(const struct run *run, const struct cost *cost)
{
	printf("  %-46s %6zu %8.2f", run->name, cost->hits, cost->trace / 1e6);
	if (run->limited)
		printf(" %8s", "");
	else
		printf(" %8.2f", cost->held / 1e6);
	printf(" %8.2f %9.2f %8.2f\n", cost->peak / 1e6, cost->recording / 1e6, cost->file / 1e6);
}

static void report_growth(const struct cost *few, const struct cost *many)
{
	double cnt = (double)many->hits;

	printf("  from 1,000 to 10,000: %.1f times the memory, %.1f times the recording\n",
	       many->held / few->held, many->recording / few->recording);
	printf("  a snapshot: %.0f bytes of packets (--snapshot-size allows %d), %.0f in memory, %.0f on "
	       "disk\n",
	       many->trace / cnt, SNAPSHOT_BYTES, many->held / cnt, many->recording / cnt);
}

/* What the snapshots took, beside what they were allowed. */
static void report_limit(const struct run *run, const struct cost *cost, const struct cost *one)
{
	printf("  %s: %.1f times that in memory, %.1f times on disk\n", run->name + strlen("10,000 calls, "),
	       (cost->peak - one->peak) / MAX_SIZE_BYTES,
	       (cost->recording - one->recording) / MAX_SIZE_BYTES);
}

int main(int argc, char **argv)
{
	struct cost costs[ROW_CNT];

	if (argc == 3 && !strcmp(argv[1], "--program"))
		return run_program(strtol(argv[2], NULL, 10));
	if (argc != 2) {
		fputs("usage: snapshots TRAILCAM\n", stderr);
		return 2;
	}
	puts("snapshots: what those of one run take (--snapshot-size " SNAPSHOT_SIZE "), MB");
	printf("  %-46s %6s %8s %8s %8s %9s %8s\n", "", "hits", "packets", "memory", "peak", "recording",
	       "trace");
	for (enum row row = 0; row < ROW_CNT; row++) {
		costs[row] = measure(argv[1], argv[0], &runs[row]);
		report(&runs[row], &costs[row]);
	}
	report_growth(&costs[ROW_FEW], &costs[ROW_MANY]);
	report_limit(&runs[ROW_LIMITED], &costs[ROW_LIMITED], &costs[ROW_ONE]);
	report_limit(&runs[ROW_HITS], &costs[ROW_HITS], &costs[ROW_HIT]);
	return 0;
}
