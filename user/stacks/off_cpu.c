/* SPDX-License-Identifier: BSD-2-Clause */
#include "stacks/off_cpu.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/spill.h"
#include "model/slice_cursor.h"

static bool is_pause(const struct slice *slice)
{
	return slice->kind == SLICE_SYSCALL || slice->kind == SLICE_UNTRACED;
}

/* Slices with those of `times` among them, in order. */
struct merge {
	const struct off_cpu *times;
	size_t cnt;
	size_t next; /* of times: what ends before it has been passed */
	struct slice pause;
	size_t inside; /* of times: the next that may lie in `pause` */
	bool in_pause;
	struct slice off;
};

/* The next slice of the last pause; NULL: there is none. */
static const struct slice *next_inside(struct merge *merge)
{
	const struct slice *pause = &merge->pause;
	const struct off_cpu *time = &merge->times[merge->inside];

	if (!merge->in_pause || merge->inside == merge->cnt || time->start_ns >= pause->end_ns) {
		merge->in_pause = false;
		return NULL;
	}
	merge->inside++;
	merge->off = (struct slice){
		.start_ns = time->start_ns > pause->start_ns ? time->start_ns : pause->start_ns,
		.end_ns = time->end_ns < pause->end_ns ? time->end_ns : pause->end_ns,
		.depth = pause->depth + 1,
		.kind = SLICE_OFF_CPU,
		.flags = pause->flags & SLICE_OPEN_END,
	};
	return &merge->off;
}

static void pass_slice(struct merge *merge, const struct slice *slice)
{
	if (!is_pause(slice))
		return;
	while (merge->next < merge->cnt && merge->times[merge->next].end_ns <= slice->start_ns)
		merge->next++;
	merge->pause = *slice;
	merge->inside = merge->next;
	merge->in_pause = true;
}

static int add_to_array(struct timeline_thread *thread, const struct off_cpu *times, size_t time_cnt)
{
	struct merge merge = {.times = times, .cnt = time_cnt};
	struct slice *slices = NULL;
	size_t cnt = 0, cap = 0;
	int err = 0;

	for (size_t i = 0; i < thread->slice_cnt && !err; i++) {
		const struct slice *slice = &thread->slices[i];

		SPILL_PASS(thread->slices, i);
		for (pass_slice(&merge, slice); slice && !err; slice = next_inside(&merge))
			err = SPILL_PUSH(slices, cnt, cap, *slice);
	}
	if (err)
		spill_free(slices);
	else
		timeline_thread_replace(thread, slices, cnt, cap);
	return err;
}

/* ---- where slices are stored ---- */

struct with_off_cpu {
	struct stored_slices slices; /* first: what the timeline sees */
	struct stored_slices *calls;
	struct off_cpu *times;
	size_t cnt;
};

struct pass {
	const struct with_off_cpu *with;
	void *calls;
	struct merge merge;
};

static int pass_begin(const struct stored_slices *slices, void **ret_pass)
{
	const struct with_off_cpu *with = (const struct with_off_cpu *)slices;
	struct pass *pass = calloc(1, sizeof(*pass));
	int err = pass ? with->calls->ops->begin(with->calls, &pass->calls) : -ENOMEM;

	if (err) {
		free(pass);
		return err;
	}
	pass->with = with;
	pass->merge = (struct merge){.times = with->times, .cnt = with->cnt};
	*ret_pass = pass;
	return 0;
}

static const struct slice *pass_next(void *ctx, int *ret_err)
{
	struct pass *pass = ctx;
	const struct slice *slice = next_inside(&pass->merge);

	if (slice)
		return slice;
	slice = pass->with->calls->ops->next(pass->calls, ret_err);
	if (slice)
		pass_slice(&pass->merge, slice);
	return slice;
}

static void pass_end(void *ctx)
{
	struct pass *pass = ctx;

	pass->with->calls->ops->end(pass->calls);
	free(pass);
}

static const struct symbol *symbol_nth(const struct stored_slices *slices, size_t nth)
{
	const struct with_off_cpu *with = (const struct with_off_cpu *)slices;

	return with->calls->ops->symbol(with->calls, nth);
}

static void with_free(struct stored_slices *slices)
{
	struct with_off_cpu *with = (struct with_off_cpu *)slices;

	with->calls->ops->free(with->calls);
	free(with->times);
	free(with);
}

/* Each pass adds them anew. */
static int add_to_stored(struct timeline_thread *thread, const struct off_cpu *times, size_t cnt)
{
	static const struct stored_ops ops = {.begin = pass_begin,
					      .next = pass_next,
					      .end = pass_end,
					      .symbol = symbol_nth,
					      .free = with_free};
	struct with_off_cpu *with = calloc(1, sizeof(*with));
	struct slice_cursor cursor;
	size_t slice_cnt = 0;
	int err;

	if (!with || !(with->times = calloc(cnt, sizeof(*times)))) {
		free(with);
		return -ENOMEM;
	}
	memcpy(with->times, times, cnt * sizeof(*times));
	with->cnt = cnt;
	with->calls = thread->stored;
	with->slices.ops = &ops;
	with->slices.symbol_cnt = with->calls->symbol_cnt;
	thread->stored = &with->slices;
	err = slice_cursor_begin(&cursor, thread);
	while (!err && slice_cursor_next(&cursor))
		slice_cnt++;
	with->slices.cnt = slice_cnt;
	return slice_cursor_end(&cursor, err);
}

int off_cpu_add(struct timeline_thread *thread, const struct off_cpu *times, size_t cnt)
{
	return thread->stored ? add_to_stored(thread, times, cnt) : add_to_array(thread, times, cnt);
}
