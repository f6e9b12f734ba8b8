/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/show/fit_name.h"

#include <stdlib.h>

#include "assertions.h"

#define UMLAUTS "\303\244\303\266\303\274"

static void fits(const char *name, size_t columns, const char *expected)
{
	char *text = fit_name(name, columns);

	assert_string_equal(text, expected);
	free(text);
}

TEST(test_folded)
{
	static const char *const insert = "net::map<a::b<int>, c>::insert(std::vector<int> const&, int)";

	fits(insert, 60, insert);
	fits(insert, 59, "net::map<...>::insert(std::vector<...> const&, int)");
	fits(insert, 50, "net::map<...>::insert(...)");
	fits(insert, 25, "...:map<...>::insert(...)");
	fits("short", 5, "short");
	fits("a_long_name_of_c", 10, "...me_of_c");
}

TEST(test_brackets)
{
	fits("box<a_long_argument>::operator<<(stream&)", 40, "box<...>::operator<<(stream&)");
	fits("box<a_long_argument>::operator->(argument)", 28, "box<...>::operator->(...)");
	fits("box<a_long_argument>::operator()(argument)", 28, "box<...>::operator()(...)");
	fits("box<a_long_argument, fn() -> int>::get()", 35, "box<...>::get()");
	fits("(anonymous namespace)::f(a_long_argument)", 30, "(anonymous namespace)::f(...)");
	fits("a_long_name < without a partner", 20, "...without a partner");
	/* Columns are characters: these are nine, of two bytes each. */
	fits(UMLAUTS UMLAUTS UMLAUTS, 9, UMLAUTS UMLAUTS UMLAUTS);
	fits(UMLAUTS UMLAUTS UMLAUTS, 8, "...\303\266\303\274" UMLAUTS);
}

TEST_MAIN(NULL, NULL)
