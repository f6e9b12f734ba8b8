/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timeline as FXT. Readers take equal times in file order and drop a parent that is written after its
 * child, hence begin and end events in true order. Only a call in which nothing happens is one event for
 * both: nothing can be shown beside it in place of within. It must take time, or the next one of no length
 * would be shown within. And an arrow later on would be from it: readers take the last call that they saw
 * begin and not end. Hits are slices on a track of their own; a begin event carries 15 arguments and its end
 * the rest, which readers merge.
 */
#include <stdlib.h>

#include "base/error.h"
#include "output/bytes/fxt_record.h"
#include "output/shown_args.h"
#include "output/sink.h"
#include "output/walk.h"

struct writer {
	struct fxt *fxt;
	const struct timeline *timeline;
	uint64_t pid, tid; /* of the thread at hand */
};

static void write_args(struct fxt *fxt, const struct shown_arg *args, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		if (args[i].type == SHOWN_POINTER)
			fxt_arg_pointer(fxt, args[i].name, (uint64_t)args[i].number);
		else if (args[i].type == SHOWN_INT)
			fxt_arg_int(fxt, args[i].name, args[i].number);
		else if (args[i].type == SHOWN_STRING)
			fxt_arg_lasting(fxt, args[i].name, args[i].text);
		else
			fxt_arg_string(fxt, args[i].name, args[i].text);
	}
}

/* ---- threads ---- */

static void begin_thread(void *ctx, const struct timeline_thread *thread)
{
	struct writer *writer = ctx;

	writer->pid = shown_id(thread->pid);
	writer->tid = shown_id(thread->tid);
}

static void begin_event(const struct writer *writer, const struct slice *slice, enum fxt_event type)
{
	struct shown_arg args[SLICE_ARGS_MAX + SLICE_SOURCE_ARGS];
	size_t cnt;

	fxt_event_begin(writer->fxt, type, writer->pid, writer->tid, slice->start_ns, slice_title(slice));
	cnt = slice_args(args, writer->timeline, slice);
	write_args(writer->fxt, args, cnt + slice_source_args(args + cnt, slice));
}

static void begin_slice(void *ctx, const struct slice *slice)
{
	const struct writer *writer = ctx;
	const struct symbol *plain = slice_plain(slice);

	if (plain && fxt_event_repeat(writer->fxt, plain, writer->pid, writer->tid, slice->start_ns,
				      slice_address(slice)))
		return;
	begin_event(writer, slice, FXT_BEGIN);
	fxt_event_end(writer->fxt);
	if (plain)
		fxt_event_keep(writer->fxt, plain);
}

/* One record is shorter than two. */
static void write_leaf(void *ctx, const struct slice *slice)
{
	const struct writer *writer = ctx;
	const struct symbol *plain = slice_plain(slice);

	if (plain && fxt_complete_repeat(writer->fxt, plain, writer->pid, writer->tid, slice->start_ns,
					 slice_address(slice), slice->end_ns))
		return;
	begin_event(writer, slice, FXT_COMPLETE);
	fxt_event_end_id(writer->fxt, slice->end_ns);
	if (plain)
		fxt_event_keep(writer->fxt, plain);
}

static void end_slice(void *ctx, const struct slice *slice)
{
	const struct writer *writer = ctx;

	fxt_slice_end(writer->fxt, writer->pid, writer->tid, slice->end_ns);
}

static void write_instant(void *ctx, const struct instant *instant)
{
	const struct writer *writer = ctx;
	struct shown_arg args[SHOWN_INSTANT_ARGS];

	fxt_event_begin(writer->fxt, FXT_INSTANT, writer->pid, writer->tid, instant->time_ns,
			instant_name(instant));
	write_args(writer->fxt, args, instant_args(args, instant));
	fxt_event_end(writer->fxt);
	if (!instant->number)
		return;
	fxt_event_begin(writer->fxt, instant->ends ? FXT_FLOW_END : FXT_FLOW_BEGIN, writer->pid, writer->tid,
			instant->time_ns, SHOWN_ALLOC_FLOW);
	fxt_event_end_id(writer->fxt, alloc_flow(instant));
}

static const struct walk_ops walk_ops = {
	.depth_max = WALK_VIEWER_DEPTH,
	.thread = begin_thread,
	.begin = begin_slice,
	.end = end_slice,
	.leaf = write_leaf,
	.instant = write_instant,
};

static void name_threads(struct writer *writer)
{
	const struct timeline *timeline = writer->timeline;
	int32_t named = -1;

	for (size_t i = 0; i < timeline->thread_cnt; i++) {
		const struct timeline_thread *thread = &timeline->threads[i];

		if (thread->pid != named) {
			fxt_name_process(writer->fxt, shown_id(thread->pid),
					 process_name(timeline, thread->pid).text);
			named = thread->pid;
		}
		fxt_name_thread(writer->fxt, shown_id(thread->pid), shown_id(thread->tid), thread->name);
	}
}

