/* SPDX-License-Identifier: BSD-2-Clause */
#include "trigger/links.h"

#include "assertions.h"
#include "base/array.h"

/* Probes are grouped by file, in order; a cookie carries the trigger's index and its action. */
static void test_plan(void **state)
{
	struct probe first[] = {
		{.path = (char *)"/exe", .file_offset = 0x100, .symbol = (char *)"a"},
		{.path = (char *)"/lib", .file_offset = 0x200, .symbol = (char *)"b"},
	};
	struct probe second[] = {
		{.path = (char *)"/lib", .file_offset = 0x300, .symbol = (char *)"c"},
		{.path = (char *)"/exe", .file_offset = 0x100, .symbol = (char *)"a"},
	};
	struct trigger triggers[] = {
		{.action = HIT_STOP, .probes = first, .probe_cnt = ARRAY_SIZE(first)},
		{.action = HIT_START, .probes = second, .probe_cnt = ARRAY_SIZE(second)},
	};
	struct links links = {0};

	(void)state;
	assert_ok(links_plan(&links, triggers, ARRAY_SIZE(triggers)));
	assert_int_equal(links.file_cnt, 2);
	assert_string_equal(links.files[0].path, "/exe");
	assert_string_equal(links.files[0].symbol, "a");
	assert_int_equal(links.files[0].cnt, 2);
	assert_int_equal(links.files[0].offsets[0], 0x100);
	assert_int_equal(links.files[0].cookies[0], (uint64_t)HIT_STOP << 32);
	assert_int_equal(links.files[0].offsets[1], 0x100);
	assert_int_equal(links.files[0].cookies[1], (uint64_t)HIT_START << 32 | 1);
	assert_string_equal(links.files[1].path, "/lib");
	assert_string_equal(links.files[1].symbol, "b");
	assert_int_equal(links.files[1].cnt, 2);
	assert_int_equal(links.files[1].offsets[0], 0x200);
	assert_int_equal(links.files[1].offsets[1], 0x300);
	links_release(&links);
}

static void test_nothing(void **state)
{
	struct links links = {0};

	(void)state;
	assert_ok(links_plan(&links, NULL, 0));
	assert_int_equal(links.file_cnt, 0);
	links_release(&links);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
