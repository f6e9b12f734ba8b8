/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the screen shows: a thread's tree with marks on its rows, or the totals. Both are computed when they
 * are shown for the first time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/sort.h"
#include "cli/show/tui_internal.h"

static int compare_marks(const void *left, const void *right)
{
	const struct mark *a = left, *b = right;

	return ORDER_UP(a->row, b->row) ?: !a->hit - !b->hit;
}

static int add_mark(struct shown_thread *shown, const struct timeline_hit *hit, const struct instant *instant)
{
	struct mark mark = {.hit = hit, .instant = instant};

	mark.row =
		call_tree_at(&shown->tree, hit ? hit->time_ns : instant->time_ns, hit ? hit->symbol : NULL);
	if (mark.row == CALL_TREE_NONE)
		mark.row = 0;
	return ARRAY_PUSH(shown->marks, shown->mark_cnt, shown->mark_cap, mark);
}

static bool is_on(const struct timeline_hit *hit, const struct timeline_thread *thread)
{
	return (int32_t)hit->hit->pid == thread->pid && (int32_t)hit->hit->tid == thread->tid;
}

/* The first time that the thread is shown. */
static int make_thread(struct tui *tui, size_t index)
{
	const struct timeline_thread *thread = &tui->timeline->threads[index];
	struct shown_thread *shown = &tui->threads[index];
	int err = shown->is_made ? 0 : call_tree_init(&shown->tree, thread);

	if (err || shown->is_made)
		return err;
	shown->is_made = true;
	for (size_t i = 0; i < tui->timeline->hit_cnt && !err; i++)
		if (is_on(&tui->timeline->hits[i], thread))
			err = add_mark(shown, &tui->timeline->hits[i], NULL);
	for (size_t i = 0; i < thread->instant_cnt && !err; i++)
		err = add_mark(shown, NULL, &thread->instants[i]);
	if (shown->mark_cnt)
		sort_array(shown->marks, shown->mark_cnt, sizeof(*shown->marks), compare_marks);
	/* The outermost calls alone tell nothing. */
	for (uint32_t row = 0; row < thread->slice_cnt; row = shown->tree.ends[row])
		shown->tree.folded[row] = 0;
	return err;
}

struct shown_thread *tui_current(struct tui *tui)
{
	return &tui->threads[tui->thread];
}

const struct timeline_thread *tui_thread(const struct tui *tui)
{
	return &tui->timeline->threads[tui->thread];
}

void tui_go_to_row(struct tui *tui, uint32_t row)
{
	call_tree_reveal(&tui_current(tui)->tree, row);
	tui_current(tui)->row = row;
	tui->shows_totals = false;
}

int tui_go_to_thread(struct tui *tui, size_t thread)
{
	tui->thread = thread;
	tui->shows_totals = false;
	return make_thread(tui, thread);
}

int tui_go_to_hit(struct tui *tui, size_t index)
{
	const struct timeline_hit *hit = &tui->timeline->hits[index];

	tui->hit = index;
	for (size_t i = 0; i < tui->timeline->thread_cnt; i++) {
		int err;
		uint32_t row;

		if (!is_on(hit, &tui->timeline->threads[i]))
			continue;
		err = tui_go_to_thread(tui, i);
		row = err ? CALL_TREE_NONE : call_tree_at(&tui_current(tui)->tree, hit->time_ns, hit->symbol);
		if (row != CALL_TREE_NONE)
			tui_go_to_row(tui, row);
		return err;
	}
	tui->message = "nothing of the thread with this hit is in the trace";
	return 0;
}

uint64_t tui_zero_ns(const struct tui *tui)
{
	return tui->timeline->hit_cnt ? tui->timeline->hits[tui->hit].time_ns : 0;
}

const struct mark *tui_marks_on(const struct shown_thread *shown, uint32_t from, uint32_t to, size_t *ret_cnt)
{
	size_t low = BISECT(shown->mark_cnt, i, shown->marks[i].row < from), end;

	for (end = low; end < shown->mark_cnt && shown->marks[end].row < to; end++)
		;
	*ret_cnt = end - low;
	return *ret_cnt ? &shown->marks[low] : NULL;
}

/* ---- totals ---- */

static const struct totals *sorted_totals;

static uint64_t total_value(const struct totals *totals, size_t function)
{
	const struct profile_sum *sum = &totals->profile->functions[function].sides[0];

	return totals->by == BY_TOTAL ? sum->total_ns : totals->by == BY_SELF ? sum->self_ns : sum->calls;
}

static int compare_totals(const void *left, const void *right)
{
	size_t a = *(const size_t *)left, b = *(const size_t *)right;

	return ORDER_DOWN(total_value(sorted_totals, a), total_value(sorted_totals, b)) ?: ORDER_UP(a, b);
}

void tui_sort_totals(struct totals *totals)
{
	sorted_totals = totals;
	sort_array(totals->order, totals->profile->function_cnt, sizeof(*totals->order), compare_totals);
	totals->at = 0;
}

int tui_make_totals(struct tui *tui)
{
	struct totals *totals = &tui->totals;
	int err;

	if (totals->order)
		return 0;
	err = profile_new(&totals->profile, true);
	for (size_t i = 0; i < tui->timeline->thread_cnt && !err; i++)
		err = profile_add(totals->profile, 0, &tui->timeline->threads[i]);
	totals->order = err ? NULL : calloc(totals->profile->function_cnt + 1, sizeof(*totals->order));
	if (!totals->order)
		return err ? err : -ENOMEM;
	for (size_t i = 0; i < totals->profile->function_cnt; i++)
		totals->order[i] = i;
	tui_sort_totals(totals);
	return 0;
}

static bool is_of(const struct slice *slice, const struct profile_function *function)
{
	const char *object = slice->symbol && slice->symbol->object ? slice->symbol->object : "";

	return slice->kind == function->kind && !strcmp(slice_name(slice), function->name) &&
	       !strcmp(object, function->object);
}

int tui_go_to_slowest(struct tui *tui)
{
	const struct profile_function *function;
	uint64_t slowest_ns = 0;
	size_t thread = SIZE_MAX, row = 0;
	int err;

	if (!tui->totals.profile->function_cnt)
		return 0;
	function = &tui->totals.profile->functions[tui->totals.order[tui->totals.at]];
	for (size_t i = 0; i < tui->timeline->thread_cnt; i++) {
		const struct timeline_thread *at = &tui->timeline->threads[i];

		for (size_t j = 0; j < at->slice_cnt; j++) {
			uint64_t took_ns = at->slices[j].end_ns - at->slices[j].start_ns;

			if ((thread != SIZE_MAX && took_ns <= slowest_ns) || !is_of(&at->slices[j], function))
				continue;
			slowest_ns = took_ns;
			thread = i;
			row = j;
		}
	}
	if (thread == SIZE_MAX)
		return 0;
	err = tui_go_to_thread(tui, thread);
	if (!err)
		tui_go_to_row(tui, (uint32_t)row);
	tui->message = "its slowest call";
	return err;
}
