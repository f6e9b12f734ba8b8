/* SPDX-License-Identifier: BSD-2-Clause */
/* One line, one write: lines of the traced program and ours may share a terminal, so none is ever split. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static bool verbose;

void log_set_verbose(bool on)
{
	verbose = on;
}

static void __attribute__((format(printf, 2, 0))) say(const char *kind, const char *fmt, va_list ap)
{
	char line[4096];
	int len = snprintf(line, sizeof(line), "trailcam: %s", kind);
	ssize_t written;

	len += vsnprintf(line + len, sizeof(line) - (size_t)len - 1, fmt, ap);
	if (len > (int)sizeof(line) - 2)
		len = sizeof(line) - 2;
	line[len++] = '\n';
	written = write(STDERR_FILENO, line, (size_t)len);
	(void)written; /* a closed stderr is the user's choice */
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
DEFINE_LOG(log_say, "", true)
