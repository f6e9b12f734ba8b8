/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timeline as a tree of calls in plain text, a line for each call, thread by thread:
 *
 *	#      time s  thread   duration us  call
 *	  0.000001250    4711        10.340  main (/bin/cat, cat.c:12)
 *	  0.000002000    4711         0.520    parse (/bin/cat, cat.c:80)
 *	  0.000002100    4711                  * hit parse arg0=0x1 ...
 *	  0.000002200    4711                  ! [gap: overflow]
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "output/shown_args.h"
#include "output/sink.h"
#include "output/walk.h"

enum {
	INDENT_MAX = 100
}; /* deeper calls tell their depth: the lines of a deep recursion would fill the disk */

struct writer {
	const struct timeline *timeline;
	struct output *output;
	int32_t tid;
	uint32_t depth; /* how many are open */
	int err;
};

static void begin_line(struct writer *writer, uint64_t time_ns)
{
	output_printf(writer->output, "%3" PRIu64 ".%09" PRIu64 " %7d ", time_ns / 1000000000,
		      time_ns % 1000000000, writer->tid);
}

static void indent(struct writer *writer)
{
	uint32_t depth = writer->depth < INDENT_MAX ? writer->depth : INDENT_MAX;

	output_printf(writer->output, "  %*s", (int)(2 * depth), "");
	if (writer->depth > INDENT_MAX)
		output_printf(writer->output, "{%" PRIu32 "} ", writer->depth);
}

static void begin_thread(void *ctx, const struct timeline_thread *thread)
{
	struct writer *writer = ctx;

	writer->tid = thread->tid;
	writer->depth = 0;
	output_printf(writer->output, "\n# thread %d of process %d: ", thread->tid, thread->pid);
	write_on_line(writer->output, thread->name);
	output_printf(writer->output, "\n#      time s  thread   duration us  call\n");
}

static void write_place(struct output *output, const struct symbol *symbol)
{
	output_printf(output, " (");
	write_on_line(output, symbol->object);
	if (symbol->file) {
		output_printf(output, ", ");
		write_on_line(output, symbol->file);
		output_printf(output, ":%" PRIu32, symbol->line);
	}
	output_printf(output, ")");
}

static void begin_slice(void *ctx, const struct slice *slice)
{
	struct writer *writer = ctx;
	uint64_t ns = slice->end_ns - slice->start_ns;

	begin_line(writer, slice->start_ns);
	output_printf(writer->output, "%9" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
	indent(writer);
	write_on_line(writer->output, slice_title(slice));
	if (slice->symbol)
		write_place(writer->output, slice->symbol);
	output_printf(writer->output, "%s%s%s%s\n", slice->flags & SLICE_INLINED ? " [inlined]" : "",
		      slice->flags & SLICE_INFERRED_START ? " [inferred start time]" : "",
		      slice->flags & SLICE_OPEN_END ? " [open at end]" : "",
		      slice->flags & SLICE_SAMPLED ? " [sampled]" : "");
	writer->depth = slice->depth + 1;
}

static void end_slice(void *ctx, const struct slice *slice)
{
	((struct writer *)ctx)->depth = slice->depth;
}

static void begin_moment(struct writer *writer, uint64_t time_ns, const char *mark, const char *name)
{
	begin_line(writer, time_ns);
	output_printf(writer->output, "%13s", "");
	indent(writer);
	output_printf(writer->output, "%s", mark);
	write_on_line(writer->output, name);
}

static void write_instant(void *ctx, const struct instant *instant)
{
	struct writer *writer = ctx;

	begin_moment(writer, instant->time_ns, "! ", instant->text);
	output_printf(writer->output, "\n");
}

static void write_args(struct output *output, const struct shown_arg *args, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		output_write(output, " ", 1);
		write_on_line(output, args[i].name);
		output_write(output, "=", 1);
		if (args[i].type == SHOWN_POINTER)
			output_printf(output, "0x%" PRIx64, (uint64_t)args[i].number);
		else if (args[i].type == SHOWN_INT)
			output_printf(output, "%" PRId64, args[i].number);
		else
			write_on_line(output, args[i].text);
	}
}

static void write_hit(void *ctx, const struct timeline_hit *hit)
{
	struct writer *writer = ctx;
	CLEANUP(freep) char *stack = hit_stack_text(hit);
	struct shown_arg call[HIT_CALL_ARGS_MAX], state[HIT_STATE_ARGS];
	char comm[HIT_COMM_BYTES + 1];

	if (!stack) {
		writer->err = -ENOMEM;
		return;
	}
	hit_state_args(state, hit, comm);
	begin_moment(writer, hit->time_ns, "* hit ", timeline_trigger(writer->timeline, hit->hit));
	write_args(writer->output, call, hit_call_args(call, hit));
	write_args(writer->output, state, HIT_STATE_ARGS);
	output_printf(writer->output, " stack=");
	write_on_line(writer->output, stack);
	output_printf(writer->output, "\n");
}

static int write_tree(const struct timeline *timeline, struct output *output)
{
	static const struct walk_ops ops = {.thread = begin_thread,
					    .begin = begin_slice,
					    .end = end_slice,
					    .instant = write_instant,
					    .hit = write_hit};
	struct writer writer = {.timeline = timeline, .output = output};
	int err;

	output_printf(output, "# ");
	write_on_line(output, timeline->command);
	output_printf(output, "\n");
	err = walk_timeline(timeline, &ops, &writer);
	return err ? err : writer.err;
}

const struct sink sink_tree = {
	.name = "tree",
	.suffix = ".txt",
	.how_to_open = "read it with less",
	.write = write_tree,
};
