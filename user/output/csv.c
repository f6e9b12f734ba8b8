/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timeline as comma-separated values (RFC 4180), a line for each slice as it begins, for spreadsheets and
 * data frames. Instants and hits are lines with nothing in depth and, but for where a hit was, in the columns
 * of places.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "output/shown_args.h"
#include "output/sink.h"
#include "output/walk.h"

struct writer {
	const struct timeline *timeline;
	struct output *output;
	const struct timeline_thread *thread;
};

/* What a spreadsheet would compute gets an apostrophe, by which it knows a text. */
static bool is_formula(const char *text)
{
	return *text && strchr("=+-@\t\r", *text);
}

static void write_field(struct output *output, const char *text)
{
	bool is_quoted = text[strcspn(text, ",\"")];

	output_write(output, "\"", is_quoted);
	output_write(output, "'", is_formula(text));
	for (const char *quote; (quote = strchr(text, '"')); text = quote + 1) {
		write_part_on_line(output, text, (size_t)(quote - text));
		output_write(output, "\"\"", 2);
	}
	write_on_line(output, text);
	output_write(output, "\"", is_quoted);
}

static void begin_line(struct writer *writer)
{
	output_printf(writer->output, "%d,%d,", writer->thread->pid, writer->thread->tid);
	write_field(writer->output, writer->thread->name);
}

static void write_place(struct output *output, const struct symbol *symbol)
{
	output_write(output, ",", 1);
	write_field(output, symbol ? symbol->object : "");
	output_write(output, ",", 1);
	write_field(output, symbol && symbol->file ? symbol->file : "");
	if (symbol && symbol->file)
		output_printf(output, ",%" PRIu32 ",", symbol->line);
	else
		output_write(output, ",,", 2);
}

static void write_flags(struct output *output, uint8_t flags)
{
	static const struct {
		uint8_t flag;
		const char *name;
	} names[] = {
		{SLICE_INFERRED_START, "inferred"},
		{SLICE_OPEN_END, "open"},
		{SLICE_INLINED, "inlined"},
		{SLICE_SAMPLED, "sampled"},
	};
	const char *separator = "";

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (flags & names[i].flag) {
			output_printf(output, "%s%s", separator, names[i].name);
			separator = " ";
		}
}

static void begin_thread(void *ctx, const struct timeline_thread *thread)
{
	((struct writer *)ctx)->thread = thread;
}

static void write_slice(void *ctx, const struct slice *slice)
{
	struct writer *writer = ctx;

	begin_line(writer);
	output_printf(writer->output, ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%s,", slice->depth,
		      slice->start_ns, slice->end_ns - slice->start_ns, slice_kind_name(slice->kind));
	write_field(writer->output, slice_name(slice));
	write_place(writer->output, slice->symbol);
	write_flags(writer->output, slice->flags);
	output_write(writer->output, "\r\n", 2);
}

static void begin_moment(struct writer *writer, uint64_t time_ns, const char *kind, const char *name,
			 const struct symbol *symbol)
{
	begin_line(writer);
	output_printf(writer->output, ",,%" PRIu64 ",0,%s,", time_ns, kind);
	write_field(writer->output, name);
	write_place(writer->output, symbol);
}

static void write_instant(void *ctx, const struct instant *instant)
{
	begin_moment(ctx, instant->time_ns, instant->is_event ? "event" : "gap", instant->text, NULL);
	output_write(((struct writer *)ctx)->output, "\r\n", 2);
}

/* "arg0=1 str(arg1)=text", in the column of flags. */
static char *values_text(const struct timeline_hit *hit)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (size_t i = 0; file && i < hit->value_cnt; i++)
		fprintf(file, "%s%s=%s", i ? " " : "", hit->values[i].name,
			hit->values[i].text ? hit->values[i].text : SHOWN_UNREADABLE);
	if (file && !fclose(file))
		return text;
	free(text);
	return NULL;
}

static void write_hit(void *ctx, const struct timeline_hit *hit)
{
	struct writer *writer = ctx;

	CLEANUP(freep) char *values = values_text(hit);

	begin_moment(writer, hit->time_ns, "hit", timeline_trigger(writer->timeline, hit->hit), hit->symbol);
	write_field(writer->output, values ? values : "");
	output_write(writer->output, "\r\n", 2);
}

static int write_csv(const struct timeline *timeline, struct output *output)
{
	static const struct walk_ops ops = {
		.thread = begin_thread, .begin = write_slice, .instant = write_instant, .hit = write_hit};
	struct writer writer = {.timeline = timeline, .output = output};

	output_printf(output,
		      "pid,tid,thread,depth,start_ns,duration_ns,kind,name,object,file,line,flags\r\n");
	return walk_timeline(timeline, &ops, &writer);
}

const struct sink sink_csv = {
	.name = "csv",
	.suffix = ".csv",
	.how_to_open = "open it in a spreadsheet, or read it into a data frame",
	.write = write_csv,
};
