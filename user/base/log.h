/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages on stderr. Modules below the command line call only log_debug() and log_warn(); they report
 * failures through base/error.h. Each message is one line, whatever names it contains (base/on_line.h).
 */
#pragma once

#include <stdbool.h>

/* -v: show debug lines. Off at start. */
void log_set_verbose(bool on);

/* -q: log_say() prints nothing. Off at start. */
void log_set_quiet(bool on);

/* Shown with -v, as "trailcam: debug: ...". */
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Always shown, as "trailcam: warning: ...": something was left out or worked around, but the result is
 * valid.
 */
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The sentence of the last failure (base/error.h), as "trailcam: ...", on as many lines as it has. */
void log_fail(int err);

/* Shown unless -q, as "trailcam: ...": the command's remarks. */
void log_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
