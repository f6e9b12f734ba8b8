/* SPDX-License-Identifier: BSD-2-Clause */
/* Hits in the report: their facts, and the calls before them. */
#include <inttypes.h>
#include <string.h>

#include "arch/arch.h"
#include "base/cleanup.h"
#include "base/file/path.h"
#include "cli/show/fit_name.h"
#include "cli/show/report_lines.h"
#include "output/shown_args.h"
#include "timeline/hit_frames.h"

enum { OUTER_SHOWN = 8, NAME_LEAST = 16, INDENT_MAX = 36, VALUE_NAME_MAX = 40 };

/* Three of them stand in a line. */
static void put_word(size_t nth, bool is_last, const char *name, uint64_t value)
{
	bool ends = nth % 3 == 2 || is_last;

	printf("%s%-6s %#-*" PRIx64 "%s", nth % 3 ? " " : "    ", name, ends ? 1 : 18, value,
	       ends ? "\n" : "");
}

static void hit_registers(const struct hit *hit)
{
	for (size_t i = 0; i < ARCH_SHOWN_CNT; i++)
		put_word(i, i + 1 == ARCH_SHOWN_CNT, hit_reg_name(arch_shown_registers[i]),
			 hit_reg(hit, arch_shown_registers[i]));
}

static void hit_arguments(const struct hit *hit)
{
	size_t cnt = 0;

	for (unsigned int i = 0; i < HIT_ARG_CNT; i++) {
		char name[8];

		if (!(hit->args_known >> i & 1))
			continue;
		if (!cnt)
			printf("  arguments\n");
		snprintf(name, sizeof(name), "arg%u", i);
		put_word(cnt++, !(hit->args_known >> i >> 1), name, hit_arg(hit, i));
	}
}

static void hit_facts(const struct report_text *text, const struct hit *hit)
{
	char comm[HIT_COMM_BYTES + 1] = "";

	memcpy(comm, hit->comm, HIT_COMM_BYTES);
	if (hit_has_registers(hit)) {
		printf("  thread %u of process %u (", hit->tid, hit->pid);
		terminal_text(&text->terminal, COLOUR_NONE, 0, comm);
		printf("), on processor %u\n", hit->cpu);
	} else {
		printf("  process %u, which had ended: there are no registers\n", hit->pid);
	}
	if (hit->begin_ns != hit->time_ns)
		printf("  elapsed since it began: %s\n", duration_text(hit->time_ns - hit->begin_ns).text);
	if (hit->goroutine)
		printf("  goroutine %" PRIu64 "\n", (uint64_t)hit->goroutine);
	if (hit->stopped_ns)
		printf("  the trace was stopped after %s\n",
		       duration_text(hit->stopped_ns - hit->time_ns).text);
	if (!hit_has_registers(hit))
		return;
	hit_arguments(hit);
	printf("  registers\n");
	hit_registers(hit);
	printf("    return address %#" PRIx64 "\n", (uint64_t)hit->return_address);
}

static void hit_values(const struct report_text *text, const struct timeline_hit *placed)
{
	if (placed->value_cnt)
		printf("  values\n");
	for (size_t i = 0; i < placed->value_cnt; i++) {
		const struct timeline_value *value = &placed->values[i];
		CLEANUP(freep)
		char *name =
			text->terminal.columns ? fit_name(value->name, VALUE_NAME_MAX) : strdup(value->name);

		printf("    ");
		terminal_text(&text->terminal, COLOUR_NONE, 0, name ? name : "?");
		printf(" = ");
		report_text_line(text, COLOUR_BOLD, (int)strlen("     = ") + (int)strlen(name ? name : "?"),
				 value->text ? value->text : "cannot be read");
	}
}

/* With the source of the function, where its debug information is known. */
static void stack_line(const struct report_text *text, int used, const struct symbol *symbol)
{
	CLEANUP(freep) char *source = NULL;
	CLEANUP(freep) char *name = NULL;
	size_t columns = text->terminal.columns, taken;

	if (!symbol || !symbol->file ||
	    asprintf(&source, "  %s:%" PRIu32, path_name(symbol->file), symbol->line) < 0) {
		report_name_line(text, COLOUR_NONE, used, symbol ? symbol->name : "?");
		return;
	}
	taken = (size_t)used + strlen(source);
	name = columns ? fit_name(symbol->name, columns > taken + NAME_LEAST ? columns - taken : NAME_LEAST)
		       : strdup(symbol->name);
	terminal_text(&text->terminal, COLOUR_NONE, (size_t)used, name ? name : "?");
	report_text_line(text, COLOUR_DIM, used + (int)strlen(name ? name : "?"), source);
}

