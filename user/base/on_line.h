/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names come from programs, files and processes that others made, and may be any bytes. Shown in a line of
 * text, none of them may end the line, colour the terminal, or turn the order of what stands around it:
 *
 *	\t \n		tab and newline
 *	\x1b		another control character (C0, DEL), or a byte that is no UTF-8
 *	\u009b \u202e	C1, line and paragraph separators, and what changes the direction of writing
 *			(Unicode UAX #9, 2.1 to 2.5)
 *
 * A backslash stays as it is, so that what was escaped may be escaped again.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

enum { ON_LINE_ESCAPE = 8 };

/* The number of bytes at the beginning of `text` that need no escape. */
size_t on_line_plain(const char *text);

/*
 * Writes the escape for the first character of `text`, which is not at its end and not plain. Returns the
 * number of bytes of `text` that it stands for.
 */
size_t on_line_escape(const char *text, char escape[static ON_LINE_ESCAPE]);

/* Copies `text` escaped, cut to `size` bytes with the NUL, never within an escape. Returns its length. */
size_t on_line_copy(char *to, size_t size, const char *text);

/* The same on the heap, uncut; the caller frees it. NULL: out of memory. */
char *on_line_dup(const char *text);

void on_line_put(const char *text, FILE *file);
