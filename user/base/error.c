/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The error slot is thread-local, so that worker threads can fail without a lock; a worker pool copies the
 * first failure to the thread that waits for it (base/parallel.c). A sentence is stored with its error, so it
 * never explains a later error that has none.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/on_line.h"

enum { MESSAGE_BYTES = 2048 };

static _Thread_local char message[MESSAGE_BYTES];
static _Thread_local int message_err; /* that it explains */

static void __attribute__((format(printf, 2, 0))) record(int err, const char *fmt, va_list ap)
{
	/* `fmt`'s arguments may point into the old message: format beside it, then replace. */
	char text[MESSAGE_BYTES];

	vsnprintf(text, sizeof(text), fmt, ap);
	on_line_copy(message, sizeof(message), text);
	message_err = err;
}

int fail(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	record(err, fmt, ap);
	va_end(ap);
	return err;
}

int fail_errno(int err, const char *fmt, ...)
{
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	record(err, fmt, ap);
	va_end(ap);
	len = strlen(message);
	snprintf(message + len, sizeof(message) - len, ": %s", strerror(-err));
	return err;
}

int fail_line(int err, const char *fmt, ...)
{
	char text[MESSAGE_BYTES];
	size_t len = strlen(message);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len + 1 < sizeof(message)) {
		message[len++] = '\n';
		on_line_copy(message + len, sizeof(message) - len, text);
	}
	return err;
}

int fail_prefix(int err, const char *fmt, ...)
{
	char whole[MESSAGE_BYTES], text[MESSAGE_BYTES];
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	len = on_line_copy(whole, sizeof(whole), text);
	snprintf(whole + len, sizeof(whole) - len, ": %s", fail_message(err));
	memcpy(message, whole, sizeof(message));
	message_err = err;
	return err;
}

const char *fail_message(int err)
{
	return message[0] && err == message_err ? message : strerror(err < 0 ? -err : err);
}

void fail_reset(void)
{
	message[0] = '\0';
}
