/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/slice_cursor.h"

#include "base/spill.h"

int slice_cursor_begin(struct slice_cursor *cursor, const struct timeline_thread *thread)
{
	*cursor = (struct slice_cursor){.thread = thread};
	if (thread->stored)
		cursor->err = thread->stored->ops->begin(thread->stored, &cursor->pass);
	return cursor->err;
}

const struct slice *slice_cursor_next(struct slice_cursor *cursor)
{
	const struct timeline_thread *thread = cursor->thread;

	if (thread->stored)
		return thread->stored->ops->next(cursor->pass, &cursor->err);
	SPILL_PASS(thread->slices, cursor->at);
	return cursor->at < thread->slice_cnt ? &thread->slices[cursor->at++] : NULL;
}

int slice_cursor_end(struct slice_cursor *cursor, int err)
{
	if (cursor->pass)
		cursor->thread->stored->ops->end(cursor->pass);
	cursor->pass = NULL;
	return err ? err : cursor->err;
}

size_t timeline_thread_slice_cnt(const struct timeline_thread *thread)
{
	return thread->stored ? thread->stored->cnt : thread->slice_cnt;
}

int timeline_thread_load(struct timeline_thread *thread)
{
	struct stored_slices *stored = thread->stored;
	struct slice *slices = NULL;
	size_t cnt = 0, cap = 0;
	struct slice_cursor cursor;
	const struct slice *slice;
	int err;

	if (!stored)
		return 0;
	err = slice_cursor_begin(&cursor, thread);
	while (!err && (slice = slice_cursor_next(&cursor)))
		err = SPILL_PUSH(slices, cnt, cap, *slice);
	err = slice_cursor_end(&cursor, err);
	if (err) {
		spill_free(slices);
		return err;
	}
	timeline_thread_replace(thread, slices, cnt, cap);
	thread->stored = NULL;
	stored->ops->free(stored);
	return 0;
}

int timeline_load(struct timeline *timeline)
{
	int err = 0;

	for (size_t i = 0; i < timeline->thread_cnt && !err; i++)
		err = timeline_thread_load(&timeline->threads[i]);
	return err;
}
