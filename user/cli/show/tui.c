/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two views, the tree of one thread's calls (timeline/call_tree.h) and the totals of all (timeline/profile.h), on
 * one screen:
 *
 *	the thread, the hit
 *	what the columns are
 *	... rows ...
 *	details of the selected row
 *	what the keys do, or what to search for
 *
 * Every key changes the state and draws all of it again: ncurses sends what differs.
 */
#include "cli/show/tui.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#define NCURSES_NOMACROS
#include <ncurses.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/sort.h"
#include "cli/terminal.h"
#include "output/shown.h"
#include "timeline/call_tree.h"
#include "timeline/profile.h"

enum { HEAD_LINES = 2, DETAIL_LINES = 4, FOOT_LINES = DETAIL_LINES + 1, TEXT_MAX = 1024, SEARCH_MAX = 128 };
enum { PAIR_HIT = 1, PAIR_GAP, PAIR_PAUSE };
enum { KEY_LEAVE = 27, KEY_RETURN = '\n', KEY_DELETE = 127 };

/* A hit, a gap or another event, on the row of the call in which it was. */
struct mark {
	uint32_t row;
	const struct timeline_hit *hit; /* NULL: it is an instant */
	const struct instant *instant;
};

struct shown_thread {
	struct call_tree tree;
	struct mark *marks; /* in the order of rows */
	size_t mark_cnt, mark_cap;
	uint32_t row; /* the selected one */
	bool is_made;
};

struct totals {
	struct profile *profile;
	size_t *order; /* functions */
	size_t at;
	enum { BY_TOTAL, BY_SELF, BY_CALLS, BY_CNT } by;
};

struct tui {
	const struct timeline *timeline;
	struct shown_thread *threads;
	size_t thread;
	size_t hit; /* times are from this one on, if there is one */
	struct totals totals;
	bool shows_totals, shows_help;
	char search[SEARCH_MAX];
	bool searches_back;
	const char *message;
	bool ends;
};

static volatile sig_atomic_t is_interrupted;

static void on_signal(int signal)
{
	(void)signal;
	is_interrupted = 1;
}

/* ---- the state ---- */

static int compare_marks(const void *left, const void *right)
{
	const struct mark *a = left, *b = right;

	return a->row != b->row ? (a->row < b->row ? -1 : 1) : !a->hit - !b->hit;
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

static struct shown_thread *current(struct tui *tui)
{
	return &tui->threads[tui->thread];
}

static const struct timeline_thread *current_thread(const struct tui *tui)
{
	return &tui->timeline->threads[tui->thread];
}

static void go_to_row(struct tui *tui, uint32_t row)
{
	call_tree_reveal(&current(tui)->tree, row);
	current(tui)->row = row;
	tui->shows_totals = false;
}

static int go_to_thread(struct tui *tui, size_t thread)
{
	tui->thread = thread;
	tui->shows_totals = false;
	return make_thread(tui, thread);
}

static int go_to_hit(struct tui *tui, size_t index)
{
	const struct timeline_hit *hit = &tui->timeline->hits[index];

	tui->hit = index;
	for (size_t i = 0; i < tui->timeline->thread_cnt; i++) {
		int err;
		uint32_t row;

		if (!is_on(hit, &tui->timeline->threads[i]))
			continue;
		err = go_to_thread(tui, i);
		row = err ? CALL_TREE_NONE : call_tree_at(&current(tui)->tree, hit->time_ns, hit->symbol);
		if (row != CALL_TREE_NONE)
			go_to_row(tui, row);
		return err;
	}
	tui->message = "nothing of the thread with this hit is in the trace";
	return 0;
}

static uint64_t zero_ns(const struct tui *tui)
{
	return tui->timeline->hit_cnt ? tui->timeline->hits[tui->hit].time_ns : 0;
}

/* The first mark on rows from `from` up to before `to`; *ret_cnt: how many there are. */
static const struct mark *marks_on(const struct shown_thread *shown, uint32_t from, uint32_t to,
				   size_t *ret_cnt)
{
	size_t low = 0, high = shown->mark_cnt, end;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (shown->marks[mid].row < from)
			low = mid + 1;
		else
			high = mid;
	}
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
	uint64_t of_a = total_value(sorted_totals, a), of_b = total_value(sorted_totals, b);

	return of_a != of_b ? (of_a < of_b ? 1 : -1) : a < b ? -1 : a > b;
}

