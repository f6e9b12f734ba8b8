/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A progress line for work that takes longer than a second: one line on stderr that is overwritten, and
 * cleared before the next message of base/log.h and at the end. Nothing is written if stderr is not a
 * terminal, or after progress_set_quiet().
 *
 *	if (progress_is_due())
 *		progress_tell("%d of %d", done, all);
 *	...
 *	progress_end();
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

void progress_set_quiet(void);

/* Whether stderr shows progress. */
bool progress_is_shown(void);

/* Whether the line is due: one second after the first call, then a few times a second. Cheap. */
bool progress_is_due(void);

/* Seconds since the first progress_is_due(). */
double progress_seconds(void);

void progress_tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Clears the line. It is shown again when it is due. */
void progress_clear(void);

/* Clears the line and restarts the clock. */
void progress_end(void);

enum { PROGRESS_NUMBER_BYTES = 32 };

/* "120,000" */
const char *progress_number(uint64_t number, char text[static PROGRESS_NUMBER_BYTES]);
