/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of tui.h: what is shown (tui_state.c), drawing it (tui_draw.c), keys (tui.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline/call_tree.h"
#include "timeline/profile.h"

enum { TUI_SEARCH_MAX = 128 };
enum { PAIR_HIT = 1, PAIR_GAP, PAIR_PAUSE };

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
	char search[TUI_SEARCH_MAX];
	bool searches_back;
	const char *message;
	bool ends;
};

/* ---- tui_state.c ---- */

/* The thread that is shown. */
struct shown_thread *tui_current(struct tui *tui);
const struct timeline_thread *tui_thread(const struct tui *tui);

/*
 * Shows the tree at a row, at a thread, at a hit, at the slowest call of the function selected in the
 * totals.
 */
void tui_go_to_row(struct tui *tui, uint32_t row);
int tui_go_to_thread(struct tui *tui, size_t thread);
int tui_go_to_hit(struct tui *tui, size_t index);
int tui_go_to_slowest(struct tui *tui);

/* Times are shown from this one on. */
uint64_t tui_zero_ns(const struct tui *tui);

/* The first mark on rows from `from` up to before `to`; *ret_cnt: how many there are. */
const struct mark *tui_marks_on(const struct shown_thread *shown, uint32_t from, uint32_t to,
				size_t *ret_cnt);

/* The first call computes them. */
int tui_make_totals(struct tui *tui);

/* After a change of totals->by. */
void tui_sort_totals(struct totals *totals);

/* ---- tui_draw.c ---- */

void tui_draw(struct tui *tui);

/*
 * From column x on, up to the screen's end; what cannot be shown becomes "?", what does not fit is cut.
 * Returns the column behind it.
 */
int tui_put(int y, int x, const char *text);

/* How many rows the screen has room for. */
int tui_row_cnt(void);