static void sort_totals(struct totals *totals)
{
	sorted_totals = totals;
	sort_array(totals->order, totals->profile->function_cnt, sizeof(*totals->order), compare_totals);
	totals->at = 0;
}

static int make_totals(struct tui *tui)
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
	sort_totals(totals);
	return 0;
}

static bool is_of(const struct slice *slice, const struct profile_function *function)
{
	const char *object = slice->symbol && slice->symbol->object ? slice->symbol->object : "";

	return slice->kind == function->kind && !strcmp(slice_name(slice), function->name) &&
	       !strcmp(object, function->object);
}

static int go_to_slowest(struct tui *tui)
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
	err = go_to_thread(tui, thread);
	if (!err)
		go_to_row(tui, (uint32_t)row);
	tui->message = "its slowest call";
	return err;
}

/* ---- drawing ---- */

/*
 * From column x on, up to the screen's end; what cannot be shown becomes "?", what does not fit is cut. Returns the
 * column behind it.
 */
static int put(int y, int x, const char *text)
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
	x = put(y, x, text);
	attr_set(before, pair_before, NULL);
	return x;
}

static bool has_details(void)
{
	return LINES > 2 * FOOT_LINES;
}

static int row_cnt(void)
{
	int cnt = LINES - HEAD_LINES - (has_details() ? FOOT_LINES : 1);

	return cnt > 1 ? cnt : 1;
}

static void draw_head(const struct tui *tui, const char *columns)
{
	const struct timeline *timeline = tui->timeline;
	const struct timeline_thread *thread = current_thread(tui);
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
	const struct mark *mark = marks_on(shown, row, to, &cnt);
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
	const struct timeline_thread *thread = current_thread(tui);
	const struct slice *slice = &thread->slices[row];
	const uint32_t depth = thread->slices[shown->row].depth,
		       room = COLS > 60 ? (uint32_t)(COLS - 60) / 2 : 0;
	const uint32_t hidden = depth > room ? depth - room : 0;
	const char *fold = !call_tree_has_callees(&shown->tree, row) ? " "
			   : shown->tree.folded[row]		     ? "+"
								     : "-";
	struct duration_text took = duration_text(slice->end_ns - slice->start_ns);
	struct duration_text from = difference_text((int64_t)(slice->start_ns - zero_ns(tui)));
	int indent = slice->depth > hidden ? 2 * (int)(slice->depth - hidden) : 0, x;
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "%12s%s %11s  %*s%s ", from.text,
		 slice->flags & SLICE_SAMPLED ? "~" : " ", took.text, indent, "",
		 slice->depth < hidden ? "<" : fold);
	x = put(y, 0, text);
	x = put_as(y, x, slice_title(slice), 0, slice->kind == SLICE_CALL ? 0 : PAIR_PAUSE);
	draw_marks(tui, shown, row, y, x);
}

