/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a failure travels: a function returns 0 or a negative errno, and the sentence that explains it waits in
 * a per-thread slot until the command line prints it, once. Nothing below the command line writes to stderr.
 * Names in a sentence may be any bytes: it is recorded as one line that changes no terminal (base/on_line.h).
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

/* Puts a further line behind the recorded sentence. */
int fail_line(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts "PREFIX: " before the sentence recorded on this thread and returns `err`. */
int fail_prefix(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * The sentence of the last failure on this thread, if it was of this error; else strerror(-err). Valid until
 * the next failure.
 */
const char *fail_message(int err);

/* Forgets the recorded sentence: before a call whose own failure may come without one. */
void fail_reset(void);
