/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is printed of a hit: expressions as in conditions (condition/condition.h), with commas between them,
 * evaluated by the kernel when the hit is recorded.
 *
 *	arg0, *(int *)(arg1 + 8), str(arg1), str(arg2, 200), ret, (char)arg3
 *
 * str(P) is the text at P, up to PRINT_TEXT bytes of it, str(P, MAX) up to MAX. Values are named by their
 * text.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

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

/* As of conditions. */
bool prints_ask_return(const struct prints *prints);
bool prints_ask_result(const struct prints *prints);
bool prints_read_memory(const struct prints *prints);
uint32_t prints_ask_args(const struct prints *prints);

/* How much room the values take in a hit, a multiple of 8. */
uint32_t prints_bytes(const struct prints *prints);

/*
 * The value in such bytes as text, the caller's: a number, 0xADDRESS of a pointer, a text as it is ("..."
 * behind one that is longer). NULL in *ret_text: it could not be read. 0 or -ENOMEM.
 */
int prints_value(const struct prints *prints, size_t nth, const uint8_t *bytes, char **ret_text);

DEFINE_CLEANUP(struct prints *, prints_free)
