/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One event on each processor for all processes: an event that follows one process would be needed for each
 * of its threads. Mappings and execs are rare, so other processes cost little.
 */
#include "source/mapping_events.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "model/record_list.h"
#include "model/sideband.h"
#include "source/pt_event.h"
#include "source/pt_ring.h"

enum { DATA_SIZE = 64 << 10 };

struct mapping_events {
	pid_t pid;
	struct cpu_events {
		int fd;
		struct pt_event_map map;
	} * cpus;
	size_t cpu_cnt, cpu_cap;
	struct record_list records;
	bool lost; /* something, of whomever */
};

static int open_cpu(struct mapping_events *events, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = SIDEBAND_SAMPLE_TYPE,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	struct cpu_events own = {.fd = pt_event_open(&attr, -1, cpu, -1)};
	int err;

	if (own.fd == -ENODEV) /* the processor is off */
		return 0;
	if (own.fd < 0)
		return fail_errno(own.fd, "cannot follow the mappings of a process");
	err = pt_event_map(own.fd, DATA_SIZE, 0, false, &own.map);
	if (!err && !ARRAY_PUSH(events->cpus, events->cpu_cnt, events->cpu_cap, own))
		return 0;
	pt_event_unmap(&own.map);
	close(own.fd);
	return fail_errno(err ? err : -ENOMEM, "cannot follow the mappings of a process");
}

int mapping_events_open(struct mapping_events **ret_events, pid_t pid)
{
	CLEANUP(mapping_events_closep) struct mapping_events *events = calloc(1, sizeof(*events));
	long cpu_cnt = sysconf(_SC_NPROCESSORS_CONF);
	int err = events ? 0 : -ENOMEM;

	for (int cpu = 0; cpu < cpu_cnt && !err; cpu++)
		err = open_cpu(events, cpu);
	if (err)
		return err;
	events->pid = pid;
	*ret_events = TAKE_PTR(events);
	return 0;
}

/* Both kinds of record begin with the process (linux/perf_event.h). */
static int keep(void *ctx, const struct perf_event_header *record)
{
	struct mapping_events *events = ctx;
	const struct {
		struct perf_event_header header;
		uint32_t pid;
	} *head = (const void *)record;

	events->lost = events->lost || record->type == PERF_RECORD_LOST;
	if ((record->type != PERF_RECORD_MMAP2 && record->type != PERF_RECORD_COMM) ||
	    head->pid != (uint32_t)events->pid)
		return 0;
	return record_list_add(&events->records, record);
}

int mapping_events_take(struct mapping_events *events, struct snapshot *snapshot, bool *ret_lost)
{
	events->lost = false;
	for (size_t i = 0; i < events->cpu_cnt; i++)
		if (pt_ring_records(&events->cpus[i].map, keep, events) == -ENOMEM)
			return -ENOMEM;
	*ret_lost = events->lost;
	return record_list_take(&events->records, snapshot);
}

void mapping_events_close(struct mapping_events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->cpu_cnt; i++) {
		pt_event_unmap(&events->cpus[i].map);
		close(events->cpus[i].fd);
	}
	free(events->cpus);
	record_list_release(&events->records);
	free(events);
}
