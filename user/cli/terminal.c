/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/on_line.h"
#include "base/utf8.h"

static const char ellipsis[] = "...";

enum { TEXT_LEAST = 16 }; /* the least columns for a text that does not fit on one line */

struct terminal terminal_of_stdout(void)
{
	const char *no_color = getenv("NO_COLOR"), *kind = getenv("TERM");
	struct terminal terminal = {0};
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return terminal;
	terminal.has_colours = !(no_color && *no_color) && kind && *kind && strcmp(kind, "dumb") != 0;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		terminal.columns = size.ws_col;
	return terminal;
}

/* How many bytes of the text are that many columns; *ret_all: all of it. */
static size_t fitting(const char *text, size_t columns, bool *ret_all)
{
	size_t bytes = 0;

	for (size_t i = 0; text[i]; i++) {
		if (!utf8_is_continued(text[i]) && !columns--) {
			*ret_all = false;
			return bytes;
		}
		bytes = i + 1;
	}
	*ret_all = true;
	return bytes;
}

void terminal_text(const struct terminal *terminal, enum colour colour, size_t used, const char *text)
{
	static const char *const codes[] = {
		[COLOUR_NONE] = "",	   [COLOUR_BOLD] = "\033[1m",	[COLOUR_DIM] = "\033[2m",
		[COLOUR_RED] = "\033[31m", [COLOUR_GREEN] = "\033[32m", [COLOUR_CYAN] = "\033[36m",
	};
	CLEANUP(freep) char *shown = on_line_dup(text);
	size_t room = terminal->columns > used ? terminal->columns - used : 0, bytes;
	bool is_coloured = terminal->has_colours && colour != COLOUR_NONE, all = true;

	text = shown ? shown : "";
	bytes = strlen(text);
	room = room < TEXT_LEAST ? TEXT_LEAST : room;
	if (terminal->columns)
		bytes = fitting(text, room, &all);
	if (!all)
		bytes = fitting(text, room - strlen(ellipsis), &all);
	if (is_coloured)
		fputs(codes[colour], stdout);
	fwrite(text, 1, bytes, stdout);
	if (text[bytes])
		fputs(ellipsis, stdout);
	if (is_coloured)
		fputs("\033[0m", stdout);
}

void terminal_heading(const struct terminal *terminal, const char *words)
{
	putchar('\n');
	terminal_text(terminal, COLOUR_BOLD, 0, words);
	putchar('\n');
}

struct duration_text duration_text(uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
	struct duration_text text;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		uint64_t thousandth = units[i].ns / 1000,
			 rounded = ns / thousandth + (ns % thousandth * 2 >= thousandth);

		/* 999.9996 us are a millisecond. */
		if (rounded < 1000)
			continue;
		snprintf(text.text, sizeof(text.text), "%" PRIu64 ".%03" PRIu64 " %s", rounded / 1000,
			 rounded % 1000, units[i].name);
		return text;
	}
	snprintf(text.text, sizeof(text.text), "%" PRIu64 " ns", ns);
	return text;
}

struct duration_text difference_text(int64_t ns)
{
	struct duration_text size = duration_text(ns < 0 ? -(uint64_t)ns : (uint64_t)ns), text;

	snprintf(text.text, sizeof(text.text), "%s%.30s", ns < 0 ? "-" : ns ? "+" : "", size.text);
	return text;
}

struct bytes_text bytes_text(uint64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	struct bytes_text text;
	double value = (double)bytes / 1024;
	size_t i = 0;

	if (bytes < 1024) {
		snprintf(text.text, sizeof(text.text), "%" PRIu64 " B", bytes);
		return text;
	}
	for (; value >= 1024 && i + 1 < ARRAY_SIZE(units); i++)
		value /= 1024;
	snprintf(text.text, sizeof(text.text), "%.1f %s", value, units[i]);
	return text;
}

struct when_text when_text(uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	struct when_text text = {0};
	char date[64], zone[16];
	struct tm tm;

	if (!realtime_ns || !localtime_r(&seconds, &tm))
		return text;
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	snprintf(text.text, sizeof(text.text), "%s.%09" PRIu64 " %s", date, realtime_ns % 1000000000, zone);
	return text;
}
