/* SPDX-License-Identifier: BSD-2-Clause */
/* Slices that are stored get their marks when somebody goes by them; those in memory get them at once. */
#include "rebuild/marks/goroutine_marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"

void goroutine_marks_release(struct goroutine_marks *marks)
{
	free(marks->items);
	*marks = (struct goroutine_marks){0};
}

/* 0: there are too many. */
static uint16_t goroutine_get(struct timeline *timeline, uint64_t number)
{
	for (size_t i = 0; i < timeline->goroutine_cnt; i++)
		if (timeline->goroutines[i] == number)
			return (uint16_t)(i + 1);
	if (timeline->goroutine_cnt >= UINT16_MAX ||
	    ARRAY_PUSH(timeline->goroutines, timeline->goroutine_cnt, timeline->goroutine_cap, number))
		return 0;
	return (uint16_t)timeline->goroutine_cnt;
}

int goroutine_marks_add(struct goroutine_marks *marks, struct timeline *timeline,
			const struct timeline_thread *thread, size_t outermost, uint64_t number)
{
	const struct goroutine_mark mark = {.thread = (size_t)(thread - timeline->threads),
					    .outermost = outermost,
					    .nth = marks->cnt,
					    .goroutine = goroutine_get(timeline, number)};

	return mark.goroutine ? ARRAY_PUSH(marks->items, marks->cnt, marks->cap, mark) : 0;
}

/* ---- going by slices with their marks ---- */

struct marking {
	const struct goroutine_mark *next, *end; /* of one thread, by slice */
	size_t nth;				 /* the next slice's */
	uint16_t goroutine;			 /* of the last outermost one */
};

static uint16_t mark_next(struct marking *marking, const struct slice *slice)
{
	if (!slice->depth)
		marking->goroutine = 0;
	for (; marking->next < marking->end && marking->next->outermost == marking->nth; marking->next++)
		marking->goroutine = marking->next->goroutine;
	marking->nth++;
	return marking->goroutine;
}

static void mark_array(struct timeline_thread *thread, struct marking marking)
{
	for (size_t i = 0; i < thread->slice_cnt; i++)
		thread->slices[i].goroutine = mark_next(&marking, &thread->slices[i]);
}

struct marked {
	struct stored_slices slices; /* first: what the timeline sees */
	struct stored_slices *plain;
	struct goroutine_mark *marks;
	size_t cnt;
};

struct pass {
	const struct marked *marked;
	void *plain;
	struct marking marking;
	struct slice slice;
};

static int pass_begin(const struct stored_slices *slices, void **ret_pass)
{
	const struct marked *marked = (const struct marked *)slices;
	struct pass *pass = calloc(1, sizeof(*pass));
	int err = pass ? marked->plain->ops->begin(marked->plain, &pass->plain) : -ENOMEM;

	if (err) {
		free(pass);
		return err;
	}
	pass->marked = marked;
	pass->marking = (struct marking){.next = marked->marks, .end = marked->marks + marked->cnt};
	*ret_pass = pass;
	return 0;
}

static const struct slice *pass_next(void *ctx, int *ret_err)
{
	struct pass *pass = ctx;
	const struct slice *slice = pass->marked->plain->ops->next(pass->plain, ret_err);

	if (!slice)
		return NULL;
	pass->slice = *slice;
	pass->slice.goroutine = mark_next(&pass->marking, slice);
	return &pass->slice;
}

static void pass_end(void *ctx)
{
	struct pass *pass = ctx;

	pass->marked->plain->ops->end(pass->plain);
	free(pass);
}

static const struct symbol *symbol_nth(const struct stored_slices *slices, size_t nth)
{
	const struct marked *marked = (const struct marked *)slices;

	return marked->plain->ops->symbol(marked->plain, nth);
}

static void marked_free(struct stored_slices *slices)
{
	struct marked *marked = (struct marked *)slices;

	marked->plain->ops->free(marked->plain);
	free(marked->marks);
	free(marked);
}

static int mark_stored(struct timeline_thread *thread, const struct goroutine_mark *marks, size_t cnt)
{
	static const struct stored_ops ops = {.begin = pass_begin,
					      .next = pass_next,
					      .end = pass_end,
					      .symbol = symbol_nth,
					      .free = marked_free};
	struct marked *marked = calloc(1, sizeof(*marked));

	if (!marked || !(marked->marks = calloc(cnt, sizeof(*marks)))) {
		free(marked);
		return -ENOMEM;
	}
	memcpy(marked->marks, marks, cnt * sizeof(*marks));
	marked->cnt = cnt;
	marked->plain = thread->stored;
	marked->slices = (struct stored_slices){
		.cnt = thread->stored->cnt, .symbol_cnt = thread->stored->symbol_cnt, .ops = &ops};
	thread->stored = &marked->slices;
	return 0;
}

/* ---- all of them ---- */

static int compare_marks(const void *left, const void *right)
{
	const struct goroutine_mark *a = left, *b = right;

	return ORDER_UP(a->thread, b->thread)
		       ?: ORDER_UP(a->outermost, b->outermost) ?: ORDER_UP(a->nth, b->nth);
}

int goroutine_marks_apply(struct goroutine_marks *marks, struct timeline *timeline)
{
	int err = 0;

	sort_array(marks->items, marks->cnt, sizeof(*marks->items), compare_marks);
	for (size_t from = 0, to; from < marks->cnt && !err; from = to) {
		const struct goroutine_mark *first = &marks->items[from];
		struct timeline_thread *thread = &timeline->threads[first->thread];

		for (to = from; to < marks->cnt && marks->items[to].thread == first->thread; to++)
			;
		if (thread->stored)
			err = mark_stored(thread, first, to - from);
		else
			mark_array(thread, (struct marking){.next = first, .end = &marks->items[to]});
	}
	return err;
}
