/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/array.h"
#include "cli/cli.h"

#define VERSION "0.1"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{"run", cmd_run, "run a program, and write the trace that led up to a function's call"},
	{"attach", cmd_attach, "the same for programs that run already"},
	{"probes", cmd_probes, "list what can be a trigger in a program or library"},
	{"decode", cmd_decode, "write the trace of a recording"},
	{"report", cmd_report, "say what is in a trace or a recording: hits, calls before them, functions"},
	{"doctor", cmd_doctor, "what works on this machine, and what would change the rest"},
	{"dump", cmd_dump, "show what is in a recording: packets, branches, slices, hits"},
};

static void print_help(FILE *file)
{
	fputs("trailcam: what exactly did the program do before this happened?\n"
	      "\n"
	      "  trailcam run -t compress_block -- gzip -c file        what led up to the first "
	      "compress_block()?\n"
	      "  trailcam run -t libc.so.6:malloc -- ls                a function in a library\n"
	      "  trailcam attach -p 4711 -t handle_request             a process that runs already\n"
	      "  trailcam run -o all.fxt.gz -- ls                      no trigger: the end of the program\n"
	      "  trailcam run -t main --keep-recording rec -- ls       keep what was recorded ...\n"
	      "  trailcam decode rec -o again.fxt.gz                   ... and decode it later, without "
	      "privileges\n"
	      "  trailcam dump --slices rec                            ... or read it as text\n"
	      "  trailcam report all.fxt.gz                            what is in a trace, in the terminal\n"
	      "\n"
	      "Commands (trailcam COMMAND --help says more):\n",
	      file);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(file, "  %-8s %s\n", commands[i].name, commands[i].summary);
}

static int unknown_command(const char *name)
{
	fprintf(stderr, "trailcam: there is no command '%s'; the commands are", name);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(stderr, "%s %s", i ? "," : "", commands[i].name);
	fputs(" (trailcam --help shows examples)\n", stderr);
	return STATUS_USAGE;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name) {
		print_help(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "help") || !strcmp(name, "-h")) {
		print_help(stdout);
		return STATUS_OK;
	}
	if (!strcmp(name, "--version")) {
		puts("trailcam " VERSION);
		return STATUS_OK;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(name, commands[i].name))
			continue;
		return commands[i].run(argc - 1, argv + 1);
	}
	return unknown_command(name);
}