/* The details of the selected call, a line each. */
static void draw_details(const struct tui *tui, const struct shown_thread *shown)
{
	const struct slice *slice = &current_thread(tui)->slices[shown->row];
	struct shown_arg args[SLICE_ARGS_MAX + HIT_CALL_ARGS_MAX];
	uint32_t row = shown->row, end = shown->tree.ends[row];
	char text[TEXT_MAX];
	size_t cnt, mark_cnt;
	const struct mark *mark = marks_on(shown, row, row + 1, &mark_cnt);
	int y = LINES - FOOT_LINES, x;

	put_as(y++, 0, slice_title(slice), A_BOLD, slice->kind == SLICE_CALL ? 0 : PAIR_PAUSE);
	snprintf(text, sizeof(text), "took %s, %s of it itself, %s; called %" PRIu32 " more",
		 duration_text(slice->end_ns - slice->start_ns).text,
		 duration_text(call_tree_self_ns(&shown->tree, row)).text, slice_certainty(slice),
		 end - row - 1);
	put(y++, 0, text);
	x = 0;
	if (slice->symbol && slice->symbol->file) {
		snprintf(text, sizeof(text), "%s:%u  ", slice->symbol->file, slice->symbol->line);
		x = put(y, 0, text);
	}
	if (slice->symbol && slice->symbol->object)
		put(y, x, slice->symbol->object);
	y++;
	for (x = 0; mark_cnt; mark++, mark_cnt--) {
		x = put_as(y, x, mark_text(tui, mark), A_BOLD, mark->hit ? PAIR_HIT : PAIR_GAP);
		cnt = mark->hit ? hit_call_args(args, mark->hit) : instant_args(args, mark->instant);
		for (size_t i = 0; i < cnt; i++) {
			if (args[i].type == SHOWN_INT)
				snprintf(text, sizeof(text), " %s=%" PRId64, args[i].name, args[i].number);
			else if (args[i].type == SHOWN_POINTER)
				snprintf(text, sizeof(text), " %s=0x%" PRIx64, args[i].name,
					 (uint64_t)args[i].number);
			else
				snprintf(text, sizeof(text), " %s=%s", args[i].name, args[i].text);
			x = put(y, x, text);
		}
		x = put(y, x, "  ");
	}
}

