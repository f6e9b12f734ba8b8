/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/record_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "model/sideband.h"

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
static void forget_switches(struct record_list *records)
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

int record_list_add(struct record_list *records, const struct perf_event_header *record)
{
	struct sideband_trailer trailer;
	struct record copy;

	if (!is_wanted(record->type) || record->size < sizeof(*record) + SIDEBAND_ID_BYTES)
		return 0;
	copy.bytes = malloc(record->size);
	if (!copy.bytes)
		return -ENOMEM;
	memcpy(copy.bytes, record, record->size);
	memcpy(&trailer, (uint8_t *)copy.bytes + record->size - sizeof(trailer), sizeof(trailer));
	trailer.id = SIDEBAND_EVENT_ID;
	memcpy((uint8_t *)copy.bytes + record->size - sizeof(trailer), &trailer, sizeof(trailer));
	copy.key = (struct sort_key){trailer.time, records->nth++};
	if (ARRAY_PUSH(records->items, records->cnt, records->cap, copy)) {
		free(copy.bytes);
		return -ENOMEM;
	}
	records->switch_cnt += is_switch(record->type);
	if (records->switch_max && records->switch_cnt > records->switch_max)
		forget_switches(records);
	return 0;
}

int record_list_add_all(struct record_list *records, const uint8_t *bytes, size_t size)
{
	int err = 0;

	for (size_t at = 0; at < size && !err; at += ((const struct perf_event_header *)(bytes + at))->size)
		err = record_list_add(records, (const struct perf_event_header *)(bytes + at));
	return err;
}

int record_list_take(struct record_list *records, struct snapshot *snapshot)
{
	size_t size = snapshot->sideband_size;

	for (size_t i = 0; i < records->cnt; i++)
		size += records->items[i].bytes->size;
	if (array_reserve(&snapshot->sideband, &snapshot->sideband_cap, size, 1))
		return -ENOMEM;
	sort_array(records->items, records->cnt, sizeof(*records->items), sort_by_key);
	for (size_t i = 0; i < records->cnt; i++) {
		const struct perf_event_header *record = records->items[i].bytes;

		memcpy(snapshot->sideband + snapshot->sideband_size, record, record->size);
		snapshot->sideband_size += record->size;
		free(records->items[i].bytes);
	}
	records->cnt = records->switch_cnt = 0;
	return 0;
}

void record_list_release(struct record_list *records)
{
	for (size_t i = 0; i < records->cnt; i++)
		free(records->items[i].bytes);
	free(records->items);
	*records = (struct record_list){0};
}
