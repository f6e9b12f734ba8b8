/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The intel_pt source: the processor's branch trace through perf_event_open(2). One AUX ring for each
 * processor (or thread), which the kernel overwrites all the time; each thread of the targets has an event on
 * each processor, and threads (and children, if wanted) that are born later inherit them. The kernel's
 * records say who ran where and what was mapped (model/sideband.h).
 *
 * Taking a snapshot: pt_stop(), pt_snapshot(), and pt_start() to go on.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "model/snapshot.h"
#include "source/pt/pt_caps.h"

struct pt;

struct pt_config {
	const char *sysfs; /* PT_SYSFS */
	struct pt_timing timing;
	size_t ring_size; /* of each: a power of two, a page at least; 0: 4 MiB, or what this user may lock */
	bool per_thread;  /* a ring for each thread, not for each processor */
	bool cpu_wide;	  /* trace everything that runs, on all processors */
	bool follow_forks;   /* children are targets, too */
	enum pt_scope scope; /* which code is traced */
	/*
	 * Keep everything from the start on, in temporary files. Trace that cannot be read in time is lost,
	 * and marked as such.
	 */
	bool full;
	/* A call of bpf_printk() in a traced thread pauses its trace there, if the kernel supports that. */
	bool pause;
};

/* -ENOTSUP with a sentence: no Intel PT here, or not with this timing. */
int pt_new(struct pt **ret_pt, const struct pt_config *config);

/*
 * The process is a target from now on, with all its threads, which must not run meanwhile. `at_exec`: it is a
 * child that will exec, and is traced from there; else it is traced from pt_start() on. With cpu_wide the
 * first call adds everything that runs. -errno with a sentence (pt_explain()); -ESRCH: it is gone.
 */
int pt_add(struct pt *pt, pid_t pid, bool at_exec);

/*
 * A target has a new thread, or a new child that is a target, which has not run yet. To be called with
 * per_thread. -errno with a sentence.
 */
int pt_born(struct pt *pt, pid_t pid, pid_t tid);

/*
 * Whether pt_config.pause is in effect; valid after pt_add(). After a pause pt_start() does not resume the
 * trace.
 */
bool pt_pauses(const struct pt *pt);

/* How many address filters the processor has. */
size_t pt_filter_max(const struct pt *pt);

/*
 * After pt_add(), before the trace starts: filters as PERF_EVENT_IOC_SET_FILTER takes them. -errno with a
 * sentence.
 */
int pt_set_filter(struct pt *pt, const char *filter);

int pt_start(struct pt *pt);

/* Stops the trace. `cpu` is the processor to stop first, or -1. */
int pt_stop(struct pt *pt, int cpu);

/*
 * Reads pending records, and with `full` the trace; to be called regularly, because their rings are small.
 * -ENOSPC and the like with a sentence.
 */
int pt_drain(struct pt *pt);

/* Bytes of trace in the temporary files. */
uint64_t pt_streamed(const struct pt *pt);

/*
 * After pt_stop(): appends, for each ring, an AUX trace of what was written since the last snapshot, and the
 * records since then.
 */
int pt_snapshot(struct pt *pt, struct snapshot *snapshot);

/* Fills the parameters, the clock and the source's name; appends the kernel's code where that is traced. */
int pt_describe(struct pt *pt, struct snapshot *snapshot);

void pt_free(struct pt *pt);

DEFINE_CLEANUP(struct pt *, pt_free)
