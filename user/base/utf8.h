/* SPDX-License-Identifier: BSD-2-Clause */
/* Names may be any bytes. For formats that require UTF-8, U+FFFD replaces the bytes that are not. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/*
 * The length of the UTF-8 character at `text` (not at its end); 0: not UTF-8 (an overlong form or a
 * surrogate, too).
 */
size_t utf8_len(const char *text);

/* Whether the byte is not the first one of its character. */
static inline bool utf8_is_continued(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/*
 * A copy in valid UTF-8 of at most `max` bytes, cut between characters; the caller frees it. NULL: out of
 * memory.
 */
char *utf8_clean(const char *text, size_t max);
