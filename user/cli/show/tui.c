/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two views, the tree of one thread's calls (timeline/call_tree.h) and the totals of all
 * (timeline/profile.h), on one screen:
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
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NCURSES_NOMACROS
#include <ncurses.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/show/tui_internal.h"

enum { KEY_LEAVE = 27, KEY_RETURN = '\n', KEY_DELETE = 127 };

static volatile sig_atomic_t is_interrupted;

static void on_signal(int signal)
{
	(void)signal;
	is_interrupted = 1;
}

/* ---- keys ---- */

/* The text typed on the last line, in tui->search; false: the user thought better of it. */
static bool ask(struct tui *tui, const char *prompt)
{
	char text[TUI_SEARCH_MAX] = "";
	size_t len = 0;

	for (;;) {
		int key;

		move(LINES - 1, 0);
		clrtoeol();
		tui_put(LINES - 1, tui_put(LINES - 1, 0, prompt), text);
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
	const struct call_tree *tree = &tui_current(tui)->tree;
	const uint32_t cnt = (uint32_t)tree->thread->slice_cnt, row = tui_current(tui)->row;
	uint32_t found = call_tree_find(tree, back ? row - 1 : row + 1, tui->search, back);

	if (found == CALL_TREE_NONE) {
		found = call_tree_find(tree, back ? cnt - 1 : 0, tui->search, back);
		tui->message = back ? "searched on from the end" : "searched on from the beginning";
	}
	if (found == CALL_TREE_NONE)
		tui->message = "no call of this thread has that in its name";
	else
		tui_go_to_row(tui, found);
}

static void move_by(struct tui *tui, int rows)
{
	struct shown_thread *shown = tui_current(tui);

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
	struct shown_thread *shown = tui_current(tui);
	uint32_t cnt = (uint32_t)tui_thread(tui)->slice_cnt;

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
		move_by(tui, -tui_row_cnt());
		break;
	case KEY_NPAGE:
		move_by(tui, tui_row_cnt());
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
	size_t page = (size_t)tui_row_cnt();

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
		tui_sort_totals(totals);
		break;
	case KEY_RETURN:
	case KEY_ENTER:
		return tui_go_to_slowest(tui);
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
		return tui->shows_totals ? tui_make_totals(tui) : 0;
	case '\t':
		return tui_go_to_thread(tui, (tui->thread + 1) % timeline->thread_cnt);
	case KEY_BTAB:
		return tui_go_to_thread(tui, (tui->thread ? tui->thread : timeline->thread_cnt) - 1);
	case 'h':
	case '[':
	case ']':
		if (!timeline->hit_cnt) {
			tui->message = "there is no hit in this trace";
			return 0;
		}
		if (key == ']')
			return tui_go_to_hit(tui, (tui->hit + 1) % timeline->hit_cnt);
		return tui_go_to_hit(tui,
				     key == 'h' ? tui->hit : (tui->hit ? tui->hit : timeline->hit_cnt) - 1);
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
	int err = tui->timeline->hit_cnt ? tui_go_to_hit(tui, 0) : 0;

	if (!err)
		err = tui_go_to_thread(tui, tui->thread);
	while (!err && !tui->ends) {
		int key;

		tui_draw(tui);
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
