/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's part is tests/e2e/values.sh's. */
#include "condition/prints.h"

#include <stdlib.h>

#include "assertions.h"
#include "condition/condition_tree.h"
#include "model/hit.h"

static struct prints *parse(const char *text)
{
	struct prints *prints;

	assert_ok(prints_parse(&prints, text));
	return prints;
}

TEST(test_names)
{
	struct prints *prints = parse(" str(arg1) ,*(int *)(arg0 + 8),str(arg2, 5),  ret[1] ");

	assert_int_equal(prints_cnt(prints), 4);
	assert_string_equal(prints_name(prints, 0), "str(arg1)");
	assert_string_equal(prints_name(prints, 1), "*(int *)(arg0 + 8)");
	assert_string_equal(prints_name(prints, 2), "str(arg2, 5)");
	assert_string_equal(prints_name(prints, 3), "ret[1]");
	assert_true(prints_ask_return(prints));
	assert_true(prints_read_memory(prints));
	assert_int_equal(prints_ask_args(prints), 7);
	assert_int_equal(prints_bytes(prints) % 8, 0);
	prints_free(prints);
	prints = parse("str(arg11) == \"x\"");
	assert_int_equal(prints_cnt(prints), 1);
	assert_int_equal(prints_bytes(prints), 16);
	prints_free(prints);
}

/* `state` and eight bytes of the one value of `text`. */
static void shows(const char *text, int64_t state, const char *bytes, const char *expected)
{
	struct prints *prints = parse(text);
	struct caught_hit hit = {0};
	char buffer[64] = "", *shown;
	enum value_kind kind;

	assert_in_range(prints_bytes(prints), 16, sizeof(buffer));
	memcpy(buffer, &state, sizeof(state));
	memcpy(buffer + sizeof(state), bytes, 8);
	assert_ok(prints_value(prints, 0, &hit, (const uint8_t *)buffer, &shown, &kind));
	if (expected)
		assert_string_equal(shown, expected);
	else
		assert_null(shown);
	free(shown);
	prints_free(prints);
}

TEST(test_values)
{
	shows("arg0", 1, "\xfe\xff\xff\xff\xff\xff\xff\xff", "-2");
	shows("(u64)arg0", 1, "\xfe\xff\xff\xff\xff\xff\xff\xff", "18446744073709551614");
	shows("(char *)arg0", 1, "\x10\x20\0\0\0\0\0\0", "0x2010");
	shows("arg0", 0, "12345678", NULL);
	shows("str(arg0, 5)", 4, "abc\0....", "abc");
	shows("str(arg0, 5)", 1, "\0.......", "");
	shows("str(arg0, 5)", 6, "abcde\0..", "abcde");
	shows("str(arg0, 5)", 7, "abcdef\0.", "abcde...");
	shows("str(arg0, 5)", -14, "abcdef\0.", NULL);
}

/* A value of an enum of one signed byte. */
static void shows_constant(struct elf_enum *constants, int8_t value, const char *expected)
{
	struct condition_node node = {
		.kind = NODE_ARG, .type = {.size = 1, .is_signed = true}, .constants = constants};
	struct prints prints = {.items = {{.name = (char *)"x", .root = &node}}, .cnt = 1};
	int64_t bytes[] = {1, value};
	struct caught_hit hit = {0};
	char *shown;
	enum value_kind kind;

	assert_ok(prints_value(&prints, 0, &hit, (const uint8_t *)bytes, &shown, &kind));
	assert_string_equal(shown, expected);
	free(shown);
}

