/* SPDX-License-Identifier: BSD-2-Clause */
#include "image/section_list.h"

#include <stdlib.h>

#include "assertions.h"
#include "base/cleanup.h"

/* Places are only compared here. */
#define PLACE(letter) ((struct place *)(uintptr_t)(letter))

static void put(struct section_list *list, char letter, uint64_t addr, uint64_t size)
{
	struct image_section section = {
		.addr = addr, .size = size, .file_offset = addr + 0x1000, .path = "path", .object = "object"};

	assert_ok(section_list_put(list, &section, PLACE(letter)));
	assert_true(section_list_is_valid(list));
}

/* One letter for each address from 0 on, '.' for none. */
static void assert_list(const struct section_list *list, const char *expected)
{
	char text[64] = "";

	for (size_t addr = 0; expected[addr]; addr++) {
		const struct section_item *item = section_list_find(list, addr);

		text[addr] = item ? (char)(uintptr_t)item->place : '.';
		if (item)
			assert_int_equal(item->section.file_offset - item->section.addr, 0x1000);
	}
	assert_string_equal(text, expected);
}

TEST(keeps_order)
{
	CLEANUP(section_list_release) struct section_list list = {0};

	assert_list(&list, "....");
	put(&list, 'b', 8, 2);
	put(&list, 'a', 2, 2);
	put(&list, 'c', 12, 2);
	put(&list, 'd', 4, 4);
	assert_list(&list, "..aaddddbb..cc..");
	assert_int_equal(list.cnt, 4);
}

TEST(cuts_and_splits)
{
	CLEANUP(section_list_release) struct section_list list = {0};

	put(&list, 'a', 2, 10);
	put(&list, 'n', 5, 3);
	assert_list(&list, "..aaannnaaaa..");
	put(&list, 'f', 0, 3);
	assert_list(&list, "fffaannnaaaa..");
	put(&list, 'e', 11, 3);
	assert_list(&list, "fffaannnaaaeee");
	put(&list, 'x', 4, 8);
	assert_list(&list, "fffaxxxxxxxxee");
	put(&list, 'y', 0, 14);
	assert_list(&list, "yyyyyyyyyyyyyy");
	assert_int_equal(list.cnt, 1);
}

TEST(tells_what_is_shown)
{
	CLEANUP(section_list_release) struct section_list list = {0};

	put(&list, 'a', 2, 4);
	put(&list, 'a', 6, 2);
	put(&list, 'b', 10, 2);
	assert_true(section_list_shows(&list, 2, 6, PLACE('a')));
	assert_true(section_list_shows(&list, 5, 2, PLACE('a')));
	assert_false(section_list_shows(&list, 1, 2, PLACE('a')));
	assert_false(section_list_shows(&list, 2, 7, PLACE('a')));
	assert_false(section_list_shows(&list, 10, 2, PLACE('a')));
	assert_false(section_list_shows(&list, 20, 2, PLACE('a')));
	assert_false(section_list_shows_other(&list, 0, 10, PLACE('a')));
	assert_true(section_list_shows_other(&list, 0, 11, PLACE('a')));
	assert_true(section_list_shows_other(&list, 7, 1, PLACE('b')));
}

TEST(copies_do_not_change)
{
	CLEANUP(section_list_release) struct section_list list = {0};
	CLEANUP(section_list_release) struct section_list copy = {0};

	put(&list, 'a', 2, 4);
	assert_ok(section_list_copy(&copy, &list));
	put(&list, 'b', 4, 4);
	assert_list(&copy, "..aaaa....");
	assert_list(&list, "..aabbbb..");
}

/* A page of many is replaced again and again, and each list stays what it was. */
TEST(many_versions_share_what_is_the_same)
{
	enum { PAGES = 1000, VERSIONS = 300 };
	struct section_list lists[VERSIONS] = {0};

	for (uint64_t i = 0; i < PAGES; i++)
		put(&lists[0], 'a', i * 4, 4);
	assert_int_equal(lists[0].cnt, PAGES);
	for (int i = 1; i < VERSIONS; i++) {
		assert_ok(section_list_copy(&lists[i], &lists[i - 1]));
		put(&lists[i], 'b', (uint64_t)(i * 7 % PAGES) * 4, 4);
	}
	for (int i = 0; i < VERSIONS; i++) {
		size_t replaced = 0;

		for (uint64_t addr = 0; addr < PAGES * 4; addr += 4)
			replaced += section_list_find(&lists[i], addr)->place == PLACE('b');
		assert_int_equal(replaced, i);
		assert_int_equal(lists[i].cnt, PAGES);
	}
	/* Of some 20 chunks or more, one is another. */
	assert_true(lists[0].chunk_cnt > 15);
	for (size_t i = 0, other = 0; i < lists[0].chunk_cnt; i++) {
		other += lists[0].chunks[i] != lists[1].chunks[i];
		assert_true(other <= 1);
	}
	for (int i = 0; i < VERSIONS; i++)
		section_list_release(&lists[i]);
}

TEST(sections_follow_each_other)
{
	CLEANUP(section_list_release) struct section_list list = {0};

	for (uint64_t i = 0; i < 200; i++)
		put(&list, 'a', i * 10, 5);
	assert_int_equal(section_list_from(&list, 0)->section.addr, 0);
	assert_int_equal(section_list_from(&list, 5)->section.addr, 10);
	assert_int_equal(section_list_from(&list, 1004)->section.addr, 1000);
	assert_null(section_list_from(&list, 1995));
	assert_null(section_list_find(&list, 1007));
}

/* Against an array of addresses. */
TEST(random_puts_agree_with_a_plain_model)
{
	CLEANUP(section_list_release) struct section_list list = {0};
	char model[49];

	memset(model, '.', sizeof(model) - 1);
	model[48] = '\0';
	srand(3);
	for (int i = 0; i < 500; i++) {
		size_t addr = (size_t)rand() % 40, size = 1 + (size_t)rand() % 8;
		char letter = (char)('a' + rand() % 26);

		put(&list, letter, addr, size);
		memset(model + addr, letter, size);
		assert_list(&list, model);
	}
}

TEST_MAIN(NULL, NULL)
