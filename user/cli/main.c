/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/rights.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/complete.h"
#include "cli/own_stack.h"

#define VERSION "0.1"

static const struct command table[] = {
	{"run", cmd_run, "run a program, and write the trace that leads up to a function's call"},
	{"attach", cmd_attach, "the same for running programs"},
	{"probes", cmd_probes, "list what can be a trigger in a program or library"},
	{"decode", cmd_decode, "write the trace of a recording"},
	{"report", cmd_report, "summarise a trace or a recording: hits, calls before them, functions"},
	{"view", cmd_view, "show a recording in the browser"},
	{"doctor", cmd_doctor, "test what works on this machine, and say how to enable the rest"},
	{"dump", cmd_dump, "show what is in a recording: packets, branches, slices, hits"},
	{"memtrace", cmd_memtrace,
	 "record allocations, and read allocation traces, also those of OCaml's memtrace"},
};

static void print_help(FILE *file);

static const struct commands commands = {"trailcam", table, ARRAY_SIZE(table), print_help};

static void print_help(FILE *file)
{
	fputs("trailcam: what exactly did the program do before this happened?\n"
	      "\n"
	      "  trailcam run -t main -- ls                            what ran before main()? every call\n"
	      "  trailcam run -t libc.so.6:malloc -- ls                a function in a library\n"
	      "  trailcam run --on-signal SIGSEGV -- ./server          what led up to a crash\n"
	      "  trailcam attach -p 4711 -t handle_request             a process that runs already\n"
	      "  trailcam attach -p 4711 -t handle --slower-than 5ms   its first call that is slow\n"
	      "  trailcam run --step-from main -o all.fxt.gz -- ls     no trigger: up to the program's end\n"
	      "  trailcam run -t main --keep-recording rec -- ls       keep what was recorded ...\n"
	      "  trailcam decode rec -o again.fxt.gz                   ... and decode it later, without "
	      "privileges\n"
	      "  trailcam view rec                                     ... look at it in the browser ...\n"
	      "  trailcam dump --slices rec                            ... or read it as text\n"
	      "  trailcam report all.fxt.gz                            what is in a trace, in the terminal\n"
	      "\n",
	      file);
	commands_print(&commands, file);
	fputs("\ntrailcam version says which version this is.\n", file);
}

/*
 * If a standard stream is closed, the next file that is opened would take its number, and receive what is
 * meant for the stream. So this opens it in the unused direction: reads and writes fail as they should.
 * Programs that we start get it closed.
 */
static void occupy_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC) < 0)
			return;
}

static int run(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (!strcmp(name, "version") || !strcmp(name, "--version")) {
		puts("trailcam " VERSION);
		return STATUS_OK;
	}
	/* trailcam __complete CURSOR trailcam COMMAND WORD...; see cli/complete.h. */
	if (!strcmp(name, COMPLETE_WORD))
		return argc > 4 ? commands_complete(&commands, atoi(argv[2]) - 1, argc - 4, argv + 4)
				: STATUS_OK;
	return commands_run(&commands, argc, argv);
}

/*
 * What large arrays give back goes to the system. Else glibc, which learns from the first of them that it
 * frees, would keep up to 64 MB of holes. What small ones give back stays: each piece of a trace needs as
 * much again, and the system would clear it each time.
 */
static void keep_few_holes(void)
{
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	mallopt(M_TRIM_THRESHOLD, 8 << 20);
}

static void do_nothing(int signal)
{
	(void)signal;
}

/*
 * A file that reaches the limit (ulimit -f) is an error, EFBIG, and not our end. By a handler: that the
 * signal is ignored, programs that we start would inherit.
 */
static void survive_file_limit(void)
{
	const struct sigaction action = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};
	struct sigaction before;

	if (!sigaction(SIGXFSZ, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGXFSZ, &action, NULL);
}

int main(int argc, char **argv)
{
	int err = rights_limit();

	if (err)
		return print_failure(err, STATUS_RUN_FAILED);
	occupy_standard_streams();
	keep_few_holes();
	survive_file_limit();
	return own_stack_run(run, argc, argv);
}
