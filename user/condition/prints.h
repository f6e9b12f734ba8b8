/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values to print with a hit: expressions as in conditions (condition/condition.h), separated by commas. The
 * kernel evaluates them when it records the hit.
 *
 *	arg0, *(int *)(arg1 + 8), str(arg1), str(arg2, 200), ret, (char)arg3
 *
 * Without a list, they are the parameters that the debug information knows (condition/condition_values.h).
 *
 * str(P) is the text at P, up to PRINT_TEXT bytes; str(P, MAX) up to MAX bytes. The name of a value is its
 * expression.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/hit.h"

enum { PRINTS_MAX = 16, PRINT_TEXT = 128, PRINT_TEXT_MAX = 1024 };

struct field_lookup;
struct prints;

/* -EINVAL as condition_parse(); also: more than PRINTS_MAX. */
int prints_parse(struct prints **ret_prints, const char *text);

/* As condition_parse_with(). */
int prints_parse_with(struct prints **ret_prints, const char *text, const struct field_lookup *fields);
void prints_free(struct prints *prints);

size_t prints_cnt(const struct prints *prints);
const char *prints_name(const struct prints *prints, size_t nth);

/* As condition_asks_return() and so on. */
bool prints_ask_return(const struct prints *prints);
bool prints_ask_result(const struct prints *prints);
bool prints_read_memory(const struct prints *prints);
uint32_t prints_ask_args(const struct prints *prints);

/* The size of the values in a hit, a multiple of 8. */
uint32_t prints_bytes(const struct prints *prints);

/*
 * Formats a value of a hit: a number, a constant of an enum ("POST (2)"), the address of a pointer (0x...), a
 * text ("..." after one that was cut), or why there is none ("? (...)"). The caller frees *ret_text; NULL:
 * the value was unreadable. 0 or -ENOMEM.
 */
int prints_value(const struct prints *prints, size_t nth, const struct caught_hit *hit, const uint8_t *bytes,
		 char **ret_text, enum value_kind *ret_kind);

DEFINE_CLEANUP(struct prints *, prints_free)
