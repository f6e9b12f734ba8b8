/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/error.h"
#include "base/file/path.h"
#include "cli/show/fit_name.h"
#include "cli/show/report_lines.h"
#include "timeline/profile_diff.h"

enum { WIDE_LEVELS = 8, PIPE_COLUMNS = 80, NAME_LEAST = 16, PATH_INDENT_MAX = 10 };

void report_text_line(const struct report_text *text, enum colour colour, int used, const char *words)
{
	terminal_text(&text->terminal, colour, used > 0 ? (size_t)used : 0, words);
	putchar('\n');
}

void report_name_line(const struct report_text *text, enum colour colour, int used, const char *name)
{
	size_t columns = text->terminal.columns, taken = used > 0 ? (size_t)used : 0;
	CLEANUP(freep)
	char *fitting =
		columns ? fit_name(name, columns > taken + NAME_LEAST ? columns - taken : NAME_LEAST) : NULL;

	report_text_line(text, colour, used, fitting ? fitting : name);
}

int report_indent(uint32_t depth, int max)
{
	uint32_t columns = depth + (depth < WIDE_LEVELS ? depth : WIDE_LEVELS);

	return columns < (uint32_t)max ? (int)columns : max;
}

static enum colour colour_of(enum slice_kind kind)
{
	return kind == SLICE_CALL ? COLOUR_NONE : COLOUR_CYAN;
}

/* ---- what was traced ---- */

static void about_line(const struct report_text *text, const char *what, const char *words)
{
	if (words && *words)
		report_text_line(text, COLOUR_NONE, printf("%-11s", what), words);
}

static void when_line(const struct report_text *text, const struct timeline *timeline)
{
	struct when_text when = when_text(timeline->base_realtime_ns);

	if (*when.text)
		report_name_line(text, COLOUR_NONE, printf("%-11s", "when"),
				 strcat(when.text, " (time 0 of the trace)"));
}

static void about(const struct report_text *text, const struct report_trace *trace)
{
	const struct timeline *timeline = trace->timeline;

	about_line(text, "trace", trace->path);
	about_line(text, "command", timeline->command);
	about_line(text, "source", timeline->source);
	about_line(text, "stopped by", timeline->stopped_by);
	when_line(text, timeline);
	printf("%-11s%s\n", "length", duration_text(trace->last_ns - trace->first_ns).text);
	printf("%-11s%zu call%s, %zu gap%s, %zu hit%s, %zu thread%s\n", "holds", trace->calls,
	       trace->calls == 1 ? "" : "s", trace->gaps, trace->gaps == 1 ? "" : "s", trace->hits,
	       trace->hits == 1 ? "" : "s", trace->threads, trace->threads == 1 ? "" : "s");
}

static void threads(const struct report_text *text)
{
	const struct timeline *timeline = text->report->traces[0].timeline;

	if (text->report->traces[0].threads < 2)
		return;
	terminal_heading(&text->terminal, "Threads");
	printf("%10s %10s %12s %8s  name\n", "process", "thread", "calls", "gaps");
	for (size_t i = 0; i < timeline->thread_cnt; i++) {
		const struct timeline_thread *thread = &timeline->threads[i];

		if (report_has_thread(text->report, thread->tid))
			report_name_line(text, COLOUR_NONE,
					 printf("%10d %10d %12zu %8zu  ", thread->pid, thread->tid,
						thread->slice_cnt, timeline_thread_gaps(thread)),
					 thread->name);
	}
}

/* ---- functions ---- */

/* A time and its share; of a sampled one, within which limits the share lies. */
static int share(const struct report_text *text, uint64_t ns, struct interval interval)
{
	uint64_t whole = text->report->profile->paths[PROFILE_ROOT].sides[0].total_ns;

	if (!report_is_sampled(text->report, 0))
		return printf("%11s %5.1f %% ", duration_text(ns).text, percent(ns, whole));
	if (interval.low_ns == interval.high_ns)
		return printf("%11s %11.1f %% ", duration_text(ns).text, percent(ns, whole));
	return printf("%11s %5.1f-%-5.1f %% ", duration_text(ns).text, percent(interval.low_ns, whole),
		      percent(interval.high_ns, whole));
}

/* Whether so many more columns fit. */
static bool has_room(const struct report_text *text, int used, size_t more)
{
	return !text->terminal.columns || (size_t)used + more <= text->terminal.columns;
}

