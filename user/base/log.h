/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the program says on stderr beside its result. Modules below the command line call log_debug() and
 * log_warn() only; failures go through base/error.h. Each is one line, whatever the names in it
 * (base/on_line.h).
 */
#pragma once

#include <stdbool.h>

/* -v: debug lines are shown. Off at start. */
void log_set_verbose(bool on);

/* -q: log_say() says nothing. Off at start. */
void log_set_quiet(bool on);

/* Shown with -v, as "trailcam: debug: ...". */
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Always shown, as "trailcam: warning: ...": something was left out or worked around, the result stands. */
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The sentence of the last failure (base/error.h), as "trailcam: ...", on as many lines as it has. */
void log_fail(int err);

/* Shown without -q, as "trailcam: ...": the command's own remarks. */
void log_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
