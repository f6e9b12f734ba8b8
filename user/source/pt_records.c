/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/pt_records.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "source/sideband.h"

static bool is_switch(uint32_t type)
{
	return type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE;
}

static bool is_wanted(uint32_t type)
{
	return is_switch(type) || type == PERF_RECORD_MMAP2 || type == PERF_RECORD_COMM ||
	       type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT || type == PERF_RECORD_ITRACE_START;
}

/* The older half of the switches goes. */
static void forget_switches(struct pt_records *records)
{
	size_t kept = 0, to_go = records->switch_cnt / 2;

	for (size_t i = 0; i < records->cnt; i++) {
		if (to_go && is_switch(records->items[i].bytes->type)) {
			free(records->items[i].bytes);
			records->switch_cnt--;
			to_go--;
		} else {
			records->items[kept++] = records->items[i];
		}
	}
	records->cnt = kept;
}

/* The time stands in the trailer, whose id is the kernel's: all are of one event for us. */
int pt_records_add(struct pt_records *records, const struct perf_event_header *record)
{
	const uint64_t id = SIDEBAND_EVENT_ID;
	struct pt_record copy;

	if (!is_wanted(record->type) || record->size < sizeof(*record) + SIDEBAND_ID_BYTES)
		return 0;
	copy.bytes = malloc(record->size);
	if (!copy.bytes)
		return -ENOMEM;
	memcpy(copy.bytes, record, record->size);
	memcpy((uint8_t *)copy.bytes + record->size - 8, &id, sizeof(id));
	copy.nth = records->nth++;
	memcpy(&copy.time_ns, (uint8_t *)copy.bytes + record->size - 24, sizeof(copy.time_ns));
	if (ARRAY_PUSH(records->items, records->cnt, records->cap, copy)) {
		free(copy.bytes);
		return -ENOMEM;
	}
	records->switch_cnt += is_switch(record->type);
	if (records->switch_cnt > PT_SWITCHES_MAX)
		forget_switches(records);
	return 0;
}

int pt_records_add_all(struct pt_records *records, const uint8_t *bytes, size_t size)
{
	int err = 0;

	for (size_t at = 0; at < size && !err; at += ((const struct perf_event_header *)(bytes + at))->size)
		err = pt_records_add(records, (const struct perf_event_header *)(bytes + at));
	return err;
}

/* Of equal times, in the order in which they came: a processor's records come in order. */
static int by_time(const void *a, const void *b)
{
	const struct pt_record *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return left->nth < right->nth ? -1 : left->nth > right->nth;
}

int pt_records_take(struct pt_records *records, struct snapshot *snapshot)
{
	size_t size = snapshot->sideband_size;

	for (size_t i = 0; i < records->cnt; i++)
		size += records->items[i].bytes->size;
	if (array_reserve(&snapshot->sideband, &snapshot->sideband_cap, size, 1))
		return -ENOMEM;
	qsort(records->items, records->cnt, sizeof(*records->items), by_time);
	for (size_t i = 0; i < records->cnt; i++) {
		const struct perf_event_header *record = records->items[i].bytes;

		memcpy(snapshot->sideband + snapshot->sideband_size, record, record->size);
		snapshot->sideband_size += record->size;
		free(records->items[i].bytes);
	}
	records->cnt = records->switch_cnt = 0;
	return 0;
}

void pt_records_release(struct pt_records *records)
{
	for (size_t i = 0; i < records->cnt; i++)
		free(records->items[i].bytes);
	free(records->items);
	*records = (struct pt_records){0};
}

uint64_t pt_records_lost(const struct perf_event_header *record)
{
	const uint64_t *body = (const uint64_t *)(record + 1); /* id, lost */

	return record->size >= sizeof(*record) + 16 ? body[1] : 0;
}

/* linux/perf_event.h, "lock" and "cap_user_time_zero": the fields are written under a sequence number. */
int pt_records_clock(struct trace_clock *ret_clock, const volatile struct perf_event_mmap_page *page)
{
	uint32_t sequence;
	bool known;

	do {
		sequence = page->lock;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		known = page->cap_user_time_zero;
		ret_clock->mult = page->time_mult;
		ret_clock->shift = page->time_shift;
		ret_clock->zero = page->time_zero;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (page->lock != sequence || (sequence & 1));
	return known ? 0 : -ENOTSUP;
}
