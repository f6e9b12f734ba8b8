/* SPDX-License-Identifier: BSD-2-Clause */
/* One line, one write: lines of the traced program and ours may share a terminal, so none is ever split. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/on_line.h"
#include "base/progress.h"

enum { LINE_BYTES = 4096 };

static bool verbose, quiet;

void log_set_verbose(bool on)
{
	verbose = on;
}

void log_set_quiet(bool on)
{
	quiet = on;
}

static void write_line(char *line, size_t len)
{
	ssize_t written;

	progress_clear();
	line[len] = '\n';
	written = write(STDERR_FILENO, line, len + 1);
	(void)written; /* a closed stderr is the user's choice */
}

static void __attribute__((format(printf, 2, 0))) say(const char *kind, const char *fmt, va_list ap)
{
	char line[LINE_BYTES], text[LINE_BYTES];
	size_t len = (size_t)snprintf(line, sizeof(line), "trailcam: %s", kind);

	vsnprintf(text, sizeof(text), fmt, ap);
	len += on_line_copy(line + len, sizeof(line) - len - 1, text);
	write_line(line, len);
}

void log_fail(int err)
{
	char line[LINE_BYTES];

	write_line(line, (size_t)snprintf(line, sizeof(line) - 1, "trailcam: %s", fail_message(err)));
}

#define DEFINE_LOG(name, kind, condition) \
	void name(const char *fmt, ...)   \
	{                                 \
		va_list ap;               \
                                          \
		if (!(condition))         \
			return;           \
		va_start(ap, fmt);        \
		say(kind, fmt, ap);       \
		va_end(ap);               \
	}

DEFINE_LOG(log_debug, "debug: ", verbose)
DEFINE_LOG(log_warn, "warning: ", true)
DEFINE_LOG(log_say, "", !quiet)
