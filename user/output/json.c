/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timeline as Chrome's trace events (JSON, "Trace Event Format"): begin and end events in true order, an
 * event on each line. Times are microseconds with three decimals, so that nanoseconds survive.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "output/bytes/json_text.h"
#include "output/shown_args.h"
#include "output/sink.h"
#include "output/walk.h"

struct writer {
	const struct timeline *timeline;
	struct output *output;
	uint64_t pid, tid;     /* of the thread at hand */
	int32_t named_process; /* has its name already */
	const char *separator; /* before the next event */
	int err;
};

static void write_arg(struct output *output, const struct shown_arg *arg)
{
	json_string(output, arg->name);
	output_write(output, ":", 1);
	if (arg->type == SHOWN_POINTER)
		output_printf(output, "\"0x%" PRIx64 "\"", (uint64_t)arg->number);
	else if (arg->type == SHOWN_INT)
		output_printf(output, "%" PRId64, arg->number);
	else
		json_string(output, arg->text);
}

static void write_args(struct output *output, const struct shown_arg *args, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		output_write(output, ",", i ? 1 : 0);
		write_arg(output, &args[i]);
	}
}

static void separate(struct writer *writer)
{
	output_printf(writer->output, "%s", writer->separator);
	writer->separator = ",\n";
}

/* An event up to its name or arguments; `}` is to follow. */
static void begin_event(struct writer *writer, char type, uint64_t time_ns)
{
	separate(writer);
	output_printf(writer->output,
		      "{\"ph\":\"%c\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"ts\":%" PRIu64 ".%03u", type,
		      writer->pid, writer->tid, time_ns / 1000, (unsigned int)(time_ns % 1000));
}

static void write_name(struct writer *writer, const char *what, const char *name)
{
	separate(writer);
	output_printf(writer->output,
		      "{\"ph\":\"M\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64
		      ",\"name\":\"%s\",\"args\":{\"name\":",
		      writer->pid, writer->tid, what);
	json_string(writer->output, name);
	output_printf(writer->output, "}}");
}

static void begin_thread(void *ctx, const struct timeline_thread *thread)
{
	struct writer *writer = ctx;

	writer->pid = shown_id(thread->pid);
	writer->tid = shown_id(thread->tid);
	if (thread->pid != writer->named_process)
		write_name(writer, "process_name", process_name(writer->timeline, thread->pid).text);
	writer->named_process = thread->pid;
	write_name(writer, "thread_name", thread->name);
}

static void write_slice_event(struct writer *writer, char type, uint64_t time_ns, const struct slice *slice)
{
	struct shown_arg args[SLICE_ARGS_MAX + SLICE_SOURCE_ARGS];
	size_t cnt = slice_args(args, writer->timeline, slice);

	cnt += slice_source_args(args + cnt, slice);
	begin_event(writer, type, time_ns);
	output_printf(writer->output, ",\"name\":");
	json_string(writer->output, slice_title(slice));
	if (cnt) {
		output_printf(writer->output, ",\"args\":{");
		write_args(writer->output, args, cnt);
		output_printf(writer->output, "}");
	}
	output_printf(writer->output, "}");
}

static void begin_slice(void *ctx, const struct slice *slice)
{
	write_slice_event(ctx, 'B', slice->start_ns, slice);
}

/*
 * Perfetto needs no name and no arguments here; speedscope ends a slice only by an event that is otherwise
 * the same.
 */
static void end_slice(void *ctx, const struct slice *slice)
{
	write_slice_event(ctx, 'E', slice->end_ns, slice);
}

static void begin_instant(struct writer *writer, uint64_t time_ns, const char *category, const char *name)
{
	begin_event(writer, 'i', time_ns);
	output_printf(writer->output, ",\"s\":\"t\",\"cat\":\"%s\",\"name\":", category);
	json_string(writer->output, name);
}

/* Of the slice that is open then. */
static void write_flow_end(struct writer *writer, bool ends, uint64_t time_ns, const char *name, uint64_t id)
{
	begin_event(writer, ends ? 'f' : 's', time_ns);
	output_printf(writer->output, ",\"id\":%" PRIu64 ",\"cat\":\"%s\",\"name\":\"%s\"%s}", id, name, name,
		      ends ? ",\"bp\":\"e\"" : "");
}

