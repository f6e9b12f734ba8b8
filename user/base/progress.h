/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What takes longer than a second tells so on a terminal: one line of stderr, which is written over, and
 * cleared by the next line of base/log.h or at the end. Elsewhere, and after progress_set_quiet(), nothing is
 * written.
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

/* Whether stderr shows any. */
bool progress_is_shown(void);

/* Whether it is time for the line: a second after the first question, then a few times a second. Cheap. */
bool progress_is_due(void);

/* Since the first question. */
double progress_seconds(void);

void progress_tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Takes the line away, if there is one; it comes again when it is due. */
void progress_clear(void);

/* The same, and what comes next begins anew. */
void progress_end(void);

enum { PROGRESS_NUMBER_BYTES = 32 };

/* "120,000" */
const char *progress_number(uint64_t number, char text[static PROGRESS_NUMBER_BYTES]);