static void function_line(const struct report_text *text, const struct profile_function *function)
{
	const struct profile_sum *sum = &function->sides[0];
	int used = share(text, sum->self_ns, report_self(text->report, sum)) +
		   share(text, sum->total_ns, report_total(text->report, sum)) +
		   printf("%7" PRIu64 "  ", sum->calls);
	CLEANUP(freep) char *name = NULL;

	if (*function->object &&
	    has_room(text, used, strlen(function->name) + strlen(path_name(function->object)) + 4) &&
	    asprintf(&name, "%s  (%s)", function->name, path_name(function->object)) < 0)
		name = NULL;
	report_name_line(text, colour_of(function->kind), used, name ? name : function->name);
}

static void function_heading(const struct report_text *text, const char *title)
{
	bool is_sampled = report_is_sampled(text->report, 0);
	int shares = is_sampled ? 13 : 7;

	terminal_heading(&text->terminal, title);
	printf("%11s %*s %11s %*s %7s  function\n", "self", shares, "", "total", shares, "",
	       is_sampled ? "seen" : "calls");
}

static void functions(const struct report_text *text, const char *title, const size_t *order)
{
	const struct report *report = text->report;

	if (!report->function_cnt)
		return;
	function_heading(text, title);
	for (size_t i = 0; i < report->function_cnt; i++)
		function_line(text, &report->profile->functions[order[i]]);
	if (report->function_cnt < report->profile->function_cnt)
		printf("... %zu more (--top)\n", report->profile->function_cnt - report->function_cnt);
}

/* ---- one function ---- */

static void neighbours(const struct report_text *text, const char *title,
		       const struct report_neighbours *around)
{
	const struct profile *profile = text->report->profile;

	terminal_heading(&text->terminal, title);
	if (!around->total)
		printf("nothing\n");
	else
		printf("%11s %*s %7s  function\n", "total", report_is_sampled(text->report, 0) ? 13 : 7, "",
		       "calls");
	for (size_t i = 0; i < around->cnt; i++) {
		size_t nth = around->order[i];
		const struct profile_sum *sum = &around->sums[nth];
		int used = share(text, sum->total_ns, report_total(text->report, sum)) +
			   printf("%7" PRIu64 "  ", sum->calls);

		if (nth < profile->function_cnt)
			report_name_line(text, colour_of(profile->functions[nth].kind), used,
					 profile->functions[nth].name);
		else
			report_name_line(text, COLOUR_NONE, used, "(nothing in the trace)");
	}
	if (around->cnt < around->total)
		printf("... %zu more (--top)\n", around->total - around->cnt);
}

static void one_function(const struct report_text *text)
{
	const struct profile *profile = text->report->profile;

	function_heading(text, "Function");
	for (size_t i = 0; i < profile->function_cnt; i++)
		if (!strcmp(profile->functions[i].name, text->report->options->function))
			function_line(text, &profile->functions[i]);
	neighbours(text, "Called by", &text->report->callers);
	neighbours(text, "Calls", &text->report->callees);
}

static void where_time_went(const struct report_text *text)
{
	static const struct {
		enum slice_kind kind;
		const char *what;
	} pauses[] = {
		{SLICE_SYSCALL, "of it in system calls"},
		{SLICE_UNTRACED, "of it untraced"},
		{SLICE_OFF_CPU, "off the processor, waiting"},
		{SLICE_RUN_QUEUE, "ready to run, without a processor"},
	};
	const struct report *report = text->report;

	terminal_heading(&text->terminal, "Where the time went");
	printf("%14s  in calls%s\n",
	       duration_text(report->profile->paths[PROFILE_ROOT].sides[0].total_ns).text,
	       report->traces[0].threads > 1 ? " of all threads" : "");
	/* What was not seen may not have been recorded. */
	for (size_t i = 0; i < ARRAY_SIZE(pauses); i++) {
		uint64_t ns = report_kind_ns(report, pauses[i].kind);

		if (ns)
			printf("%14s  %s\n", duration_text(ns).text, pauses[i].what);
	}
}

/* Times of samples are estimates; it must not look as if they were measured. */
static void about_samples(const struct report_text *text)
{
	const struct report *report = text->report;

	if (!report_is_sampled(report, 0))
		return;
	printf("\nCalls come from samples, one each %s.\n"
	       "Shares are between these limits in 95 of 100 cases.\n"
	       "Shorter calls may not have been seen. System calls and waits are exact.\n",
	       duration_text(report->traces[0].timeline->period_ns).text);
}

