/* SPDX-License-Identifier: BSD-2-Clause */
#include "trigger/spec.h"

#include "assertions.h"
#include "base/array.h"

static void test_parts(void **state)
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

	(void)state;
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

static void test_malformed(void **state)
{
	static const char *const texts[] = {"", ":", ":main", "a.out:"};
	struct trigger_spec spec = {.symbol = (char *)"untouched"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_err(trigger_spec_parse(&spec, texts[i]), -EINVAL,
			   "is not a trigger: give SYMBOL or FILE:SYMBOL");
		assert_string_equal(spec.symbol, "untouched");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