/* The selected row stands in the middle, but where rows end. */
static void draw_tree(struct tui *tui)
{
	struct shown_thread *shown = current(tui);
	int lines = row_cnt(), below = 0, above = 0;
	uint32_t first = shown->row;

	draw_head(tui, "       start        took  call");
	if (!current_thread(tui)->slice_cnt) {
		put(HEAD_LINES, 0, "No call of this thread is in the trace.");
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
	size_t lines = (size_t)row_cnt(), first = totals->at > lines / 2 ? totals->at - lines / 2 : 0;

	draw_head(tui, columns[totals->by]);
	for (size_t i = first; i < totals->profile->function_cnt && i - first < lines; i++) {
		const struct profile_function *function = &totals->profile->functions[totals->order[i]];
		const struct profile_sum *sum = &function->sides[0];
		char text[TEXT_MAX];

		snprintf(text, sizeof(text), "%12s%12s%12" PRIu64 "  ", duration_text(sum->total_ns).text,
			 duration_text(sum->self_ns).text, sum->calls);
		if (i == totals->at)
			attr_on(A_REVERSE, NULL);
		put_as(HEAD_LINES + (int)(i - first), put(HEAD_LINES + (int)(i - first), 0, text),
		       function->name, 0, function->kind == SLICE_CALL ? 0 : PAIR_PAUSE);
		attr_off(A_REVERSE, NULL);
		if (i == totals->at && has_details())
			put(LINES - FOOT_LINES, 0, function->object);
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
		put(HEAD_LINES + (int)i, 2, lines[i]);
}

static void draw(struct tui *tui)
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

/* ---- keys ---- */

/* The text typed on the last line, in tui->search; false: the user thought better of it. */
static bool ask(struct tui *tui, const char *prompt)
{
	char text[SEARCH_MAX] = "";
	size_t len = 0;

	for (;;) {
		int key;

		move(LINES - 1, 0);
		clrtoeol();
		put(LINES - 1, put(LINES - 1, 0, prompt), text);
		refresh();
		key = getch();
		if (key == KEY_LEAVE || key == ERR)
			return false;
		if (key == KEY_RETURN || key == KEY_ENTER)
			break;
		if ((key == KEY_BACKSPACE || key == KEY_DELETE || key == '\b') && len)
			text[--len] = 0;
		else if (key >= ' ' && key < 256 && key != KEY_DELETE && len + 1 < sizeof(text))
			text[len++] = (char)key;
	}
	if (len)
		memcpy(tui->search, text, sizeof(text));
	return *tui->search;
}

/* From the row beside the selected one, and once around. */
static void find(struct tui *tui, bool back)
{
	const struct call_tree *tree = &current(tui)->tree;
	const uint32_t cnt = (uint32_t)tree->thread->slice_cnt, row = current(tui)->row;
	uint32_t found = call_tree_find(tree, back ? row - 1 : row + 1, tui->search, back);

	if (found == CALL_TREE_NONE) {
		found = call_tree_find(tree, back ? cnt - 1 : 0, tui->search, back);
		tui->message = back ? "searched on from the end" : "searched on from the beginning";
	}
	if (found == CALL_TREE_NONE)
		tui->message = "no call of this thread has that in its name";
	else
		go_to_row(tui, found);
}

static void move_by(struct tui *tui, int rows)
{
	struct shown_thread *shown = current(tui);

	for (; rows; rows += rows > 0 ? -1 : 1) {
		uint32_t to = rows > 0 ? call_tree_below(&shown->tree, shown->row)
				       : call_tree_above(&shown->tree, shown->row);

		if (to == CALL_TREE_NONE)
			return;
		shown->row = to;
	}
}

static void go_in(struct shown_thread *shown)
{
	if (!call_tree_has_callees(&shown->tree, shown->row))
		return;
	if (shown->tree.folded[shown->row])
		shown->tree.folded[shown->row] = 0;
	else
		shown->row++;
}

static void go_out(struct shown_thread *shown)
{
	if (call_tree_has_callees(&shown->tree, shown->row) && !shown->tree.folded[shown->row])
		shown->tree.folded[shown->row] = 1;
	else if (shown->tree.parents[shown->row] != CALL_TREE_NONE)
		shown->row = shown->tree.parents[shown->row];
}

static void tree_key(struct tui *tui, int key)
{
	struct shown_thread *shown = current(tui);
	uint32_t cnt = (uint32_t)current_thread(tui)->slice_cnt;

	if (!cnt)
		return;
	switch (key) {
	case KEY_UP:
	case 'k':
		move_by(tui, -1);
		break;
	case KEY_DOWN:
	case 'j':
		move_by(tui, 1);
		break;
	case KEY_PPAGE:
		move_by(tui, -row_cnt());
		break;
	case KEY_NPAGE:
		move_by(tui, row_cnt());
		break;
	case KEY_HOME:
	case 'g':
		shown->row = 0;
		break;
	case KEY_END:
	case 'G':
		shown->row = call_tree_shown(&shown->tree, cnt - 1);
		break;
	case KEY_RIGHT:
		go_in(shown);
		break;
	case KEY_LEFT:
		go_out(shown);
		break;
	case KEY_RETURN:
	case KEY_ENTER:
	case ' ':
		shown->tree.folded[shown->row] = !shown->tree.folded[shown->row];
		break;
	case 'e':
		memset(shown->tree.folded + shown->row, 0, shown->tree.ends[shown->row] - shown->row);
		break;
	case 'z':
		call_tree_fold_all(&shown->tree, true);
		shown->row = call_tree_shown(&shown->tree, shown->row);
		break;
	case '/':
	case '?':
		if (!ask(tui, key == '/' ? "/" : "?"))
			break;
		tui->searches_back = key == '?';
		find(tui, tui->searches_back);
		break;
	case 'n':
	case 'N':
		if (*tui->search)
			find(tui, tui->searches_back != (key == 'N'));
		break;
	default:
		break;
	}
}

static int totals_key(struct tui *tui, int key)
{
	struct totals *totals = &tui->totals;
	size_t last = totals->profile->function_cnt ? totals->profile->function_cnt - 1 : 0;
	size_t page = (size_t)row_cnt();

	switch (key) {
	case KEY_UP:
	case 'k':
		totals->at -= totals->at > 0;
		break;
	case KEY_DOWN:
	case 'j':
		totals->at += totals->at < last;
		break;
	case KEY_PPAGE:
		totals->at -= totals->at < page ? totals->at : page;
		break;
	case KEY_NPAGE:
		totals->at = last - totals->at < page ? last : totals->at + page;
		break;
	case KEY_HOME:
	case 'g':
		totals->at = 0;
		break;
	case KEY_END:
	case 'G':
		totals->at = last;
		break;
	case 's':
		totals->by = (totals->by + 1) % BY_CNT;
		sort_totals(totals);
		break;
	case KEY_RETURN:
	case KEY_ENTER:
		return go_to_slowest(tui);
	default:
		break;
	}
	return 0;
}

static int on_key(struct tui *tui, int key)
{
	const struct timeline *timeline = tui->timeline;
	bool had_help = tui->shows_help;

	tui->message = NULL;
	tui->shows_help = false;
	switch (key) {
	case 'q':
		tui->ends = !had_help;
		return 0;
	case KEY_LEAVE:
		tui->shows_totals = false;
		return 0;
	case KEY_F(1):
	case 'H':
		tui->shows_help = !had_help;
		return 0;
	case 't':
		tui->shows_totals = !tui->shows_totals;
		return tui->shows_totals ? make_totals(tui) : 0;
	case '\t':
		return go_to_thread(tui, (tui->thread + 1) % timeline->thread_cnt);
	case KEY_BTAB:
		return go_to_thread(tui, (tui->thread ? tui->thread : timeline->thread_cnt) - 1);
	case 'h':
	case '[':
	case ']':
		if (!timeline->hit_cnt) {
			tui->message = "there is no hit in this trace";
			return 0;
		}
		if (key == ']')
			return go_to_hit(tui, (tui->hit + 1) % timeline->hit_cnt);
		return go_to_hit(tui, key == 'h' ? tui->hit : (tui->hit ? tui->hit : timeline->hit_cnt) - 1);
	default:
		break;
	}
	if (tui->shows_totals)
		return totals_key(tui, key);
	tree_key(tui, key);
	return 0;
}

/* ---- the terminal ---- */

static int begin_screen(SCREEN **ret_screen)
{
	const char *kind = getenv("TERM"), *no_color = getenv("NO_COLOR");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return fail(
			-ENOTTY,
			"--tui needs a terminal as standard input and output; report and dump write text");
	setlocale(LC_CTYPE, "");
	*ret_screen = newterm(NULL, stdout, stdin);
	if (!*ret_screen)
		return fail(-ENOTTY,
			    "the terminal '%s' is not known here; set TERM to one that is, such as xterm",
			    kind ? kind : "");
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	if (has_colors() && !(no_color && *no_color)) {
		start_color();
		use_default_colors();
		init_pair(PAIR_HIT, COLOR_RED, -1);
		init_pair(PAIR_GAP, COLOR_YELLOW, -1);
		init_pair(PAIR_PAUSE, COLOR_CYAN, -1);
	}
	return 0;
}

/* They end getch(). */
static void take_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = on_signal};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaction(signals[i], &action, NULL);
		sigaddset(&set, signals[i]);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int loop(struct tui *tui)
{
	int err = tui->timeline->hit_cnt ? go_to_hit(tui, 0) : 0;

	if (!err)
		err = make_thread(tui, tui->thread);
	while (!err && !tui->ends) {
		int key;

		draw(tui);
		key = getch();
		if (key == ERR || is_interrupted)
			return -ECANCELED;
		err = on_key(tui, key);
	}
	return err;
}

int tui_run(const struct timeline *timeline)
{
	struct tui tui = {.timeline = timeline};
	SCREEN *screen;
	int err;

	if (!timeline->thread_cnt)
		return fail(-ENODATA, "there is no thread in this trace");
	tui.threads = calloc(timeline->thread_cnt, sizeof(*tui.threads));
	err = tui.threads ? begin_screen(&screen) : -ENOMEM;
	if (!err) {
		take_signals();
		err = loop(&tui);
		endwin();
		delscreen(screen);
	}
	for (size_t i = 0; tui.threads && i < timeline->thread_cnt; i++) {
		call_tree_release(&tui.threads[i].tree);
		free(tui.threads[i].marks);
	}
	free(tui.threads);
	profile_free(tui.totals.profile);
	free(tui.totals.order);
	return err;
}
