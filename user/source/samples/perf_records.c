/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All events of a processor write to one ring. What a record belongs to says its identifier, which is that of
 * the event that was opened, also where a child of it counts.
 */
#include "source/samples/perf_records.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arch/arch.h"
#include "base/array.h"
#include "model/sample.h"
#include "source/pt_ring.h"

enum { ABI_64 = 2 };

/* ---- records (linux/perf_event.h, "PERF_RECORD_SAMPLE" and "struct sample_id") ---- */

/* Ends each record that is no sample. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
	uint64_t id;
};

/* An event that was counted; a tick goes on. */
struct count {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
	uint64_t period; /* unless it is fixed */
};

_Static_assert(ARCH_SAMPLED_CNT == __builtin_popcountll(ARCH_PERF_GENERAL), "a tick has what a sample keeps");

struct tick {
	struct count begin;
	uint64_t abi;
	uint64_t regs[ARCH_SAMPLED_CNT]; /* if abi is not 0 */
	uint64_t stack_size;
	uint8_t stack[]; /* then how many bytes of them were filled */
};

/* ---- identifiers ---- */

int perf_ids_add(struct perf_ids *ids, const struct perf_id *id)
{
	int err = ARRAY_PUSH(ids->items, ids->cnt, ids->cap, *id);

	if (err)
		return err;
	err = hash_index_add(&ids->by_id, hash_number(0, id->id), ids->cnt - 1);
	ids->cnt -= !!err;
	return err;
}

static const struct perf_id *find_id(const struct perf_ids *ids, uint64_t id)
{
	for (size_t at = 0, i; (i = hash_index_next(&ids->by_id, hash_number(0, id), &at)) != HASH_INDEX_END;)
		if (ids->items[i].id == id)
			return &ids->items[i];
	return NULL;
}

void perf_ids_release(struct perf_ids *ids)
{
	hash_index_release(&ids->by_id);
	free(ids->items);
}

/* ---- what a record holds ---- */

void perf_records_of_counts(struct perf_event_attr *attr)
{
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			    PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

void perf_records_of_ticks(struct perf_event_attr *attr, uint32_t stack_bytes)
{
	perf_records_of_counts(attr);
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = ARCH_PERF_GENERAL;
	attr->sample_stack_user = stack_bytes;
}

/* ---- into our rings ---- */

static void put_moment(const struct perf_records *records, const struct trailer *trailer,
		       struct samples_record record)
{
	record.time_ns = trailer->time_ns;
	record.pid = trailer->pid;
	record.tid = trailer->tid;
	samples_writer_put(&records->writers[SAMPLES_MOMENTS], &record);
}

/* Whether it preempts is told since Linux 4.17; why it waits is not. */
static void put_switch(const struct perf_records *records, const struct trailer *trailer, uint16_t misc)
{
	struct samples_record record = {.kind = SAMPLES_IN};

	if (misc & PERF_RECORD_MISC_SWITCH_OUT) {
		record.kind = SAMPLES_OUT;
		record.flags = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? SAMPLES_PREEMPT : 0;
		record.out.nr = SAMPLE_NO_SYSCALL;
		record.out.state = record.flags ? 0 : SAMPLE_INTERRUPTIBLE;
	}
	put_moment(records, trailer, record);
}

static void put_lost(const struct perf_records *records, const struct trailer *trailer,
		     const struct perf_event_header *header)
{
	const struct samples_record record = {.kind = SAMPLES_GONE, .gone = {.cnt = pt_ring_lost(header)}};

	put_moment(records, trailer, record);
}

/* The kernel takes no more ticks of an event until its next own tick: they took too long. */
static void put_throttled(const struct perf_records *records, const struct trailer *trailer, bool begins)
{
	uint64_t *since_ns = records->throttled_ns;
	const struct samples_record record = {
		.kind = SAMPLES_GONE, .flags = SAMPLES_ONLY_TICKS, .gone = {.since_ns = *since_ns}};

	if (!begins && *since_ns)
		put_moment(records, trailer, record);
	*since_ns = begins ? trailer->time_ns : 0;
}

static struct samples_record tick_of(const struct count *count, uint64_t period)
{
	return (struct samples_record){.kind = SAMPLES_TICK,
				       .time_ns = count->time_ns,
				       .pid = count->pid,
				       .tid = count->tid,
				       .tick.period = period};
}

static int put_tick(const struct perf_records *records, const struct tick *tick)
{
	struct samples_record record = tick_of(&tick->begin, tick->begin.period);
	const struct count *begin = &tick->begin;
	uint64_t filled;

	if (begin->header.size < sizeof(*tick) || tick->abi != ABI_64 ||
	    begin->header.size < sizeof(*tick) + tick->stack_size + sizeof(filled))
		return 0;
	memcpy(&filled, tick->stack + tick->stack_size, sizeof(filled));
	record.tick.kernel_ip = arch_is_kernel(begin->ip) ? begin->ip : 0;
	record.flags = filled == tick->stack_size ? SAMPLES_CUT : 0;
	return samples_writer_put_full(&records->writers[SAMPLES_TICKS], &record, tick->regs, tick->stack,
				       filled < tick->stack_size ? filled : tick->stack_size);
}

static int put_sample(const struct perf_records *records, const struct count *count)
{
	const struct perf_id *id = find_id(records->ids, count->id);
	struct samples_record record;

	if (!id)
		return count->header.size > sizeof(struct tick)
			       ? put_tick(records, (const struct tick *)count)
			       : 0;
	record = tick_of(count, id->period ? id->period : count->period);
	record.tick.event = id->event;
	samples_writer_put(&records->writers[SAMPLES_MOMENTS], &record);
	return 0;
}

static int put_record(void *ctx, const struct perf_event_header *header)
{
	const struct perf_records *records = ctx;
	struct trailer trailer;

	if (header->type == PERF_RECORD_SAMPLE)
		return header->size >= offsetof(struct count, period)
			       ? put_sample(records, (const struct count *)header)
			       : 0;
	if (header->size < sizeof(*header) + sizeof(trailer))
		return 0;
	memcpy(&trailer, (const uint8_t *)header + header->size - sizeof(trailer), sizeof(trailer));
	switch (header->type) {
	case PERF_RECORD_SWITCH:
		put_switch(records, &trailer, header->misc);
		break;
	case PERF_RECORD_LOST:
		put_lost(records, &trailer, header);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		put_throttled(records, &trailer, header->type == PERF_RECORD_THROTTLE);
		break;
	}
	return 0;
}

size_t perf_records_tick_bytes(uint32_t stack_bytes)
{
	return sizeof(struct tick) + stack_bytes;
}

int perf_records_take(const struct perf_records *records, const struct pt_event_map *map)
{
	return pt_ring_records(map, put_record, (void *)records);
}
