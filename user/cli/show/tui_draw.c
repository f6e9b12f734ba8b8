/* SPDX-License-Identifier: BSD-2-Clause */
/* The screen, drawn from the state (tui.c has its layout). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#define NCURSES_NOMACROS
#include <ncurses.h>

#include "base/array.h"
#include "cli/show/tui_internal.h"
#include "cli/terminal.h"
#include "output/shown_args.h"

enum { HEAD_LINES = 2, DETAIL_LINES = 4, FOOT_LINES = DETAIL_LINES + 1, TEXT_MAX = 1024 };

int tui_put(int y, int x, const char *text)
{
	mbstate_t state = {0};
	size_t left = strlen(text);
	cchar_t cell;

	move(y, x);
	while (left) {
		wchar_t wide[2] = {0};
		size_t len = mbrtowc(wide, text, left, &state);
		int width;

		if (len == (size_t)-1 || len == (size_t)-2 || !len) {
			memset(&state, 0, sizeof(state));
			len = 1;
			*wide = L'?';
		}
		if (!iswprint((wint_t)*wide))
			*wide = L'?';
		width = wcwidth(*wide);
		if (x + width > COLS)
			break;
		setcchar(&cell, wide, 0, 0, NULL);
		add_wch(&cell);
		x += width;
		text += len;
		left -= len;
	}
	return x;
}

/* With attributes and a colour. */
static int put_as(int y, int x, const char *text, attr_t attributes, short pair)
{
	attr_t before;
	short pair_before;

	attr_get(&before, &pair_before, NULL);
	attr_set(before | attributes, pair && has_colors() ? pair : pair_before, NULL);
	x = tui_put(y, x, text);
	attr_set(before, pair_before, NULL);
	return x;
}

static bool has_details(void)
{
	return LINES > 2 * FOOT_LINES;
}

int tui_row_cnt(void)
{
	int cnt = LINES - HEAD_LINES - (has_details() ? FOOT_LINES : 1);

	return cnt > 1 ? cnt : 1;
}

static void draw_head(const struct tui *tui, const char *columns)
{
	const struct timeline *timeline = tui->timeline;
	const struct timeline_thread *thread = tui_thread(tui);
	char text[TEXT_MAX], hit[TEXT_MAX] = "";

	if (timeline->hit_cnt)
		snprintf(hit, sizeof(hit), "   hit %zu of %zu: %s", tui->hit + 1, timeline->hit_cnt,
			 timeline_trigger(timeline, timeline->hits[tui->hit].hit));
	snprintf(text, sizeof(text), "%s, tid %d (%zu of %zu)%s   %s%*s", thread->name, thread->tid,
		 tui->thread + 1, timeline->thread_cnt, hit, timeline->command, COLS, "");
	put_as(0, 0, text, A_REVERSE, 0);
	put_as(1, 0, columns, A_BOLD, 0);
}

static const char *mark_text(const struct tui *tui, const struct mark *mark)
{
	return mark->hit ? timeline_trigger(tui->timeline, mark->hit->hit) : mark->instant->text;
}

static void draw_marks(const struct tui *tui, const struct shown_thread *shown, uint32_t row, int y, int x)
{
	uint32_t to = shown->tree.folded[row] ? shown->tree.ends[row] : row + 1;
	size_t cnt;
	const struct mark *mark = tui_marks_on(shown, row, to, &cnt);
	char text[TEXT_MAX], more[32] = "";

	for (size_t i = 1; i < cnt && !mark->hit; i++)
		if (mark[i].hit)
			mark += i, i = cnt;
	if (!mark)
		return;
	if (cnt > 1)
		snprintf(more, sizeof(more), " and %zu more", cnt - 1);
	snprintf(text, sizeof(text), "  %s%s%s", mark->hit ? "<== hit " : "<-- ", mark_text(tui, mark), more);
	put_as(y, x, text, mark->hit ? A_BOLD : 0, mark->hit ? PAIR_HIT : PAIR_GAP);
}

