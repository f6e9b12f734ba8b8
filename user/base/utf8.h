/* SPDX-License-Identifier: BSD-2-Clause */
/* Names may be any bytes; formats whose strings are UTF-8 get U+FFFD for those that are none. */
#pragma once

#include <stddef.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/*
 * Length of the UTF-8 character at `text` (not at its end), 0 where it is none (overlong forms and surrogates
 * included).
 */
size_t utf8_len(const char *text);

/*
 * A copy that is valid UTF-8 and at most `max` bytes long, cut between characters; the caller's. NULL: no
 * memory.
 */
char *utf8_clean(const char *text, size_t max);

/*
 * The text itself where it is UTF-8, else a copy that is, which is the caller's to free in *ret_copy (else
 * NULL). Without memory: the text as it is.
 */
const char *utf8_cleaned(const char *text, char **ret_copy);
