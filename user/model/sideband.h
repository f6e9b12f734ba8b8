/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sideband: which thread ran which code, where and when. It has the form of perf's own records
 * (linux/perf_event.h, "enum perf_event_type"), so perf reads our recordings and we read perf's. Each record
 * ends in the sample_id trailer for sample_type IP|TID|TIME|CPU|IDENTIFIER (sample_id_all):
 *
 *	u32 pid, tid; u64 time; u32 cpu, 0; u64 id;		SIDEBAND_ID_BYTES = 32
 */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "model/snapshot.h"

enum { SIDEBAND_ID_BYTES = 32, SIDEBAND_EVENT_ID = 1 };

#define SIDEBAND_SAMPLE_TYPE \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

struct sideband_trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t id;
};

_Static_assert(sizeof(struct sideband_trailer) == SIDEBAND_ID_BYTES, "as sample_type says");

/* An executable mapping, as PERF_RECORD_MMAP2 describes it. */
struct sideband_mapping {
	uint64_t addr, size, file_offset;
	uint32_t maj, min; /* device */
	uint64_t ino;
	const char *name; /* path, "[vdso]", "//anon" */
};

/* Whether a mapping of this name is of a file; "//anon" is not. */
static inline bool sideband_is_file(const char *name)
{
	return name[0] == '/' && name[1] != '/';
}

/* What a source tells of a thread that the session does not trace. */
enum thread_life_kind {
	THREAD_BORN,
	THREAD_ENDED,
	THREAD_REPLACED, /* another thread than the leader has exec'd, and is the leader now */
	THREAD_MAPPED,	 /* its process has new code; told of any thread */
};

struct thread_life {
	enum thread_life_kind kind;
	int32_t pid, tid;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	const char *name; /* as it is called then */
};

/* One parsed record. `name` and mapping.name point into the record's bytes. */
struct sideband_record {
	/*
	 * PERF_RECORD_MMAP2, _COMM, _FORK, _EXIT, _SWITCH (also for SWITCH_CPU_WIDE), _ITRACE_START;
	 * sideband_next() skips others
	 */
	uint32_t type;
	int32_t pid, tid;		/* SWITCH: the thread that is switched */
	int32_t cpu;			/* the processor that recorded it */
	int32_t parent_pid, parent_tid; /* FORK */
	uint64_t time_ns;
	int exec;			 /* COMM: set by exec */
	int out;			 /* SWITCH: the thread stops running ... */
	int preempted;			 /* ... but was runnable */
	const char *name;		 /* COMM */
	struct sideband_mapping mapping; /* MMAP2 */
};

/* Append to snapshot->sideband. 0 or -ENOMEM; names longer than 4000 bytes are cut. */
int sideband_add_mmap(struct snapshot *snapshot, int32_t pid, int32_t tid, uint64_t time_ns,
		      const struct sideband_mapping *mapping);
int sideband_add_comm(struct snapshot *snapshot, int32_t pid, int32_t tid, uint64_t time_ns, const char *comm,
		      int exec);
/* PERF_RECORD_FORK or PERF_RECORD_EXIT */
int sideband_add_task(struct snapshot *snapshot, uint32_t type, int32_t pid, int32_t tid, int32_t parent_pid,
		      int32_t parent_tid, uint64_t time_ns);

/*
 * Iterates; set *pos to 0 before the first call. 1: *ret_record is the next known record; 0: the end.
 * -EBADMSG with a sentence: the next record is malformed (size, missing terminator).
 */
int sideband_next(const struct snapshot *snapshot, size_t *pos, struct sideband_record *ret_record);