static void write_instant(void *ctx, const struct instant *instant)
{
	struct writer *writer = ctx;
	struct shown_arg args[SHOWN_INSTANT_ARGS];
	size_t cnt = instant_args(args, instant);

	begin_instant(writer, instant->time_ns, instant->is_event ? "event" : "gap", instant_name(instant));
	if (cnt) {
		output_printf(writer->output, ",\"args\":{");
		write_args(writer->output, args, cnt);
		output_printf(writer->output, "}");
	}
	output_printf(writer->output, "}");
	if (instant->number)
		write_flow_end(writer, instant->ends, instant->time_ns, SHOWN_ALLOC_FLOW, instant->number);
}

static void write_hit(void *ctx, const struct timeline_hit *hit)
{
	struct writer *writer = ctx;
	CLEANUP(freep) char *stack = hit_stack_text(hit);
	struct shown_arg call[HIT_CALL_ARGS_MAX], state[HIT_STATE_ARGS];
	size_t call_cnt = hit_call_args(call, hit);
	char comm[HIT_COMM_BYTES + 1];

	if (!stack) {
		writer->err = -ENOMEM;
		return;
	}
	hit_state_args(state, hit, comm);
	begin_instant(writer, hit->time_ns, "hit", timeline_trigger(writer->timeline, hit->hit));
	output_printf(writer->output, ",\"args\":{");
	write_args(writer->output, state, HIT_STATE_ARGS);
	output_write(writer->output, ",", call_cnt ? 1 : 0);
	write_args(writer->output, call, call_cnt);
	output_printf(writer->output, ",\"stack\":");
	json_string(writer->output, stack);
	output_printf(writer->output, "}}");
}

static const struct walk_ops walk_ops = {
	.depth_max = WALK_VIEWER_DEPTH,
	.thread = begin_thread,
	.begin = begin_slice,
	.end = end_slice,
	.instant = write_instant,
	.hit = write_hit,
};

static void write_counter(struct writer *writer, const struct counter *counter)
{
	writer->pid = shown_id(counter->pid);
	writer->tid = shown_id(counter->tid);
	for (size_t i = 0; i < counter->point_cnt; i++) {
		begin_event(writer, 'C', counter->points[i].time_ns);
		output_printf(writer->output, ",\"id\":%" PRIu64 ",\"name\":", writer->tid);
		json_string(writer->output, counter->name);
		output_printf(writer->output, ",\"args\":{\"value\":%" PRIu64 "}}", counter->points[i].value);
	}
}

/* An arrow between the slices that are open then on the two threads. */
static void write_flow(struct writer *writer, const struct flow *flow, uint64_t id)
{
	writer->pid = shown_id(flow->from_pid);
	writer->tid = shown_id(flow->from_tid);
	write_flow_end(writer, false, flow->from_ns, SHOWN_FLOW, id);
	writer->pid = shown_id(flow->to_pid);
	writer->tid = shown_id(flow->to_tid);
	write_flow_end(writer, true, flow->to_ns, SHOWN_FLOW, id);
}

static void write_about(struct output *output, const struct timeline *timeline)
{
	struct shown_arg args[ABOUT_ARGS_MAX];

	output_printf(output, "{\"displayTimeUnit\":\"ns\",\"otherData\":{");
	write_args(output, args, about_args(args, timeline));
	output_printf(output, "},\n\"traceEvents\":[\n");
}

static int write_json(const struct timeline *timeline, struct output *output)
{
	struct writer writer = {.timeline = timeline, .output = output, .named_process = -1, .separator = ""};
	int err;

	write_about(output, timeline);
	err = walk_timeline(timeline, &walk_ops, &writer);
	for (size_t i = 0; i < timeline->counter_cnt; i++)
		write_counter(&writer, &timeline->counters[i]);
	for (size_t i = 0; i < timeline->flow_cnt; i++)
		write_flow(&writer, &timeline->flows[i], i + 1);
	output_printf(output, "\n]}\n");
	return err ? err : writer.err;
}

const struct sink sink_json = {
	.name = "json",
	.suffix = ".json",
	.how_to_open = "open it in https://ui.perfetto.dev or chrome://tracing",
	.write = write_json,
};
