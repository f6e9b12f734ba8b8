/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How errors are reported. A function returns 0 or a negative errno. The sentence that explains it is kept in
 * a per-thread slot until the command line prints it, once. Nothing below the command line writes to stderr.
 * A name in a sentence may contain any bytes; the sentence is stored as one line without control characters
 * (base/on_line.h).
 *
 *	if (!symbol)
 *		return fail(-ENOENT, "no symbol '%s' in %s", name, path);
 */
#pragma once

#include <errno.h>

/* Records the sentence (replacing an earlier one) and returns `err`, a negative errno. */
int fail(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same with ": strerror(-err)" appended: for a failed system call. */
int fail_errno(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends a line to the recorded sentence and returns `err`. */
int fail_line(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts "PREFIX: " before the sentence recorded on this thread and returns `err`. */
int fail_prefix(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * The sentence of the last failure on this thread if it has this error, else strerror(-err). Valid until the
 * next failure.
 */
const char *fail_message(int err);

/* Forgets the recorded sentence. Call it before a function that may fail without a sentence. */
void fail_reset(void);
