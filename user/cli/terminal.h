/* SPDX-License-Identifier: BSD-2-Clause */
/* Colours and width of standard output. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum colour { COLOUR_NONE, COLOUR_BOLD, COLOUR_DIM, COLOUR_RED, COLOUR_GREEN, COLOUR_CYAN };

struct terminal {
	bool has_colours; /* on a terminal that is not dumb, unless NO_COLOR (https://no-color.org) is set */
	size_t columns;	  /* 0: no limit */
};

struct terminal terminal_of_stdout(void);

/*
 * Prints the text at the end of a line with `used` columns; control characters become "?". A text that does
 * not fit is cut, and ends in "...".
 */
void terminal_text(const struct terminal *terminal, enum colour colour, size_t used, const char *text);

/* A line of its own, with an empty one before it. */
void terminal_heading(const struct terminal *terminal, const char *words);

/* "1.234 ms". */
struct duration_text {
	char text[32];
};
struct duration_text duration_text(uint64_t ns);

/* The same with a sign; "0 ns" has none. */
struct duration_text difference_text(int64_t ns);

/* "1.2 MiB"; bytes as they are. */
struct bytes_text {
	char text[32];
};
struct bytes_text bytes_text(uint64_t bytes);

/* 0 of nothing. */
static inline double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/*
 * A time since the epoch as local time: "2026-11-21 10:22:33.123456789 +0100". "" if it cannot be converted.
 */
struct when_text {
	char text[160];
};
struct when_text when_text(uint64_t realtime_ns);
