/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/array.h"
#include "base/sort.h"
#include "base/spill.h"

enum { ITEMS = 3000000, MEMORY = 1 << 20 };

static size_t files_mapped(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[512];
	size_t cnt = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		cnt += strstr(line, "(deleted)") != NULL;
	fclose(file);
	return cnt;
}

struct pages {
	size_t mapped, resident;
};

static struct pages pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	struct pages pages;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%zu %zu", &pages.mapped, &pages.resident), 2);
	fclose(file);
	return pages;
}

static void fill(uint64_t **items, size_t *cnt, size_t *cap)
{
	for (uint64_t i = 0; i < ITEMS; i++)
		assert_int_equal(SPILL_PUSH(*items, *cnt, *cap, i * i), 0);
}

static void check(const uint64_t *items)
{
	for (uint64_t i = 0; i < ITEMS; i++)
		if (items[i] != i * i)
			fail_msg("item %lu is %lu", i, items[i]);
}

TEST(test_stays_in_memory)
{
	uint64_t *items = NULL;
	size_t cnt = 0, cap = 0;

	fill(&items, &cnt, &cap);
	assert_int_equal(files_mapped(), 0);
	check(items);
	spill_let_go(items, 0, SIZE_MAX);
	check(items);
	spill_free(items);
}

/* What is added to NULL, or handed to qsort(3), is undefined even where nothing is there. */
TEST(test_room_for_none)
{
	uint64_t *items = NULL, *more = NULL;
	size_t cap = 0, more_cap = 0;

	assert_int_equal(spill_reserve(&items, &cap, 0, sizeof(*items)), 0);
	assert_non_null(items);
	spill_free(items);
	assert_int_equal(array_reserve(&more, &more_cap, 0, sizeof(*more)), 0);
	assert_non_null(more);
	free(more);
	sort_array(NULL, 0, sizeof(struct sort_key), sort_by_key);
}

TEST(test_goes_to_file)
{
	uint64_t *items = NULL, *more = NULL;
	size_t cnt = 0, cap = 0, before;

	spill_set_memory(MEMORY);
	fill(&items, &cnt, &cap);
	assert_int_equal(files_mapped(), 1);
	check(items);
	/* What a file holds comes back when it is looked at. */
	before = pages().resident;
	spill_let_go(items, 0, SIZE_MAX);
	assert_true(pages().resident + ITEMS * sizeof(*items) / 4096 / 2 < before);
	check(items);
	for (size_t i = 0; i < cnt; i++)
		SPILL_PASS(items, i);
	check(items);
	/* The memory that it had is free for another one now. */
	assert_int_equal(spill_reserve(&more, &(size_t){0}, MEMORY / 2 / sizeof(*more), sizeof(*more)), 0);
	assert_int_equal(files_mapped(), 1);
	spill_free(more);
	spill_free(items);
	assert_int_equal(files_mapped(), 0);
	spill_set_memory(SPILL_MEMORY);
}

/* Long before there is none left. A small array makes no difference. */
TEST(test_tight)
{
	enum { MUCH = 64 << 20 };
	uint8_t *items = NULL;
	size_t cap = 0;

	spill_set_memory(MUCH);
	assert_false(spill_is_tight());
	assert_false(spill_is_tight_with(MUCH / 2));
	assert_true(spill_is_tight_with(MUCH));
	assert_int_equal(spill_reserve(&items, &cap, MUCH / 2, 1), 0);
	assert_false(spill_is_tight());
	assert_true(spill_is_tight_with(MUCH / 2));
	assert_false(spill_is_tight_with(1));
	/* It grows by little, not to all that there is. */
	assert_int_equal(spill_reserve(&items, &cap, MUCH / 2 + 1, 1), 0);
	assert_true(cap < MUCH / 4 * 3);
	assert_int_equal(spill_reserve(&items, &cap, MUCH / 4 * 3, 1), 0);
	assert_true(spill_is_tight());
	assert_int_equal(files_mapped(), 0);
	spill_free(items);
	assert_false(spill_is_tight());
	spill_set_memory(SPILL_MEMORY);
}

/* Without a directory for it, it stays in memory; where the directory is full, it is an error. */
TEST(test_without_room)
{
	const struct rlimit small = {16 << 20, RLIM_INFINITY};
	struct rlimit limit;
	uint64_t *items = NULL;
	size_t cnt = 0, cap = 0;

	spill_set_memory(MEMORY);
	setenv("TMPDIR", "/nonexistent", 1);
	fill(&items, &cnt, &cap);
	assert_int_equal(files_mapped(), 0);
	check(items);
	spill_free(items);
	unsetenv("TMPDIR");

	items = NULL;
	cnt = cap = 0;
	signal(SIGXFSZ, SIG_IGN);
	fill(&items, &cnt, &cap);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(spill_reserve(&items, &cap, 10 * ITEMS, sizeof(*items)), -ENOMEM);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	check(items);
	spill_free(items);
	assert_int_equal(spill_reserve(&(void *){NULL}, &(size_t){0}, SIZE_MAX / 16, 64), -ENOMEM);
	spill_set_memory(SPILL_MEMORY);
}

/* However often it has grown, and wherever it went then. */
TEST(test_gives_all_back)
{
	size_t before = pages().mapped, megabyte = (1 << 20) / 4096;

#ifdef __SANITIZE_ADDRESS__ /* which keeps what is freed */
	skip();
#endif
	for (size_t bytes = MEMORY; bytes <= SPILL_MEMORY / 2; bytes += bytes / 2 + 1) {
		char *items = NULL;
		size_t cap = 0;

		for (size_t want = bytes / 64; want <= bytes; want *= 2) {
			assert_int_equal(spill_reserve(&items, &cap, want, 1), 0);
			items[want - 1] = 1;
		}
		spill_free(items);
	}
	assert_true(pages().mapped <= before + megabyte);
}

TEST_MAIN(NULL, NULL)
