/* SPDX-License-Identifier: BSD-2-Clause */
/* There is one terminal and so one line: the state is global. */
#include "base/progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define FIRST_NS  1000000000ull
#define OTHERS_NS 200000000ull

static struct {
	bool quiet, is_there;
	enum { UNKNOWN, TERMINAL, OTHER } stderr_is;
	uint64_t began_ns, due_ns;
} line;

void progress_set_quiet(void)
{
	line.quiet = true;
}

bool progress_is_shown(void)
{
	if (line.stderr_is == UNKNOWN)
		line.stderr_is = isatty(STDERR_FILENO) ? TERMINAL : OTHER;
	return line.stderr_is == TERMINAL && !line.quiet;
}

bool progress_is_due(void)
{
	uint64_t now;

	if (!progress_is_shown())
		return false;
	now = clock_ns(CLOCK_MONOTONIC);
	if (!line.began_ns) {
		line.began_ns = now;
		line.due_ns = now + FIRST_NS;
	}
	return now >= line.due_ns;
}

double progress_seconds(void)
{
	return line.began_ns ? (double)(clock_ns(CLOCK_MONOTONIC) - line.began_ns) / 1e9 : 0;
}

void progress_tell(const char *fmt, ...)
{
	char text[160] = "\r\033[K";
	size_t len = strlen(text);
	ssize_t written;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + len, sizeof(text) - len, fmt, ap);
	va_end(ap);
	line.is_there = true;
	line.due_ns = clock_ns(CLOCK_MONOTONIC) + OTHERS_NS;
	written = write(STDERR_FILENO, text, strlen(text));
	(void)written;
}

void progress_clear(void)
{
	static const char clear[] = "\r\033[K";
	ssize_t written = line.is_there ? write(STDERR_FILENO, clear, strlen(clear)) : 0;

	(void)written;
	line.is_there = false;
}

void progress_end(void)
{
	progress_clear();
	line.began_ns = 0;
}

const char *progress_number(uint64_t number, char text[static PROGRESS_NUMBER_BYTES])
{
	char digits[24];
	size_t cnt = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, number), len = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (i && (cnt - i) % 3 == 0)
			text[len++] = ',';
		text[len++] = digits[i];
	}
	text[len] = '\0';
	return text;
}
