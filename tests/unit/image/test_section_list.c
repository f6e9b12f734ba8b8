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
		size_t i = section_list_find(list, addr);

		text[addr] = i < list->cnt ? (char)(uintptr_t)list->places[i] : '.';
		if (i < list->cnt)
			assert_int_equal(list->sections[i].file_offset - list->sections[i].addr, 0x1000);
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

TEST(invalid_lists_are_told)
{
	struct image_section sections[] = {{.addr = 4, .size = 4, .object = "a"},
					   {.addr = 6, .size = 4, .object = "b"}};
	struct place *places[] = {PLACE('a'), PLACE('b')};
	struct section_list list = {.sections = sections, .places = places, .cnt = 2};

	assert_false(section_list_is_valid(&list)); /* overlap */
	sections[1].addr = 8;
	assert_true(section_list_is_valid(&list));
	sections[1].size = 0;
	assert_false(section_list_is_valid(&list)); /* empty */
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