/* Recorded frames have an address; the others are calls of the thread that were open. */
static int hit_stack(const struct report_text *text, const struct timeline_hit *placed)
{
	CLEANUP(freep) struct hit_frame *frames = NULL;
	size_t cnt = 0, recorded_cnt = placed->hit->stack_cnt;
	int err = hit_frames_find(text->report->traces[0].timeline, placed, &frames, &cnt);

	if (err)
		return err;
	if (cnt)
		printf("  call stack%s\n", cnt == recorded_cnt
						   ? ", as recorded with the hit"
						   : "; -: not recorded with the hit, known from the calls");
	for (size_t i = 0; i < cnt; i++)
		stack_line(text,
			   frames[i].ip ? printf("    #%-3zu %#-14" PRIx64 " ", i, frames[i].ip)
					: printf("    #%-3zu %-14s ", i, "-"),
			   frames[i].symbol);
	if (hit_frames_are_cut(placed, frames, cnt))
		printf("    " SHOWN_CUT
		       "  callers unknown: too deep, or no unwinding tables and frame pointers\n");
	return 0;
}

static uint32_t least_depth(const struct lead_up *lead_up, size_t from)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = from; i < lead_up->cnt; i++)
		if (lead_up->calls[i].slice->depth < least)
			least = lead_up->calls[i].slice->depth;
	return least;
}

/* What a pause waited for, and who ended it, stands on a line of its own if there is no room. */
static void pause_words(const struct report_text *text, int used, const struct slice *slice)
{
	const char *name = slice_name(slice), *title = slice_title(slice), *more = title + strlen(name);
	size_t columns = text->terminal.columns, room;

	if (!columns || strncmp(title, name, strlen(name)) || !*more ||
	    (size_t)used + strlen(title) <= columns) {
		report_text_line(text, COLOUR_CYAN, used, title);
		return;
	}
	report_name_line(text, COLOUR_CYAN, used, name);
	more += strspn(more, ", ");
	room = columns > strlen(more) ? columns - strlen(more) : 0;
	report_text_line(text, COLOUR_CYAN,
			 printf("%*s", (int)(room < (size_t)used ? room : (size_t)used), ""), more);
}

static void lead_up_line(const struct report_text *text, const struct lead_up_call *call, uint64_t time_ns,
			 uint32_t depth)
{
	const struct slice *slice = call->slice;
	uint64_t end_ns = call->is_open && slice->end_ns > time_ns ? time_ns : slice->end_ns;
	int used = printf("  %11s %11s%c%c%*s", duration_text(time_ns - slice->start_ns).text,
			  duration_text(end_ns - slice->start_ns).text, call->is_open ? '+' : ' ',
			  slice->flags & SLICE_INFERRED_START ? '~' : ' ',
			  report_indent(slice->depth - depth, INDENT_MAX), "");

	if (slice->kind == SLICE_CALL)
		report_name_line(text, call->is_open ? COLOUR_BOLD : COLOUR_NONE, used, slice_name(slice));
	else
		pause_words(text, used, slice);
}

static int hit_calls(const struct report_text *text, const struct timeline_hit *placed)
{
	struct lead_up lead_up;
	uint32_t outermost;
	size_t first = 0;
	int err = report_lead_up(text->report, placed, &lead_up);

	if (err)
		return err;
	if (!lead_up.cnt) {
		printf("  no calls of its thread before it are in the trace\n");
		return 0;
	}
	if (lead_up.outer_cnt > OUTER_SHOWN)
		first = lead_up.outer_cnt - OUTER_SHOWN;
	printf("  the last %zu call%s before it and their callers (+: open, ~: start not seen)\n",
	       lead_up.cnt - lead_up.outer_cnt, lead_up.cnt - lead_up.outer_cnt == 1 ? "" : "s");
	printf("  %11s %11s\n", "before it", "took");
	if (first)
		printf("  %26s... %zu caller%s further out\n", "", first, first == 1 ? "" : "s");
	outermost = least_depth(&lead_up, first);
	for (size_t i = first; i < lead_up.cnt; i++)
		lead_up_line(text, &lead_up.calls[i], placed->time_ns, outermost);
	lead_up_release(&lead_up);
	return 0;
}

int report_hits(const struct report_text *text)
{
	const struct report *report = text->report;
	const struct timeline *timeline = report->traces[0].timeline;
	int err = 0;

	for (size_t i = 0; i < report->hit_cnt && !err; i++) {
		const struct timeline_hit *placed = &timeline->hits[report->hits[i]];

		if (report->hit_cnt < report->hit_total && i == report->hit_cnt - report->hit_cnt / 2)
			printf("\n... %zu hits in between (--hits)\n", report->hit_total - report->hit_cnt);
		printf("\n");
		report_name_line(text, COLOUR_RED,
				 printf("Hit %zu of %zu at %s: ", report->hits[i] + 1, timeline->hit_cnt,
					duration_text(placed->time_ns).text),
				 timeline_trigger(timeline, placed->hit));
		hit_facts(text, placed->hit);
		hit_values(text, placed);
		err = hit_stack(text, placed);
		if (!err)
			err = hit_calls(text, placed);
	}
	if (report->hit_total && !report->hit_cnt)
		printf("\n%zu hits are not shown (--hits)\n", report->hit_total);
	return err;
}
