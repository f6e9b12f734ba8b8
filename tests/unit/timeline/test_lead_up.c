/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include "timeline/lead_up.h"

static const struct symbol f = {.name = "f"}, g = {.name = "g"}, h = {.name = "h"};

/*
 *	0 |------------------------------------|
 *	1   |-------||------------------------|
 *	2    |--|	|--| |---------------|
 *	3			 |g||--|
 *			      |
 *			      20, where g and what follows it begin
 */
static struct slice slices[] = {
	{.start_ns = 0, .end_ns = 100, .symbol = &f, .depth = 0, .flags = SLICE_OPEN_END},
	{.start_ns = 2, .end_ns = 8, .symbol = &g, .depth = 1},
	{.start_ns = 3, .end_ns = 5, .symbol = &f, .depth = 2},
	{.start_ns = 8, .end_ns = 99, .symbol = &f, .depth = 1},
	{.start_ns = 10, .end_ns = 12, .symbol = &f, .depth = 2},
	{.start_ns = 13, .end_ns = 80, .symbol = &h, .depth = 2},
	{.start_ns = 20, .end_ns = 20, .symbol = &g, .depth = 3},
	{.start_ns = 20, .end_ns = 30, .symbol = &f, .depth = 3},
	{.start_ns = 40, .end_ns = 50, .symbol = &f, .depth = 3},
};

static const struct timeline_thread thread = {.slices = slices, .slice_cnt = 9};

/* Their indices; an open one as 100 more. */
static void check(uint64_t time_ns, const char *function, size_t wanted, size_t outer_cnt, size_t cnt,
		  const int *indices)
{
	struct lead_up found;

	assert_ok(lead_up_find(&found, &thread, time_ns, function, wanted));
	assert_int_equal(found.cnt, cnt);
	assert_int_equal(found.outer_cnt, outer_cnt);
	for (size_t i = 0; i < cnt; i++)
		assert_int_equal((found.calls[i].slice - slices) + (found.calls[i].is_open ? 100 : 0),
				 indices[i]);
	lead_up_release(&found);
}

TEST(test_calls)
{
	check(20, NULL, 3, 2, 5, (int[]){100, 103, 105, 6, 107});
	check(20, "g", 2, 2, 4, (int[]){100, 103, 105, 106});
	check(20, "nowhere", 1, 3, 4, (int[]){100, 103, 105, 107});
	check(45, "h", 2, 2, 4, (int[]){100, 103, 4, 105}); /* not what it called since */
	check(81, "h", 1, 3, 4, (int[]){100, 103, 5, 8});
	check(45, "g", 100, 0, 9, (int[]){100, 1, 2, 103, 4, 105, 6, 7, 108});
	check(8, NULL, 2, 2, 4, (int[]){100, 1, 2, 103});
	check(8, "g", 1, 1, 2, (int[]){100, 101}); /* not what began as it ended */
	check(9, NULL, 2, 2, 4, (int[]){100, 1, 2, 103});
	check(9, NULL, 1, 1, 2, (int[]){100, 103});
	check(4, NULL, 2, 1, 3, (int[]){100, 101, 102});
	check(99, NULL, 1, 3, 4, (int[]){100, 103, 5, 8});
	check(100, NULL, 1, 3, 4, (int[]){100, 3, 5, 8});
	check(200, NULL, 1, 3, 4, (int[]){100, 3, 5, 8}); /* behind the trace */
}

TEST(test_nothing)
{
	const struct timeline_thread none = {0};
	struct lead_up found;

	assert_ok(lead_up_find(&found, &none, 5, "f", 5));
	assert_int_equal(found.cnt, 0);
	lead_up_release(&found);
	check(20, NULL, 0, 4, 4, (int[]){100, 103, 105, 107});
}

TEST_MAIN(NULL, NULL)
