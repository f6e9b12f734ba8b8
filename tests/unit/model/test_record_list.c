/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include "model/record_list.h"
#include "model/sideband.h"

static void add(struct record_list *list, uint32_t type, uint64_t time_ns, uint32_t cpu)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint64_t id;
	} record = {
		.header = {.type = type, .size = sizeof(record)}, .time = time_ns, .cpu = cpu, .id = 4711};

	assert_ok(record_list_add(list, &record.header));
}

/* In time order; of equal times, as they came. */
TEST(test_order)
{
	struct record_list list = {0};
	struct snapshot *snapshot;
	struct sideband_record record;
	uint64_t last = 0;
	uint32_t last_cpu = 0, cnt = 0;
	size_t pos = 0;

	for (uint32_t i = 0; i < 1000; i++)
		add(&list, PERF_RECORD_SWITCH, i * 7919 % 50, i);
	assert_ok(snapshot_new(&snapshot));
	assert_ok(record_list_take(&list, snapshot));
	while (sideband_next(snapshot, &pos, &record) > 0) {
		assert_true(record.time_ns > last ||
			    (record.time_ns == last && (uint32_t)record.cpu >= last_cpu));
		last = record.time_ns;
		last_cpu = (uint32_t)record.cpu;
		cnt++;
	}
	assert_int_equal(cnt, 1000);
	assert_int_equal(list.cnt, 0);
	snapshot_free(snapshot);
	record_list_release(&list);
}

/* The newest switches stay, and all that is no switch. */
TEST(test_bound)
{
	struct record_list list = {.switch_max = 100};
	struct snapshot *snapshot;
	struct sideband_record record;
	uint64_t oldest = UINT64_MAX, newest = 0;
	size_t pos = 0, starts = 0, switches = 0;

	for (uint64_t i = 0; i < 10000; i++)
		add(&list, i % 100 ? PERF_RECORD_SWITCH : PERF_RECORD_ITRACE_START, i, 0);
	assert_ok(snapshot_new(&snapshot));
	assert_ok(record_list_take(&list, snapshot));
	while (sideband_next(snapshot, &pos, &record) > 0) {
		starts += record.type == PERF_RECORD_ITRACE_START;
		if (record.type != PERF_RECORD_SWITCH)
			continue;
		switches++;
		oldest = record.time_ns < oldest ? record.time_ns : oldest;
		newest = record.time_ns;
	}
	assert_int_equal(starts, 100);
	assert_in_range(switches, 50, 100);
	assert_int_equal(newest, 9999);
	assert_in_range(newest - oldest, switches - 1, switches + 1);
	snapshot_free(snapshot);
	record_list_release(&list);
}

TEST_MAIN(NULL, NULL)