TEST(test_constants)
{
	struct elf_constant numbers[] = {
		{(char *)"NONE", 0}, {(char *)"ONE", 1}, {(char *)"THREE", 3}, {(char *)"LAST", 0xff}};
	struct elf_constant bits[] = {{(char *)"NONE", 0}, {(char *)"READ", 1}, {(char *)"WRITE", 2}};
	struct elf_enum plain = {.constants = numbers, .cnt = 4}, flags = {.constants = bits, .cnt = 3};

	shows_constant(&plain, 3, "THREE (3)");
	shows_constant(&plain, -1, "LAST (-1)");
	shows_constant(&plain, 2, "2");
	shows_constant(&flags, 0, "NONE (0)");
	shows_constant(&flags, 3, "READ | WRITE (3)");
	shows_constant(&flags, 7, "7");
}

static enum value_kind kind_of(struct value_type type, uint64_t number)
{
	struct condition_node node = {.kind = NODE_ARG, .type = type};
	struct prints prints = {.items = {{.name = (char *)"x", .root = &node}}, .cnt = 1};
	uint64_t bytes[] = {1, number};
	struct caught_hit hit = {0};
	enum value_kind kind;
	char *shown;

	assert_ok(prints_value(&prints, 0, &hit, (const uint8_t *)bytes, &shown, &kind));
	free(shown);
	return kind;
}

TEST(test_kinds)
{
	assert_int_equal(kind_of((struct value_type){8, true, 0}, UINT64_MAX), VALUE_NUMBER);
	assert_int_equal(kind_of((struct value_type){8, false, 0}, INT64_MAX), VALUE_NUMBER);
	/* no number of 64 bits with a sign */
	assert_int_equal(kind_of((struct value_type){8, false, 0}, UINT64_MAX), VALUE_TEXT);
	assert_int_equal(kind_of((struct value_type){4, true, 1}, 7), VALUE_POINTER);
}

/* A text's state is its length, and one more; a longer one is cut. */
TEST(test_counted)
{
	struct prints prints = {.items = {{.is_text = true, .max = 6, .address_arg = 2}}, .cnt = 1};
	struct caught_hit hit = {.args = {0, 0x1000}};
	struct {
		int64_t state;
		char text[8];
	} value = {4, "abcdefg"};
	char *shown;
	enum value_kind kind;

	assert_ok(prints_value(&prints, 0, &hit, (const uint8_t *)&value, &shown, &kind));
	assert_string_equal(shown, "abc");
	free(shown);
	value.state = 8;
	assert_ok(prints_value(&prints, 0, &hit, (const uint8_t *)&value, &shown, &kind));
	assert_string_equal(shown, "abcdef...");
	free(shown);
	value.state = -14;
	assert_ok(prints_value(&prints, 0, &hit, (const uint8_t *)&value, &shown, &kind));
	assert_string_equal(shown, "0x1000 (unreadable)");
	free(shown);
}

/* They take no room, and a return value needs a return. */
TEST(test_lacks)
{
	struct prints prints = {.items = {{.lack = "why"}, {.is_result = true}}, .cnt = 2};
	struct caught_hit hit = {0};
	char *shown;
	enum value_kind kind;

	prints_place(&prints, &prints.items[0]);
	assert_int_equal(prints_bytes(&prints), 0);
	assert_ok(prints_value(&prints, 0, &hit, NULL, &shown, &kind));
	assert_string_equal(shown, "? (why)");
	free(shown);
	assert_ok(prints_value(&prints, 1, &hit, NULL, &shown, &kind));
	assert_string_equal(shown, "? (the call ended in a jump to another function)");
	free(shown);
}

TEST(test_refused)
{
	static const struct {
		const char *text, *sentence;
	} cases[] = {
		{"", "a value is missing"},
		{"arg0,", "a value is missing"},
		{"arg0 arg1", "a comma between values"},
		{"str(arg0", "')' is missing"},
		{"str(arg0, 0)", "a number from 1 to 1024"},
		{"str(arg0, arg1)", "a number from 1 to 1024"},
		{"comm", "a text can only be compared"},
		{"0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6", "at most 16 values"},
	};
	struct prints *prints;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_err(prints_parse(&prints, cases[i].text), -EINVAL, cases[i].sentence);
}

TEST_MAIN(NULL, NULL)
