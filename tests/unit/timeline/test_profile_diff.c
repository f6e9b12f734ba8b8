/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include <stdlib.h>

#include "base/array.h"
#include "timeline/profile_diff.h"

/*
 * Paths by the time that they take on each side:
 *
 *	1	100 : 70	+30
 *	  2	 50 : 20	+30
 *	  3	 10 : 40	-30
 *	    4	  5 : 0		 +5
 *	  5	 10 : 10	  0
 *	    6	  9 : 1		 +8
 *	7	 20 : 80	-60
 */
static struct profile_path paths[] = {
	{.depth = 0},
	{.parent = 0, .depth = 1, .sides = {{.total_ns = 100}, {.total_ns = 70}}},
	{.parent = 1, .depth = 2, .sides = {{.total_ns = 50}, {.total_ns = 20}}},
	{.parent = 1, .depth = 2, .sides = {{.total_ns = 10}, {.total_ns = 40}}},
	{.parent = 3, .depth = 3, .sides = {{.total_ns = 5}, {.total_ns = 0}}},
	{.parent = 1, .depth = 2, .sides = {{.total_ns = 10}, {.total_ns = 10}}},
	{.parent = 5, .depth = 3, .sides = {{.total_ns = 9}, {.total_ns = 1}}},
	{.parent = 0, .depth = 1, .sides = {{.total_ns = 20}, {.total_ns = 80}}},
};

static const struct profile profile = {.paths = paths, .path_cnt = ARRAY_SIZE(paths)};

static void check(size_t top, size_t left_out, size_t cnt, const size_t *wanted)
{
	size_t *got, got_cnt, got_left_out;

	assert_ok(profile_diff(&profile, top, &got, &got_cnt, &got_left_out));
	assert_int_equal(got_cnt, cnt);
	for (size_t i = 0; i < cnt; i++)
		assert_int_equal(got[i], wanted[i]);
	assert_int_equal(got_left_out, left_out);
	free(got);
}

TEST(test_tree)
{
	assert_int_equal(profile_difference(&paths[7]), -60);
	check(100, 0, 7, (size_t[]){7, 1, 2, 3, 4, 5, 6});
	check(1, 5, 1, (size_t[]){7});
	check(3, 3, 3, (size_t[]){7, 1, 2});
	check(5, 1, 6, (size_t[]){7, 1, 2, 3, 5, 6}); /* 5 leads to 6 */
	check(0, 6, 0, NULL);
}

TEST(test_same)
{
	struct profile_path same[] = {{0}, {.depth = 1, .sides = {{1, 2, 3, 0, 0}, {9, 3, 3, 0, 0}}}};
	const struct profile equal = {.paths = same, .path_cnt = 2};
	size_t *got, cnt, left_out;

	assert_ok(profile_diff(&equal, 10, &got, &cnt, &left_out));
	assert_int_equal(cnt, 0);
	assert_int_equal(left_out, 0);
	free(got);
	assert_ok(profile_diff(&(struct profile){.paths = same, .path_cnt = 1}, 10, &got, &cnt, &left_out));
	assert_int_equal(cnt, 0);
	free(got);
}

TEST_MAIN(NULL, NULL)
