/* SPDX-License-Identifier: BSD-2-Clause */
/* The vocabulary of the unit tests: cmocka, and two words for functions that return 0 or a negative errno. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
/* fail() is base/error.h's; cmocka's fail_msg() is made anew without it. */
#undef fail
#undef fail_msg
#define fail_msg(...)                               \
	do {                                        \
		print_error("ERROR: " __VA_ARGS__); \
		print_error("\n");                  \
		_fail(__FILE__, __LINE__);          \
	} while (0)

#include "base/error.h"

#define assert_ok(expr)                                                                 \
	do {                                                                            \
		int _result = (expr);                                                   \
		if (_result < 0)                                                        \
			fail_msg("%s: %d (%s)", #expr, _result, fail_message(_result)); \
	} while (0)

/* The call fails with `err` and says a sentence that contains `text`. */
#define assert_err(expr, err, text)                                                                   \
	do {                                                                                          \
		fail_reset();                                                                         \
		assert_int_equal((expr), (err));                                                      \
		if (!strstr(fail_message(err), (text)))                                               \
			fail_msg("%s: \"%s\" does not say \"%s\"", #expr, fail_message(err), (text)); \
	} while (0)

static struct CMUnitTest unit_tests[128];
static size_t unit_test_cnt;

static inline void test_add(struct CMUnitTest test)
{
	if (unit_test_cnt == sizeof(unit_tests) / sizeof(*unit_tests))
		abort();
	unit_tests[unit_test_cnt++] = test;
}

/*
 * TEST(name) { ... } is a test. TEST_WITH() also calls `setup` before and `teardown` after it; each may be
 * NULL. A constructor adds it, so that none can be forgotten; they run in the order of the file.
 */
#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, setup, teardown)                                                   \
	static void name(void **state);                                                    \
	__attribute__((constructor(1000 + __COUNTER__))) static void register_##name(void) \
	{                                                                                  \
		test_add((struct CMUnitTest){#name, name, setup, teardown, NULL});         \
	}                                                                                  \
	static void name(__attribute__((unused)) void **state)

/* Runs the tests; `setup` before the first, `teardown` after the last. Returns how many failed. */
static inline int tests_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
	return _cmocka_run_group_tests("tests", unit_tests, unit_test_cnt, setup, teardown);
}

/* A program of tests that needs nothing else. */
#define TEST_MAIN(setup, teardown)                 \
	int main(void)                             \
	{                                          \
		return tests_run(setup, teardown); \
	}
