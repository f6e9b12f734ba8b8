/* SPDX-License-Identifier: BSD-2-Clause */
/* The vocabulary of the unit tests: cmocka, and two words for functions that return 0 or a negative errno. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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
