/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include "timeline/call_tree.h"

static const struct symbol f = {.name = "f"}, g = {.name = "parse::Word"}, h = {.name = "h"};

/*
 *	0 |------------------------| |----|
 *	1   |---------||-----|
 *	2    |--| |--|
 *	3     ||
 */
static struct slice slices[] = {
	{.start_ns = 0, .end_ns = 100, .symbol = &f, .depth = 0},
	{.start_ns = 10, .end_ns = 50, .symbol = &g, .depth = 1},
	{.start_ns = 12, .end_ns = 20, .symbol = &h, .depth = 2},
	{.start_ns = 13, .end_ns = 14, .symbol = &f, .depth = 3},
	{.start_ns = 30, .end_ns = 40, .symbol = &h, .depth = 2},
	{.start_ns = 50, .end_ns = 80, .symbol = &g, .depth = 1},
	{.start_ns = 200, .end_ns = 300, .symbol = &h, .depth = 0},
};

static const struct timeline_thread thread = {.slices = slices, .slice_cnt = 7};

static int make(void **state)
{
	static struct call_tree tree;

	*state = &tree;
	return call_tree_init(&tree, &thread);
}

static int release(void **state)
{
	call_tree_release(*state);
	return 0;
}

/* What is shown, from the first row down, and the same upwards. */
static void check_rows(const struct call_tree *tree, size_t cnt, const uint32_t *rows)
{
	uint32_t row = 0;

	for (size_t i = 0; i < cnt; i++, row = call_tree_below(tree, row))
		assert_int_equal(row, rows[i]);
	assert_int_equal(row, CALL_TREE_NONE);
	row = rows[cnt - 1];
	for (size_t i = cnt; i--; row = call_tree_above(tree, row))
		assert_int_equal(row, rows[i]);
	assert_int_equal(row, CALL_TREE_NONE);
}

TEST_WITH(test_folds, make, release)
{
	struct call_tree *tree = *state;

	check_rows(tree, 2, (uint32_t[]){0, 6});
	tree->folded[0] = 0;
	check_rows(tree, 4, (uint32_t[]){0, 1, 5, 6});
	call_tree_reveal(tree, 3);
	check_rows(tree, 7, (uint32_t[]){0, 1, 2, 3, 4, 5, 6});
	tree->folded[1] = 1; /* what is within stays as it is */
	check_rows(tree, 4, (uint32_t[]){0, 1, 5, 6});
	assert_int_equal(call_tree_shown(tree, 3), 1);
	assert_int_equal(call_tree_shown(tree, 5), 5);
	tree->folded[0] = 1;
	assert_int_equal(call_tree_shown(tree, 3), 0);
	call_tree_fold_all(tree, false);
	check_rows(tree, 7, (uint32_t[]){0, 1, 2, 3, 4, 5, 6});
	call_tree_fold_all(tree, true);
	check_rows(tree, 2, (uint32_t[]){0, 6});
}

TEST_WITH(test_calls, make, release)
{
	const struct call_tree *tree = *state;

	assert_true(call_tree_has_callees(tree, 1));
	assert_false(call_tree_has_callees(tree, 5));
	assert_int_equal(tree->ends[1], 5);
	assert_int_equal(tree->parents[5], 0);
	assert_int_equal(tree->parents[6], CALL_TREE_NONE);
	assert_int_equal(call_tree_self_ns(tree, 0), 100 - 40 - 30);
	assert_int_equal(call_tree_self_ns(tree, 1), 40 - 8 - 10);
	assert_int_equal(call_tree_self_ns(tree, 3), 1);
}

TEST_WITH(test_moments, make, release)
{
	const struct call_tree *tree = *state;

	assert_int_equal(call_tree_at(tree, 13, NULL), 3);
	assert_int_equal(call_tree_at(tree, 13, &g), 1);
	assert_int_equal(call_tree_at(tree, 16, NULL), 2);
	assert_int_equal(call_tree_at(tree, 25, NULL), 1);
	assert_int_equal(call_tree_at(tree, 90, &h), 0); /* no h is open: the innermost */
	assert_int_equal(call_tree_at(tree, 150, NULL), 0);
	assert_int_equal(call_tree_at(tree, 250, NULL), 6);
}

TEST_WITH(test_search, make, release)
{
	const struct call_tree *tree = *state;

	assert_int_equal(call_tree_find(tree, 0, "word", false), 1);
	assert_int_equal(call_tree_find(tree, 2, "word", false), 5);
	assert_int_equal(call_tree_find(tree, 6, "Word", false), CALL_TREE_NONE);
	assert_int_equal(call_tree_find(tree, 0, "WORD", false), CALL_TREE_NONE);
	assert_int_equal(call_tree_find(tree, 4, "word", true), 1);
	assert_int_equal(call_tree_find(tree, 0, "word", true), CALL_TREE_NONE);
}

TEST(test_nothing)
{
	const struct timeline_thread idle = {0};
	struct call_tree tree;

	assert_ok(call_tree_init(&tree, &idle));
	assert_int_equal(call_tree_at(&tree, 5, NULL), CALL_TREE_NONE);
	assert_int_equal(call_tree_find(&tree, 0, "f", false), CALL_TREE_NONE);
	call_tree_release(&tree);
}

TEST_MAIN(NULL, NULL)
