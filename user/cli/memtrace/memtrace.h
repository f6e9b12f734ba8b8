/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the commands of `trailcam memtrace`. Each is a file (memtrace_dump.c) and a row in
 * cmd_memtrace.c's table.
 */
#pragma once

#include <argp.h>

#include "heap/trace.h"

int memtrace_dump(int argc, char **argv);
int memtrace_stats(int argc, char **argv);
int memtrace_hotspots(int argc, char **argv);
int memtrace_flamegraph(int argc, char **argv);
int memtrace_convert(int argc, char **argv);
int memtrace_record(int argc, char **argv);

/* The trace to read, and which of its allocations. */
struct memtrace_input {
	const char *path;
	struct memtrace_filter filter;
};

/* TRACE and the filters, as a child of each command's argp. Its input is a struct memtrace_input, all 0. */
extern const struct argp memtrace_input_argp;

/* No more than that. */
extern const struct argp_child memtrace_input_children[];

/* The header of these options in --help. */
#define MEMTRACE_INPUT_HEADER "Only allocations that"

/*
 * Ends a command after its output: prints what was skipped. If `err` is set, standard output failed, or the
 * trace is damaged, prints a sentence and returns STATUS_FAILED.
 */
int memtrace_end(const struct memtrace *trace, int err);
