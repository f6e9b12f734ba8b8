/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the text of `perf script`: branches of Intel PT, sampled call stacks, counted events. magic-trace
 * asks for these fields:
 *
 *	perf script --ns --itrace=bep -F pid,tid,time,flags,ip,addr,sym,symoff,synth,dso,event,period
 *
 * (tools/perf/builtin-script.c, util/event.h: PERF_IP_FLAG_*.)
 */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "model/branch.h"
#include "model/symbol.h"
#include "stacks/stacks.h"

/* Times (and TSCs) are in nanoseconds, from the text. */
struct perf_script_thread {
	int32_t pid, tid;
	struct branch_list branches; /* a gap's detail is the index of its message */
	struct known_stack *samples;
	size_t sample_cnt, sample_cap;
};

/* A counted event: one line for every `period` of them. A frequency has its MHz as period. */
struct perf_script_count {
	size_t name; /* index */
	int32_t pid, tid;
	uint64_t time_ns, period;
};

struct perf_script {
	struct perf_script_thread *threads;
	size_t thread_cnt, thread_cap;
	struct perf_script_count *counts;
	size_t count_cnt, count_cap;
	char **names; /* of counted events */
	size_t name_cnt, name_cap;
	char **messages; /* of decode errors */
	size_t message_cnt, message_cap;
	uint64_t first_ns; /* the earliest time of all lines */
	struct perf_script_symbols *symbols;
};

/* Whether the file looks like text of perf script. */
bool perf_script_is(const char *path);

/*
 * 0, or with a sentence that names the file: -errno of open(2) and read(2); -EBADMSG: no events in it, or
 * more than a few lines that perf script does not write. A single unknown line (perf's format grows) gives a
 * warning, and a gap in its thread.
 */
int perf_script_load(struct perf_script **ret_script, const char *path);
void perf_script_free(struct perf_script *script);

/* The function at an address of the text; never NULL. Thread-safe. */
const struct symbol *perf_script_symbol_at(const struct perf_script *script, uint64_t ip);

DEFINE_CLEANUP(struct perf_script *, perf_script_free)
