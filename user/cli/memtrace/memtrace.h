/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the commands of `trailcam memtrace` share. Each is a file (memtrace_dump.c) and a row in
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

/* The header of these options in --help. */
#define MEMTRACE_INPUT_HEADER "Only allocations that"

/*
 * How a command ends that has said what is in the trace: with `err`, or where standard output or the trace
 * itself is damaged, a sentence and STATUS_FAILED; what was passed over is said, too.
 */
int memtrace_end(const struct memtrace *trace, int err);

/* "minor". */
const char *memtrace_source_name(enum memtrace_source source);