/* ---- hits ---- */

static int write_hit(struct writer *writer, const struct timeline_hit *placed)
{
	enum { AT_BEGIN = FXT_ARGS_MAX - 1 }; /* beside the stack */
	CLEANUP(freep) char *stack = hit_stack_text(placed);
	const char *name = timeline_trigger(writer->timeline, placed->hit);
	struct shown_arg state[HIT_STATE_ARGS], call[HIT_CALL_ARGS_MAX];
	const struct hit *hit = placed->hit;
	struct fxt *fxt = writer->fxt;
	size_t cnt;
	char comm[HIT_COMM_BYTES + 1];

	if (!stack)
		return -ENOMEM;
	hit_state_args(state, placed, comm);
	fxt_event_begin(fxt, FXT_BEGIN, SHOWN_HITS, SHOWN_HITS, placed->time_ns, name);
	fxt_arg_string(fxt, "stack", stack);
	write_args(fxt, state, AT_BEGIN);
	fxt_event_end(fxt);
	fxt_event_begin(fxt, FXT_END, SHOWN_HITS, SHOWN_HITS, placed->time_ns, NULL);
	write_args(fxt, state + AT_BEGIN, HIT_STATE_ARGS - AT_BEGIN);
	fxt_event_end(fxt);
	cnt = hit_call_args(call, placed);
	for (size_t at = 0; !at || at < cnt; at += FXT_ARGS_MAX) {
		fxt_event_begin(fxt, FXT_INSTANT, shown_id((int32_t)hit->pid), shown_id((int32_t)hit->tid),
				placed->time_ns, name);
		write_args(fxt, call + at, cnt - at < FXT_ARGS_MAX ? cnt - at : FXT_ARGS_MAX);
		fxt_event_end(fxt);
	}
	return 0;
}

static int write_hits(struct writer *writer)
{
	int err = 0;

	for (size_t i = 0; i < writer->timeline->hit_cnt && !err; i++)
		err = write_hit(writer, &writer->timeline->hits[i]);
	return err;
}

static void write_counter(struct writer *writer, const struct counter *counter)
{
	for (size_t i = 0; i < counter->point_cnt; i++) {
		fxt_event_begin(writer->fxt, FXT_COUNTER, shown_id(counter->pid), shown_id(counter->tid),
				counter->points[i].time_ns, counter->name);
		fxt_arg_int(writer->fxt, "value", (int64_t)counter->points[i].value);
		fxt_event_end_id(writer->fxt, (uint64_t)(uint32_t)counter->tid);
	}
}

/* An arrow between the slices that are open then on the two threads. */
static void write_flow(struct writer *writer, const struct flow *flow, uint64_t id)
{
	fxt_event_begin(writer->fxt, FXT_FLOW_BEGIN, shown_id(flow->from_pid), shown_id(flow->from_tid),
			flow->from_ns, SHOWN_FLOW);
	fxt_event_end_id(writer->fxt, id);
	fxt_event_begin(writer->fxt, FXT_FLOW_END, shown_id(flow->to_pid), shown_id(flow->to_tid),
			flow->to_ns, SHOWN_FLOW);
	fxt_event_end_id(writer->fxt, id);
}

/* What the whole trace is: an instant at time 0 of the hits' track. */
static void write_about(struct writer *writer)
{
	struct shown_arg args[ABOUT_ARGS_MAX];
	struct fxt *fxt = writer->fxt;

	fxt_name_process(fxt, SHOWN_HITS, "hits");
	fxt_name_thread(fxt, SHOWN_HITS, SHOWN_HITS, "hits");
	fxt_event_begin(fxt, FXT_INSTANT, SHOWN_HITS, SHOWN_HITS, 0, "trace begins");
	write_args(fxt, args, about_args(args, writer->timeline));
	fxt_event_end(fxt);
}

static int write_fxt(const struct timeline *timeline, struct output *output)
{
	CLEANUP(fxt_freep) struct fxt *fxt = NULL;
	struct writer writer = {.timeline = timeline};
	struct walk_ops ops = walk_ops;
	int err = fxt_new(&fxt, output);

	if (err)
		return err;
	writer.fxt = fxt;
	fxt_header(fxt);
	name_threads(&writer);
	write_about(&writer);
	if (timeline->flow_cnt)
		ops.leaf = NULL;
	err = walk_timeline(timeline, &ops, &writer);
	for (size_t i = 0; i < timeline->counter_cnt; i++)
		write_counter(&writer, &timeline->counters[i]);
	for (size_t i = 0; i < timeline->flow_cnt; i++)
		write_flow(&writer, &timeline->flows[i], i + 1);
	if (!err)
		err = write_hits(&writer);
	return err ? err : fxt_error(fxt);
}

const struct sink sink_fxt = {
	.name = "fxt",
	.suffix = ".fxt",
	.how_to_open = "open it in https://ui.perfetto.dev or https://magic-trace.org",
	.write = write_fxt,
};