/* Deep rows move to the left, as far as the selected one has room. */
static void draw_row(const struct tui *tui, const struct shown_thread *shown, uint32_t row, int y)
{
	const struct timeline_thread *thread = tui_thread(tui);
	const struct slice *slice = &thread->slices[row];
	const uint32_t depth = thread->slices[shown->row].depth,
		       room = COLS > 60 ? (uint32_t)(COLS - 60) / 2 : 0;
	const uint32_t hidden = depth > room ? depth - room : 0;
	const char *fold = !call_tree_has_callees(&shown->tree, row) ? " "
			   : shown->tree.folded[row]		     ? "+"
								     : "-";
	struct duration_text took = duration_text(slice->end_ns - slice->start_ns);
	struct duration_text from = difference_text((int64_t)(slice->start_ns - tui_zero_ns(tui)));
	int indent = slice->depth > hidden ? 2 * (int)(slice->depth - hidden) : 0, x;
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "%12s%s %11s  %*s%s ", from.text,
		 slice->flags & SLICE_SAMPLED ? "~" : " ", took.text, indent, "",
		 slice->depth < hidden ? "<" : fold);
	x = tui_put(y, 0, text);
	x = put_as(y, x, slice_title(slice), 0, slice->kind == SLICE_CALL ? 0 : PAIR_PAUSE);
	draw_marks(tui, shown, row, y, x);
}

/* The details of the selected call, a line each. */
static void draw_details(const struct tui *tui, const struct shown_thread *shown)
{
	const struct slice *slice = &tui_thread(tui)->slices[shown->row];
	struct shown_arg args[SLICE_ARGS_MAX + HIT_CALL_ARGS_MAX];
	uint32_t row = shown->row, end = shown->tree.ends[row];
	char text[TEXT_MAX];
	size_t cnt, mark_cnt;
	const struct mark *mark = tui_marks_on(shown, row, row + 1, &mark_cnt);
	int y = LINES - FOOT_LINES, x;

	put_as(y++, 0, slice_title(slice), A_BOLD, slice->kind == SLICE_CALL ? 0 : PAIR_PAUSE);
	snprintf(text, sizeof(text), "took %s, %s of it itself, %s; called %" PRIu32 " more",
		 duration_text(slice->end_ns - slice->start_ns).text,
		 duration_text(call_tree_self_ns(&shown->tree, row)).text, slice_certainty(slice),
		 end - row - 1);
	tui_put(y++, 0, text);
	x = 0;
	if (slice->symbol && slice->symbol->file) {
		snprintf(text, sizeof(text), "%s:%u  ", slice->symbol->file, slice->symbol->line);
		x = tui_put(y, 0, text);
	}
	if (slice->symbol && slice->symbol->object)
		tui_put(y, x, slice->symbol->object);
	y++;
	for (x = 0; mark_cnt; mark++, mark_cnt--) {
		x = put_as(y, x, mark_text(tui, mark), A_BOLD, mark->hit ? PAIR_HIT : PAIR_GAP);
		cnt = mark->hit ? hit_call_args(args, mark->hit) : instant_args(args, mark->instant);
		/* The line may be too short for all: values, which come last, go first. */
		for (size_t i = 0; i < cnt; i++) {
			const struct shown_arg *arg =
				&args[(i + cnt - (mark->hit ? mark->hit->value_cnt : 0)) % cnt];

			if (arg->type == SHOWN_INT)
				snprintf(text, sizeof(text), " %s=%" PRId64, arg->name, arg->number);
			else if (arg->type == SHOWN_POINTER)
				snprintf(text, sizeof(text), " %s=0x%" PRIx64, arg->name,
					 (uint64_t)arg->number);
			else
				snprintf(text, sizeof(text), " %s=%s", arg->name, arg->text);
			for (char *line = text; (line = strchr(line, '\n'));)
				*line = '<'; /* between the functions of a stack */
			x = tui_put(y, x, text);
		}
		x = tui_put(y, x, "  ");
	}
}

