/* SPDX-License-Identifier: BSD-2-Clause */
/* Names may be any bytes; formats whose strings are UTF-8 get U+FFFD for those that are none. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* Length of the UTF-8 character at `text` (not at its end), 0 where it is none (overlong forms and surrogates included). */
size_t utf8_len(const char *text);

/* Whether all of it is UTF-8. */
bool utf8_is_clean(const char *text);

/* A copy that is valid UTF-8 and at most `max` bytes long, cut between characters; the caller's. NULL: no memory. */
char *utf8_clean(const char *text, size_t max);
