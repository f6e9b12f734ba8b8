/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread's slices one after the other, wherever they are:
 *
 *	err = slice_cursor_begin(&cursor, thread);
 *	while (!err && (slice = slice_cursor_next(&cursor)))
 *		...
 *	err = slice_cursor_end(&cursor, err);
 */
#pragma once

#include "model/timeline.h"

struct slice_cursor {
	const struct timeline_thread *thread;
	size_t at;  /* in thread->slices */
	void *pass; /* through thread->stored */
	int err;
};

/* 0 or -ENOMEM. */
int slice_cursor_begin(struct slice_cursor *cursor, const struct timeline_thread *thread);

/* Good until the one after it. NULL: there is none, or no memory, which slice_cursor_end() tells. */
const struct slice *slice_cursor_next(struct slice_cursor *cursor);

/* `err` if that is not 0, else what went wrong on the way: 0 or -ENOMEM. */
int slice_cursor_end(struct slice_cursor *cursor, int err);

/* How many slices the thread has. */
size_t timeline_thread_slice_cnt(const struct timeline_thread *thread);

/*
 * The slices of threads that have stored ones become arrays in memory (or outside of it: base/spill.h), for
 * those who go back and forth. 0 or -ENOMEM.
 */
int timeline_load(struct timeline *timeline);
int timeline_thread_load(struct timeline_thread *thread);
