/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include "base/array.h"
#include "history/uprobe_code.h"

enum { SLOTS = 0x7000, TRAMPOLINE = 0x9000 };

static struct history_range ranges[] = {{SLOTS, SLOTS + 0x1000}, {TRAMPOLINE, TRAMPOLINE + 0x1000}};
static struct history_process process = {.uprobes = ranges, .uprobe_cnt = ARRAY_SIZE(ranges)};

#define START(ip)                                                            \
	{                                                                    \
		.to = (ip), .kind = BRANCH_NONE, .flags = BRANCH_TRACE_START \
	}
#define INTERRUPT(ip)                                                             \
	{                                                                         \
		.from = (ip), .kind = BRANCH_INTERRUPT, .flags = BRANCH_TRACE_END \
	}
#define SYSCALL(ip)                                                             \
	{                                                                       \
		.from = (ip), .kind = BRANCH_SYSCALL, .flags = BRANCH_TRACE_END \
	}
#define CALL(at, target)                                          \
	{                                                         \
		.from = (at), .to = (target), .kind = BRANCH_CALL \
	}
#define RETURN(at, target)                                          \
	{                                                           \
		.from = (at), .to = (target), .kind = BRANCH_RETURN \
	}

static void check(struct branch *branches, size_t cnt, const struct branch *expected, size_t expected_cnt)
{
	assert_int_equal(uprobe_code_hide(&process, branches, cnt), expected_cnt);
	for (size_t i = 0; i < expected_cnt; i++)
		assert_memory_equal(&branches[i], &expected[i], sizeof(*branches));
}

TEST(test_slot)
{
	struct branch branches[] = {CALL(0x100, 0x200),	     INTERRUPT(0x200), START(SLOTS + 0x80),
				    INTERRUPT(SLOTS + 0x84), START(0x204),     RETURN(0x210, 0x105)};
	const struct branch expected[] = {CALL(0x100, 0x200), INTERRUPT(0x200), START(0x204),
					  RETURN(0x210, 0x105)};

	check(branches, ARRAY_SIZE(branches), expected, ARRAY_SIZE(expected));
}

/* It was interrupted on the way. */
TEST(test_slot_twice)
{
	struct branch branches[] = {INTERRUPT(0x200), START(SLOTS),	    INTERRUPT(SLOTS),
				    START(SLOTS),     INTERRUPT(SLOTS + 4), START(0x204)};
	const struct branch expected[] = {INTERRUPT(0x200), START(0x204)};

	check(branches, ARRAY_SIZE(branches), expected, ARRAY_SIZE(expected));
}

TEST(test_probed_return)
{
	struct branch branches[] = {RETURN(0x210, TRAMPOLINE), SYSCALL(TRAMPOLINE + 11), START(0x105),
				    CALL(0x110, 0x300)};
	const struct branch expected[] = {RETURN(0x210, 0x105), CALL(0x110, 0x300)};

	check(branches, ARRAY_SIZE(branches), expected, ARRAY_SIZE(expected));
}

TEST(test_probed_nop)
{
	struct branch branches[] = {
		CALL(0x100, 0x200),	CALL(0x200, TRAMPOLINE),	SYSCALL(TRAMPOLINE + 11),
		START(TRAMPOLINE + 13), RETURN(TRAMPOLINE + 17, 0x205), RETURN(0x210, 0x105)};
	const struct branch expected[] = {CALL(0x100, 0x200), RETURN(0x210, 0x105)};

	check(branches, ARRAY_SIZE(branches), expected, ARRAY_SIZE(expected));
}

/* A piece may begin or end on the way, and a gap ends it. */
TEST(test_cut)
{
	struct branch end[] = {INTERRUPT(SLOTS + 4), START(0x204), RETURN(0x210, 0x105)};
	const struct branch expected_end[] = {START(0x204), RETURN(0x210, 0x105)};
	struct branch begin[] = {INTERRUPT(0x200), START(SLOTS)};
	const struct branch expected_begin[] = {INTERRUPT(0x200)};
	struct branch gap[] = {INTERRUPT(0x200), START(SLOTS), {.kind = BRANCH_GAP}, CALL(0x100, 0x200)};
	const struct branch expected_gap[] = {INTERRUPT(0x200), {.kind = BRANCH_GAP}, CALL(0x100, 0x200)};

	check(end, ARRAY_SIZE(end), expected_end, ARRAY_SIZE(expected_end));
	check(begin, ARRAY_SIZE(begin), expected_begin, ARRAY_SIZE(expected_begin));
	check(gap, ARRAY_SIZE(gap), expected_gap, ARRAY_SIZE(expected_gap));
	assert_int_equal(uprobe_code_hide(NULL, gap, 3), 3);
}

TEST_MAIN(NULL, NULL)
