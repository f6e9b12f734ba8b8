/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The intel_pt source: the processor's branch trace through perf_event_open(2). One AUX ring for each
 * processor (or thread), which the kernel overwrites all the time; each thread of the targets has an event on
 * each processor, and threads (and children, if wanted) that are born later inherit them. Who ran where, and
 * what was mapped, the kernel tells as records (model/sideband.h).
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
	bool cpu_wide;	  /* whatever runs on any processor is traced */
	bool follow_forks;   /* children are targets, too */
	enum pt_scope scope; /* which code is traced */
	/*
	 * Everything from the start on is kept, in temporary files, as long as it can be read in time; what
	 * cannot is lost, and known to be.
	 */
	bool full;
	/* A call of bpf_printk() in a traced thread ends its trace there, where the kernel can do that. */
	bool pause;
};

/* -ENOTSUP with a sentence: no Intel PT here, or not with this timing. */
int pt_new(struct pt **ret_pt, const struct pt_config *config);

/*
 * The process is a target from now on, with all threads it has, which must not run meanwhile. `at_exec`: it
 * is a child that will exec, and is traced from there; else it is traced from pt_start() on. With cpu_wide
 * the first call adds whatever runs. -errno with a sentence (pt_explain()); -ESRCH: it is gone.
 */
int pt_add(struct pt *pt, pid_t pid, bool at_exec);

/*
 * A thread has been born to a target, or a child that is one, and has not run yet: with per_thread it is to
 * be told of. -errno with a sentence.
 */
int pt_born(struct pt *pt, pid_t pid, pid_t tid);

/*
 * Whether the wish for a pause came true; valid after pt_add(). After a pause pt_start() does not make the
 * trace go on.
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

/* Nothing is written any more. `cpu` is the processor to begin with, or -1. */
int pt_stop(struct pt *pt, int cpu);

/*
 * Takes in the records that wait, and with `full` the trace; to be called now and then, for their room is
 * small. -ENOSPC and the like with a sentence.
 */
int pt_drain(struct pt *pt);

/* Bytes of trace in the temporary files. */
uint64_t pt_streamed(const struct pt *pt);

/*
 * After pt_stop(): appends an AUX trace for each processor's ring, of what was written since the last
 * snapshot, and the records since then.
 */
int pt_snapshot(struct pt *pt, struct snapshot *snapshot);

/* Fills the parameters, the clock and the source's name; appends the kernel's code where that is traced. */
int pt_describe(struct pt *pt, struct snapshot *snapshot);

void pt_free(struct pt *pt);

DEFINE_CLEANUP(struct pt *, pt_free)