/* Who ended a wait stands on a line of its own if there is no room behind what it was. */
static void wait_words(const struct report_text *text, int used, const char *what, const char *who)
{
	CLEANUP(freep) char *words = NULL;
	size_t columns = text->terminal.columns, taken = used > 0 ? (size_t)used : 0;
	bool fits = !columns || !*who || taken + strlen(what) + strlen(", ") + strlen(who) <= columns;

	if (asprintf(&words, "%s%s%s", what, !*who ? "" : fits ? ", " : ",", fits ? who : "") < 0)
		words = NULL;
	report_text_line(text, COLOUR_CYAN, used, words ? words : what);
	if (!fits)
		report_text_line(text, COLOUR_CYAN, printf("%*s", used, ""), who);
}

static void wait_line(const struct report_text *text, const struct wait *wait)
{
	CLEANUP(freep) char *what = NULL, *who = NULL;
	int used = wait->total_ns ? printf("%14s %14s %10" PRIu64 "  ", duration_text(wait->total_ns).text,
					   duration_text(wait->longest_ns).text, wait->cnt)
				  : printf("%14s %14s %10" PRIu64 "  ", "", "", wait->cnt);

	if (asprintf(&what, "%s%s%s%s%s", wait->name, *wait->file ? " of " : "", wait->file,
		     *wait->function ? " in " : "", wait->function) < 0)
		what = NULL;
	if (asprintf(&who, "%s%s%s%s%s", *wait->woken_by ? "woken by " : "", wait->woken_by,
		     *wait->woken_by && *wait->behind ? ", " : "", *wait->behind ? "behind " : "",
		     wait->behind) < 0)
		who = NULL;
	wait_words(text, used, what ? what : wait->name, who ? who : "");
}

static void waits(const struct report_text *text)
{
	const struct report *report = text->report;

	if (!report->wait_cnt)
		return;
	terminal_heading(&text->terminal, "What it waited for");
	printf("%14s %14s %10s  wait\n", "total", "longest", "times");
	for (size_t i = 0; i < report->wait_cnt; i++)
		wait_line(text, &report->waits.items[i]);
	if (report->wait_cnt < report->waits.cnt)
		printf("... %zu more (--top)\n", report->waits.cnt - report->wait_cnt);
}

static void allocation_line(const struct report_text *text, const struct allocation_sum *sum)
{
	int used = printf("%14s %10" PRIu64 " %14s %10" PRIu64 "  ", bytes_text(sum->bytes).text, sum->cnt,
			  bytes_text(sum->live_bytes).text, sum->live_cnt);

	report_name_line(text, COLOUR_CYAN, used, sum->function);
}

static void stack_line(const struct report_text *text, const struct stack_text *stack)
{
	enum { INDENT = 15 };
	CLEANUP(freep) char *line = NULL;
	size_t size, len;
	FILE *file = open_memstream(&line, &size);

	for (const char *name = stack ? stack->text : "[unknown]"; file && *name; name += len) {
		len = strcspn(name, "\n");
		fprintf(file, "%s%.*s", stack && name > stack->text ? " < " : "", (int)len, name);
		len += name[len] == '\n';
	}
	if (file && !fclose(file))
		report_text_line(text, COLOUR_DIM, printf("%*s", INDENT, ""), line);
}

static void allocations(const struct report_text *text)
{
	const struct report *report = text->report;
	const struct allocations *allocations = &report->allocations;

	if (!allocations->cnt)
		return;
	terminal_heading(&text->terminal, "Recorded allocations");
	printf("%14s %10s %14s %10s  function\n", "bytes", "times", "not freed", "times");
	for (size_t i = 0; i < allocations->cnt; i++)
		allocation_line(text, &allocations->items[i]);
	if (!report->site_cnt)
		return;
	terminal_heading(&text->terminal, "Where they were made (a < b: b called a)");
	printf("%14s %10s %14s %10s  function\n", "bytes", "times", "not freed", "times");
	for (size_t i = 0; i < report->site_cnt; i++) {
		allocation_line(text, &allocations->sites[i]);
		stack_line(text, allocations->sites[i].stack);
	}
	if (report->site_cnt < allocations->site_cnt)
		printf("... %zu more (--top)\n", allocations->site_cnt - report->site_cnt);
}

