/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/edit_distance.h"
#include "cli/cli.h"
#include "cli/complete.h"

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
	{"view", cmd_view, "show a recording in the browser"},
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
	      "  trailcam view rec                                     ... look at it in the browser ...\n"
	      "  trailcam dump --slices rec                            ... or read it as text\n"
	      "  trailcam report all.fxt.gz                            what is in a trace, in the terminal\n"
	      "\n"
	      "Commands (trailcam COMMAND --help says more):\n",
	      file);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(file, "  %-8s %s\n", commands[i].name, commands[i].summary);
}

static const char *similar_command(const char *name)
{
	const char *best = NULL;
	size_t best_distance = 1 + strlen(name) / 3;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		size_t distance = edit_distance(name, commands[i].name);

		if (distance > best_distance || (best && distance == best_distance))
			continue;
		best = commands[i].name;
		best_distance = distance;
	}
	return best;
}

static int unknown_command(const char *name)
{
	const char *similar = similar_command(name);

	fprintf(stderr, "trailcam: there is no command '%s'; the commands are", name);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(stderr, "%s %s", i ? "," : "", commands[i].name);
	if (similar)
		fprintf(stderr, "; did you mean '%s'?", similar);
	fputs(" (trailcam --help shows examples)\n", stderr);
	return STATUS_USAGE;
}

/* argv: trailcam __complete CURSOR trailcam COMMAND WORD...; see cli/complete.h. */
static int complete(int argc, char **argv)
{
	bool is_command = argc > 4 && atoi(argv[2]) == 1;

	for (size_t i = 0; argc > 4 && i < ARRAY_SIZE(commands); i++) {
		const struct command *command = &commands[i];

		if (is_command) {
			if (!strncmp(command->name, argv[4], strlen(argv[4])))
				printf("%s\t%s\n", command->name, command->summary);
		} else if (!strcmp(command->name, argv[4])) {
			argv[4] = argv[2];
			argv[3] = argv[1];
			return command->run(argc - 2, argv + 2);
		}
	}
	return STATUS_OK;
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
	if (!strcmp(name, COMPLETE_WORD))
		return complete(argc, argv);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(name, commands[i].name))
			continue;
		return commands[i].run(argc - 1, argv + 1);
	}
	return unknown_command(name);
}
