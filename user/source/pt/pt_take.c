/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel has written: records, and the rings or streams of trace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "source/pt/pt_internal.h"
#include "source/pt/pt_sideband.h"

struct drain {
	struct pt *pt;
	struct pt_area *area;
};

/* PERF_RECORD_EXIT: u32 pid, ppid, tid, ptid */
static bool is_end_of(const struct perf_event_header *record, pid_t tid)
{
	uint32_t ids[3];

	if (record->type != PERF_RECORD_EXIT || record->size < sizeof(*record) + sizeof(ids))
		return false;
	memcpy(ids, record + 1, sizeof(ids));
	return (pid_t)ids[2] == tid;
}

static int on_record(void *ctx, const struct perf_event_header *record)
{
	const struct drain *drain = ctx;

	if (record->type == PERF_RECORD_LOST)
		drain->pt->lost += pt_ring_lost(record);
	drain->area->truncated |= pt_ring_is_truncated(record);
	drain->area->ended |= is_end_of(record, drain->area->tid);
	if (record->type == PERF_RECORD_MMAP2)
		return pt_sideband_add_mapping(&drain->pt->records, record);
	return record_list_add(&drain->pt->records, record);
}

/* The trace stopped when its ring was full, and begins again here. */
static int restart(struct pt *pt, struct pt_area *area)
{
	int err = ARRAY_PUSH(area->losses, area->loss_cnt, area->loss_cap, area->bytes);

	area->truncated = false;
	for (size_t i = 0; i < pt->fd_cnt && !err && !pt->stopped; i++)
		if (pt->fds[i].is_trace && pt->fds[i].cpu == area->cpu && pt->fds[i].area_tid == area->tid)
			err = pt_event_enable(pt->fds[i].fd);
	return err;
}

static int drain_stream(struct pt *pt, struct pt_area *area)
{
	ssize_t got = pt_ring_stream(&area->map, area->stream);

	if (got < 0)
		return fail_errno((int)got, "cannot write the trace to a temporary file (TMPDIR)");
	area->bytes += (uint64_t)got;
	return area->truncated ? restart(pt, area) : 0;
}

int pt_drain(struct pt *pt)
{
	for (size_t i = 0; i < pt->area_cnt; i++) {
		struct pt_area *area = &pt->areas[i];
		struct drain drain = {pt, area};
		int err = area->owner < 0 ? 0 : pt_ring_records(&area->map, on_record, &drain);

		if (err)
			return fail(err, "the kernel's records of processor %d cannot be read", area->cpu);
		err = area->owner >= 0 && area->stream ? drain_stream(pt, area) : 0;
		if (err)
			return err;
	}
	return 0;
}

uint64_t pt_streamed(const struct pt *pt)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < pt->area_cnt; i++)
		bytes += pt->areas[i].bytes;
	return bytes;
}

/* ---- snapshots ---- */

static int add_aux(struct snapshot *snapshot, const struct pt_area *area, const struct aux_trace *from)
{
	struct aux_trace *aux = snapshot_add_aux(snapshot);

	if (!aux)
		return -ENOMEM;
	*aux = *from;
	aux->pid = area->pid;
	aux->tid = area->tid;
	aux->cpu = area->cpu;
	aux->ref_tsc = trace_first_tsc(aux->bytes, aux->size, __rdtsc());
	return 0;
}

static int take_ring(struct snapshot *snapshot, struct pt_area *area)
{
	struct aux_trace aux = {0};
	bool round;
	int err = pt_ring_take(&area->map, &area->taken, &aux.bytes, &aux.size, &round);

	if (err)
		return err;
	aux.offset = round ? aux.size : 0;
	err = aux.size ? add_aux(snapshot, area, &aux) : 0;
	if (err || !aux.size)
		free(aux.bytes);
	return err;
}

/* A part that begins after a loss. Parts begin at any offset, so they cannot be mapped. */
static int take_part(struct snapshot *snapshot, const struct pt_area *area, uint64_t begin, uint64_t end)
{
	struct aux_trace aux = {.offset = begin, .size = end - begin, .continues = begin};
	ssize_t got;
	int err;

	if (begin == end)
		return 0;
	aux.bytes = malloc(aux.size);
	if (!aux.bytes)
		return -ENOMEM;
	got = pread(fileno(area->stream), aux.bytes, aux.size, (off_t)begin);
	err = got == (ssize_t)aux.size ? add_aux(snapshot, area, &aux)
				       : fail_errno(got < 0 ? -errno : -EIO,
						    "cannot read the trace's temporary file (TMPDIR)");
	if (err)
		free(aux.bytes);
	return err;
}

/* All of it, in one piece. */
static int take_whole(struct snapshot *snapshot, const struct pt_area *area)
{
	struct aux_trace aux = {.size = area->bytes, .is_mapped = true};
	int err;

	aux.bytes = mmap(NULL, aux.size, PROT_READ, MAP_PRIVATE, fileno(area->stream), 0);
	if (aux.bytes == MAP_FAILED)
		return fail_errno(-errno, "cannot map the trace's temporary file (TMPDIR)");
	err = add_aux(snapshot, area, &aux);
	if (err)
		munmap(aux.bytes, aux.size);
	return err;
}

/* All of it, cut where something is missing. */
static int take_stream(struct snapshot *snapshot, struct pt_area *area)
{
	uint64_t begin = 0;
	int err = 0;

	if (fflush(area->stream))
		return fail_errno(-errno, "cannot write the trace to a temporary file (TMPDIR)");
	if (area->bytes && !area->loss_cnt)
		return take_whole(snapshot, area);
	for (size_t i = 0; i <= area->loss_cnt && !err; i++) {
		uint64_t end = i < area->loss_cnt ? area->losses[i] : area->bytes;

		err = take_part(snapshot, area, begin, end);
		begin = end;
	}
	return err;
}

int pt_snapshot(struct pt *pt, struct snapshot *snapshot)
{
	int err = pt_drain(pt);

	for (size_t i = 0; i < pt->area_cnt && !err; i++) {
		struct pt_area *area = &pt->areas[i];

		if (area->owner >= 0)
			err = area->stream ? take_stream(snapshot, area) : take_ring(snapshot, area);
		for (size_t j = 0; j < area->loss_cnt; j++)
			log_debug("processor %d: trace lost at byte %llu", area->cpu,
				  (unsigned long long)area->losses[j]);
	}
	pt_events_give_up_ended(pt, 0);
	if (pt->lost)
		log_warn("the kernel lost %llu records of what ran where: parts of the trace may be missing",
			 (unsigned long long)pt->lost);
	pt->lost = 0;
	return err ? err : record_list_take(&pt->records, snapshot);
}