/* ---- two traces ---- */

static void verdict(const struct report_text *text)
{
	const struct report *report = text->report;
	const struct profile_path *root = &report->profile->paths[PROFILE_ROOT];
	uint64_t a = root->sides[0].total_ns, b = root->sides[1].total_ns;

	terminal_heading(&text->terminal, "Difference");
	if (report_is_sampled(report, 0) != report_is_sampled(report, 1))
		printf("%c comes from samples, and %c is exact: times of %c are estimates, and it lacks "
		       "short calls.\n",
		       report_is_sampled(report, 0) ? 'A' : 'B', report_is_sampled(report, 0) ? 'B' : 'A',
		       report_is_sampled(report, 0) ? 'A' : 'B');
	else if (report_is_sampled(report, 0))
		printf("Both come from samples: times are estimates, and both lack short calls.\n");
	if (a == b)
		printf("A and B took the same time in calls: %s.\n", duration_text(a).text);
	else
		printf("A took %s %s than B in calls: %s, B %s (%+.1f %%).\n",
		       duration_text(a > b ? a - b : b - a).text, a > b ? "longer" : "shorter",
		       duration_text(a).text, duration_text(b).text, percent(a, b) - (b ? 100 : 0));
	printf("A made %" PRIu64 " calls, B %" PRIu64 ".\n", root->sides[0].calls, root->sides[1].calls);
}

static void path_line(const struct report_text *text, const struct profile_path *path)
{
	const struct profile_function *function = &text->report->profile->functions[path->function];
	const struct profile_sum *a = &path->sides[0], *b = &path->sides[1];
	int64_t difference = profile_difference(path);
	struct duration_text shown = difference_text(difference);
	CLEANUP(freep) char *name = NULL;
	int used = printf("%*s", (int)(12 - strlen(shown.text)), "") + (int)strlen(shown.text);

	terminal_text(&text->terminal, difference > 0 ? COLOUR_RED : COLOUR_GREEN, 0, shown.text);
	used += printf(" %11s %7" PRIu64 " %11s %7" PRIu64 "  %*s", duration_text(a->total_ns).text, a->calls,
		       duration_text(b->total_ns).text, b->calls,
		       report_indent(path->depth - 1, PATH_INDENT_MAX), "");
	if ((!a->calls || !b->calls) &&
	    has_room(text, used, strlen(function->name) + strlen("  (only in A)")) &&
	    asprintf(&name, "%s  (only in %c)", function->name, a->calls ? 'A' : 'B') < 0)
		name = NULL;
	report_name_line(text, colour_of(function->kind), used, name ? name : function->name);
}

static void differences(const struct report_text *text)
{
	const struct report *report = text->report;

	if (report->diff_cnt) {
		printf("\n%12s %11s %7s %11s %7s  call path\n", "A - B", "A: total", "calls", "B: total",
		       "calls");
		for (size_t i = 0; i < report->diff_cnt; i++)
			path_line(text, &report->profile->paths[report->diff[i]]);
	}
	if (report->diff_left_out)
		printf("... %zu call paths that differ less (--top)\n", report->diff_left_out);
}

static void compare_two(const struct report_text *text)
{
	terminal_text(&text->terminal, COLOUR_BOLD, 0, "A");
	putchar('\n');
	about(text, &text->report->traces[0]);
	terminal_heading(&text->terminal, "B");
	about(text, &text->report->traces[1]);
	verdict(text);
	differences(text);
}

int report_text(const struct report *report)
{
	struct report_text text = {report, terminal_of_stdout()};
	int err;

	if (report->options->is_wide)
		text.terminal.columns = 0;
	else if (!text.terminal.columns)
		text.terminal.columns = PIPE_COLUMNS;
	if (report->trace_cnt > 1) {
		compare_two(&text);
		return 0;
	}
	about(&text, &report->traces[0]);
	threads(&text);
	if (report->options->function) {
		about_samples(&text);
		one_function(&text);
		return 0;
	}
	err = report_hits(&text);
	if (err)
		return fail(err, "no memory for the calls before the hits");
	where_time_went(&text);
	waits(&text);
	allocations(&text);
	about_samples(&text);
	functions(&text, "Functions by self time", report->by_self);
	functions(&text, "Functions by total time", report->by_total);
	return 0;
}
