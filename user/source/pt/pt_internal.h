/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the intel_pt source share (pt.c, pt_events.c, pt_take.c). Nobody else includes it. */
#pragma once

#include <stdio.h>

#include "model/record_list.h"
#include "source/pt/pt.h"
#include "source/pt_event.h"
#include "source/pt_ring.h"

/* Of records, in each area. */
enum { DATA_SIZE = 128 << 10 };

/* Memory that events write to: a processor's (pid and tid are -1), or a thread's (cpu is -1). */
struct pt_area {
	int cpu;
	pid_t pid, tid;
	bool ended; /* the thread */
	int owner;  /* the event whose memory it is, or -1 */
	struct pt_event_map map;
	struct pt_taken taken;
	FILE *stream;	  /* pt_config.full: what was read ... */
	uint64_t bytes;	  /* ... so much ... */
	uint64_t *losses; /* ... and where parts are missing */
	size_t loss_cnt, loss_cap;
	bool truncated; /* the event is to be enabled again */
};

/* An event of a thread on a processor, or, with memory of its own, on all. */
struct pt_fd {
	int fd, cpu;
	pid_t area_tid; /* with cpu: says which memory */
	bool is_trace;
};

struct pt {
	struct pt_config config;
	struct pt_caps caps;
	uint64_t pt_config; /* perf_event_attr.config */
	struct pt_area *areas;
	size_t area_cnt, area_cap;
	struct pt_fd *fds;
	size_t fd_cnt, fd_cap;
	struct record_list records;
	uint64_t lost;		  /* records */
	bool stopped;		  /* by pt_stop() */
	bool started_by_exec;	  /* of the target that was added */
	char *filter;		  /* pt_set_filter(); or NULL */
	struct trace_clock clock; /* mult 0: not read yet */
	int printk_id;		  /* of the tracepoint that pauses; negative: nothing does */
};

/* ---- pt_events.c ---- */

/*
 * Events for a thread, on all processors or, with per_thread, in memory of its own; tid -1: for whoever runs.
 * They are off, but for `at_exec`. -errno without a sentence (pt_explain()); -ESRCH: it is gone.
 */
int pt_events_add(struct pt *pt, pid_t pid, pid_t tid, bool at_exec);

/*
 * Those from the first-th on: turns on their traces; gives them the filter, if there is one. -errno with a
 * sentence.
 */
int pt_events_enable(const struct pt *pt, size_t first);
int pt_events_filter(const struct pt *pt, size_t first);

/*
 * The memory of threads that have ended is given up, the longest dead first, while there is more than so
 * much. What was streamed is kept.
 */
void pt_events_give_up_ended(struct pt *pt, size_t max);

void pt_events_release(struct pt *pt);
