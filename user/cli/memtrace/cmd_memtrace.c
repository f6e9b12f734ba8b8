/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/complete.h"
#include "cli/memtrace/memtrace.h"

static const struct command table[] = {
	{"record", memtrace_record, "sample what a program allocates, in any language that has malloc"},
	{"dump", memtrace_dump, "every event, a line each"},
	{"stats", memtrace_stats, "what is in a trace, in figures"},
	{"hotspots", memtrace_hotspots, "which functions, lines or call paths allocate the most"},
	{"flamegraph", memtrace_flamegraph, "the same as a flame graph: a page, or folded stacks"},
	{"convert", memtrace_convert, "write a trace for timeline viewers, or the filtered part of it"},
};

static void print_help(FILE *file);

static const struct commands commands = {"trailcam memtrace", table, ARRAY_SIZE(table), print_help};

static void print_help(FILE *file)
{
	fputs("trailcam memtrace: what was allocated where? For the traces that OCaml's memtrace writes, and "
	      "its own of native programs.\n"
	      "\n"
	      "  trailcam memtrace record -- ./server                  sample the allocations of a program\n"
	      "  trailcam memtrace stats app.ctf                       what is in it\n"
	      "  trailcam memtrace hotspots app.ctf                    who allocates the most?\n"
	      "  trailcam memtrace hotspots --live --by path app.ctf   what is never collected, and who "
	      "asked for it?\n"
	      "  trailcam memtrace flamegraph -o app.html app.ctf      a page to look around in\n"
	      "  trailcam memtrace convert -o app.fxt.gz app.ctf       call stacks and live bytes over time\n"
	      "  trailcam memtrace dump --min-size 1M app.ctf          read it as text\n"
	      "\n",
	      file);
	commands_print(&commands, file);
	fputs("\nExit status: 0: done; 1: not a trace, damaged, or the result cannot be written; 2: wrong "
	      "usage.\n",
	      file);
}

int cmd_memtrace(int argc, char **argv)
{
	if (argc > 3 && !strcmp(argv[1], COMPLETE_WORD))
		return commands_complete(&commands, atoi(argv[2]) - 2, argc - 3, argv + 3);
	return commands_run(&commands, argc, argv);
}