/* The selected row stands in the middle, but where rows end. */
static void draw_tree(struct tui *tui)
{
	struct shown_thread *shown = tui_current(tui);
	int lines = tui_row_cnt(), below = 0, above = 0;
	uint32_t first = shown->row;

	draw_head(tui, "       start        took  call");
	if (!tui_thread(tui)->slice_cnt) {
		tui_put(HEAD_LINES, 0, "No call of this thread is in the trace.");
		return;
	}
	for (uint32_t at = shown->row;
	     below < lines && (at = call_tree_below(&shown->tree, at)) != CALL_TREE_NONE;)
		below++;
	for (uint32_t at; above < lines / 2 || above + below < lines - 1; first = at, above++)
		if ((at = call_tree_above(&shown->tree, first)) == CALL_TREE_NONE)
			break;
	for (int y = 0; y < lines && first != CALL_TREE_NONE; y++) {
		if (first == shown->row)
			attr_on(A_REVERSE, NULL);
		draw_row(tui, shown, first, HEAD_LINES + y);
		attr_off(A_REVERSE, NULL);
		first = call_tree_below(&shown->tree, first);
	}
	if (has_details())
		draw_details(tui, shown);
}

static void draw_totals(const struct tui *tui)
{
	static const char *const columns[BY_CNT] = {
		[BY_TOTAL] = "     [total]        self       calls  function",
		[BY_SELF] = "       total      [self]       calls  function",
		[BY_CALLS] = "       total        self     [calls]  function",
	};
	const struct totals *totals = &tui->totals;
	size_t lines = (size_t)tui_row_cnt(), first = totals->at > lines / 2 ? totals->at - lines / 2 : 0;

	draw_head(tui, columns[totals->by]);
	for (size_t i = first; i < totals->profile->function_cnt && i - first < lines; i++) {
		const struct profile_function *function = &totals->profile->functions[totals->order[i]];
		const struct profile_sum *sum = &function->sides[0];
		char text[TEXT_MAX];

		snprintf(text, sizeof(text), "%12s%12s%12" PRIu64 "  ", duration_text(sum->total_ns).text,
			 duration_text(sum->self_ns).text, sum->calls);
		if (i == totals->at)
			attr_on(A_REVERSE, NULL);
		put_as(HEAD_LINES + (int)(i - first), tui_put(HEAD_LINES + (int)(i - first), 0, text),
		       function->name, 0, function->kind == SLICE_CALL ? 0 : PAIR_PAUSE);
		attr_off(A_REVERSE, NULL);
		if (i == totals->at && has_details())
			tui_put(LINES - FOOT_LINES, 0, function->object);
	}
}

static void draw_help(void)
{
	static const char *const lines[] = {
		"Up, Down, k, j       the call above, below; PgUp, PgDn: a page; g, G: the first, the last",
		"Right, Left          into a call and out of it: unfold it, fold it, go to its caller",
		"Space, Enter         fold or unfold; e: unfold all that it called; z: fold all",
		"h                    back to the hit; ], [: the next hit, the one before",
		"Tab, Shift-Tab       the next thread, the one before",
		"/ text, ? text       search down, up; n: on; N: the other way",
		"t                    totals of functions; s: by something else; Enter: the slowest call",
		"q                    leave",
		"",
		"Times are from the hit on. ~: known from samples. +: folded; <: farther out than shown.",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		tui_put(HEAD_LINES + (int)i, 2, lines[i]);
}

void tui_draw(struct tui *tui)
{
	erase();
	if (tui->shows_help)
		draw_help();
	else if (tui->shows_totals)
		draw_totals(tui);
	else
		draw_tree(tui);
	put_as(LINES - 1, 0,
	       tui->message	   ? tui->message
	       : tui->shows_totals ? "s sort  Enter slowest call  t back  q leave"
				   : "arrows move and fold  h hit  / search  n next  Tab thread  t totals  "
				     "F1 help  q leave",
	       tui->message ? A_BOLD : A_DIM, 0);
	refresh();
}
