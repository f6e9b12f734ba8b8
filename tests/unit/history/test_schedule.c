/* SPDX-License-Identifier: BSD-2-Clause */
#include "history/schedule.h"

#include "assertions.h"

static const struct history_switch switches[] = {
	{.tsc = 100, .cpu = 0, .tid = 1},
	{.tsc = 150, .cpu = 1, .tid = 9},
	{.tsc = 200, .cpu = 0, .tid = 1, .out = true},
	{.tsc = 210, .cpu = 1, .tid = 9, .out = true},
	{.tsc = 230, .cpu = 0, .tid = 2},
	{.tsc = 300, .cpu = 0, .tid = 3}, /* the switch out was lost */
};

TEST(test_processor)
{
	struct history history = {.switches = (struct history_switch *)switches,
				  .switch_cnt = sizeof(switches) / sizeof(*switches)};
	const struct aux_trace aux = {.cpu = 0, .pid = -1, .tid = -1};
	static const struct {
		uint64_t start, enable;
		int32_t tid;
	} expected[] = {{100, 100, 1}, {230, 200, 2}, {300, 300, 3}};
	struct schedule schedule;

	assert_ok(schedule_make(&schedule, &history, &aux));
	assert_int_equal(schedule.cnt, 3);
	for (size_t i = 0; i < schedule.cnt; i++) {
		assert_int_equal(schedule.versions[i].start_tsc, expected[i].start);
		assert_int_equal(schedule.versions[i].enable_tsc, expected[i].enable);
		assert_int_equal(schedule.turns[i].tid, expected[i].tid);
	}
	schedule_release(&schedule);
}

TEST_MAIN(NULL, NULL)
