/* SPDX-License-Identifier: BSD-2-Clause */
#include "trigger/links.h"

#include "assertions.h"
#include "base/array.h"

/* Probes are grouped by file and program, in order; a cookie carries the trigger's index and its action. */
TEST(test_plan)
{
	struct probe first[] = {
		{.path = (char *)"/exe", .file_offset = 0x100, .symbol = (char *)"a"},
		{.path = (char *)"/lib", .file_offset = 0x200, .symbol = (char *)"b"},
	};
	struct probe second[] = {
		{.path = (char *)"/lib", .file_offset = 0x300, .symbol = (char *)"c", .ref_ctr_offset = 0x40},
		{.path = (char *)"/exe", .file_offset = 0x100, .symbol = (char *)"a"},
	};
	struct trigger triggers[] = {
		{.action = HIT_STOP, .probes = first, .probe_cnt = ARRAY_SIZE(first)},
		{.action = HIT_START, .probes = second, .probe_cnt = ARRAY_SIZE(second)},
	};
	struct links links = {0};
	struct trigger_programs own[] = {{.copies = {[PROGRAM_HIT] = 10}}, {.copies = {[PROGRAM_HIT] = 11}}};
	struct programs programs = {.own = own, .trigger_cnt = 2};
	const struct probe_mirror mirror = {.path = "/nops", .file_offset = 0x1000, .distance = 16, .max = 4};
	struct trigger_config config = {.triggers = triggers, .trigger_cnt = ARRAY_SIZE(triggers)};

	assert_ok(links_plan(&links, &programs, &config));
	assert_int_equal(links.group_cnt, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(links.groups[i].prog_fd, i < 2 ? 10 : 11);
		assert_int_equal(links.groups[i].at, UPROBE_ENTRY);
		assert_int_equal(links.groups[i].cnt, 1);
		assert_int_equal(links.groups[i].cookies[0],
				 i < 2 ? (uint64_t)HIT_STOP << 32 : (uint64_t)HIT_START << 32 | 1);
	}
	links_release(&links);

	/* Of one program, those of a file go together. */
	own[1].copies[PROGRAM_HIT] = 10;
	assert_ok(links_plan(&links, &programs, &config));
	assert_int_equal(links.group_cnt, 2);
	assert_string_equal(links.groups[0].path, "/exe");
	assert_string_equal(links.groups[0].symbol, "a");
	assert_int_equal(links.groups[0].cnt, 2);
	assert_int_equal(links.groups[0].offsets[0], 0x100);
	assert_int_equal(links.groups[0].cookies[0], (uint64_t)HIT_STOP << 32);
	assert_int_equal(links.groups[0].offsets[1], 0x100);
	assert_int_equal(links.groups[0].cookies[1], (uint64_t)HIT_START << 32 | 1);
	assert_string_equal(links.groups[1].path, "/lib");
	assert_string_equal(links.groups[1].symbol, "b");
	assert_int_equal(links.groups[1].cnt, 2);
	assert_int_equal(links.groups[1].offsets[0], 0x200);
	assert_int_equal(links.groups[1].offsets[1], 0x300);
	assert_int_equal(links.groups[1].ref_ctr_offsets[1], 0x40);
	links_release(&links);

	/* Each is in the mirror once more, where the number of the first one at its place says. */
	config.mirror = &mirror;
	assert_ok(links_plan(&links, &programs, &config));
	assert_int_equal(links.group_cnt, 3);
	assert_string_equal(links.groups[1].path, "/nops");
	assert_int_equal(links.groups[1].cnt, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(links.groups[1].offsets[i], 0x1000 + 16 * (i == 3 ? 0 : i));
		assert_int_equal(links.groups[1].ref_ctr_offsets[i], 0);
		assert_int_equal(links.groups[1].cookies[i],
				 i < 2 ? (uint64_t)HIT_STOP << 32 : (uint64_t)HIT_START << 32 | 1);
	}
	links_release(&links);
}

TEST(test_nothing)
{
	struct links links = {0};
	struct programs programs = {0};
	const struct trigger_config config = {0};

	assert_ok(links_plan(&links, &programs, &config));
	assert_int_equal(links.group_cnt, 0);
	links_release(&links);
}

TEST_MAIN(NULL, NULL)
