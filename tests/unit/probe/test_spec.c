/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/spec.h"

#include "assertions.h"
#include "base/array.h"

TEST(test_parts)
{
	static const struct {
		const char *text, *file, *symbol;
	} cases[] = {
		{"main", NULL, "main"},
		{"libc.so.6:puts", "libc.so.6", "puts"},
		{"./a.out:main", "./a.out", "main"},
		{"/usr/lib/x.so:memcpy@GLIBC_2.14", "/usr/lib/x.so", "memcpy@GLIBC_2.14"},
		{"ns::f", NULL, "ns::f"},
		{"a::b::c(int, x::y)", NULL, "a::b::c(int, x::y)"},
		{"lib.so:a::b", "lib.so", "a::b"},
		{"lib.so:f(a::b)", "lib.so", "f(a::b)"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct trigger_spec spec;

		assert_ok(trigger_spec_parse(&spec, cases[i].text));
		assert_string_equal(spec.symbol, cases[i].symbol);
		if (cases[i].file)
			assert_string_equal(spec.file, cases[i].file);
		else
			assert_null(spec.file);
		trigger_spec_release(&spec);
	}
}

static void assert_text(const char *text, const char *expected)
{
	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
}

TEST(test_places)
{
	static const struct {
		const char *text;
		struct trigger_spec spec;
	} cases[] = {
		{"f+4", {SPEC_SYMBOL, NULL, NULL, (char *)"f", NULL, 4, 0, 0}},
		{"lib.so:f+0x10", {SPEC_SYMBOL, NULL, (char *)"lib.so", (char *)"f", NULL, 16, 0, 0}},
		{"f#2", {SPEC_SYMBOL, NULL, NULL, (char *)"f", NULL, 0, 0, 2}},
		{"f#2+8", {SPEC_SYMBOL, NULL, NULL, (char *)"f", NULL, 8, 0, 2}},
		{"operator+", {SPEC_SYMBOL, NULL, NULL, (char *)"operator+", NULL, 0, 0, 0}},
		{"ns::operator+(int)",
		 {SPEC_SYMBOL, NULL, NULL, (char *)"ns::operator+(int)", NULL, 0, 0, 0}},
		{"f(char*)", {SPEC_SYMBOL, NULL, NULL, (char *)"f(char*)", NULL, 0, 0, 0}},
		{"parse_*", {SPEC_GLOB, NULL, NULL, (char *)"parse_*", NULL, 0, 0, 0}},
		{"libc:str[np]*", {SPEC_GLOB, NULL, (char *)"libc", (char *)"str[np]*", NULL, 0, 0, 0}},
		{"std::vector<*", {SPEC_GLOB, NULL, NULL, (char *)"std::vector<*", NULL, 0, 0, 0}},
		{"0x401000", {SPEC_ADDRESS, NULL, NULL, NULL, NULL, 0x401000, 0, 0}},
		{"./a.out:0x1139", {SPEC_ADDRESS, NULL, (char *)"./a.out", NULL, NULL, 0x1139, 0, 0}},
		{"main.c:12", {SPEC_LINE, NULL, NULL, NULL, (char *)"main.c", 0, 12, 0}},
		{"./a.out:src/main.c:12",
		 {SPEC_LINE, NULL, (char *)"./a.out", NULL, (char *)"src/main.c", 0, 12, 0}},
		{"usdt:python:gc__start",
		 {SPEC_USDT, NULL, NULL, (char *)"gc__start", (char *)"python", 0, 0, 0}},
		{"libc.so.6:usdt:libc:setjmp",
		 {SPEC_USDT, NULL, (char *)"libc.so.6", (char *)"setjmp", (char *)"libc", 0, 0, 0}},
		{".", {SPEC_MARK, NULL, NULL, NULL, NULL, 0, 0, 0}},
		{"lib.so:.", {SPEC_MARK, NULL, (char *)"lib.so", NULL, NULL, 0, 0, 0}},
		{"?", {SPEC_PICK, NULL, NULL, NULL, NULL, 0, 0, 0}},
		{"libc:?", {SPEC_PICK, NULL, (char *)"libc", NULL, NULL, 0, 0, 0}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct trigger_spec *expected = &cases[i].spec;
		struct trigger_spec spec;

		assert_ok(trigger_spec_parse(&spec, cases[i].text));
		assert_int_equal(spec.kind, expected->kind);
		assert_non_null(strstr(cases[i].text, spec.place));
		assert_text(spec.file, expected->file);
		assert_text(spec.symbol, expected->symbol);
		assert_text(spec.source, expected->source);
		assert_int_equal(spec.offset, expected->offset);
		assert_int_equal(spec.line, expected->line);
		assert_int_equal(spec.selector, expected->selector);
		trigger_spec_release(&spec);
	}
}

TEST(test_malformed)
{
	static const char *const texts[] = {
		"", ":", ":main", "a.out:", "usdt:", "usdt:x", "usdt:x:", "a.out:usdt::y"};
	struct trigger_spec spec = {.symbol = (char *)"untouched"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_err(trigger_spec_parse(&spec, texts[i]), -EINVAL,
			   "is not a trigger: give SYMBOL, FILE:SYMBOL");
		assert_string_equal(spec.symbol, "untouched");
	}
	assert_err(trigger_spec_parse(&spec, "f#0"), -EINVAL, "numbered from 1");
	assert_err(trigger_spec_parse(&spec, "0xzz"), -EINVAL, "not an address");
}

TEST_MAIN(NULL, NULL)
