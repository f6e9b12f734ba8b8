/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timeline as Perfetto's own trace, a sequence of TracePackets
 * (https://perfetto.dev/docs/reference/trace-packet-proto): begin and end events in true order on a track for
 * each thread. Strings are written once and then told by number, of which there may be any number. Time 0 is
 * the start; a snapshot of clocks tells which wall-clock time that was.
 *
 * Most events are begins of calls of few functions, and differ in their time only: they are kept, and copied.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/hash_index.h"
#include "base/utf8.h"
#include "output/bytes/proto.h"
#include "output/names.h"
#include "output/shown_args.h"
#include "output/sink.h"
#include "output/walk.h"

enum { TRACE_PACKET = 1 };

/* TracePacket */
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
};

enum { SEQUENCE = 1, SEQUENCE_CLEARED = 1, SEQUENCE_NEEDS_STATE = 2 };

/* ClockSnapshot, and the Clocks in it */
enum { SNAPSHOT_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, OF_REALTIME = 1, OF_BOOTTIME = 6 };

/* TrackDescriptor, and the descriptors of processes and threads in it */
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
};

/* TrackEvent */
enum {
	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_COUNTER_VALUE = 30,
	EVENT_SOURCE = 34,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48,
};

enum event_type { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

/* DebugAnnotation */
enum { NOTE_NAME = 1, NOTE_INT = 4, NOTE_TEXT = 6, NOTE_POINTER = 7, NOTE_STRING = 17 };

/* InternedData: lists of strings with their numbers. */
enum string_list { LIST_CATEGORIES = 1, LIST_EVENTS = 2, LIST_NOTES = 3, LIST_SOURCES = 4, LIST_VALUES = 29 };
enum { STRING_NUMBER = 1, STRING_TEXT = 2 };

/* SourceLocation */
enum { SOURCE_NUMBER = 1, SOURCE_FILE = 2, SOURCE_FUNCTION = 3, SOURCE_LINE = 4 };

enum { KEPT_BITS = 12, KEPT_BYTES = 64 };

/* What an event says but for its time and its track. */
struct kept_event {
	const struct symbol *symbol;
	uint64_t address;
	size_t size;
	uint8_t bytes[KEPT_BYTES];
};

struct writer {
	struct kept_event kept[1 << KEPT_BITS];
	const struct timeline *timeline;
	struct output *output;
	struct names strings; /* below their lists */
	struct proto packet, event, interned, inner;
	uint64_t track;	       /* of the thread at hand */
	int32_t named_process; /* has its track already */
	bool no_memory;
};

static uint64_t process_track(int32_t pid)
{
	return (uint64_t)(uint32_t)shown_id(pid) << 32;
}

static uint64_t thread_track(int32_t pid, int32_t tid)
{
	return process_track(pid) | (uint32_t)shown_id(tid);
}

/* ---- packets ---- */

static void write_packet(struct writer *writer)
{
	struct proto *packet = &writer->packet, *head = &writer->inner;

	proto_number(packet, PACKET_SEQUENCE, SEQUENCE);
	proto_begin(head, TRACE_PACKET, packet->size);
	output_write(writer->output, head->bytes, head->size);
	output_write(writer->output, packet->bytes, packet->size);
	packet->size = head->size = 0;
}

static void add_text(struct writer *writer, struct proto *proto, uint32_t field, const char *text)
{
	char *clean = utf8_clean(text, SIZE_MAX / 4);

	if (clean)
		proto_text(proto, field, clean);
	writer->no_memory |= !clean;
	free(clean);
}

/* A string's number, with which the reader is told the string if it does not know it yet. */
static void add_string(struct writer *writer, struct proto *proto, uint32_t field, enum string_list list,
		       const char *text)
{
	size_t known = writer->strings.cnt;
	uint32_t number = names_get(&writer->strings, list, text);
	struct proto string = {0};

	writer->no_memory |= !number;
	proto_number(proto, field, number);
	if (writer->strings.cnt == known)
		return;
	proto_number(&string, STRING_NUMBER, number);
	add_text(writer, &string, STRING_TEXT, text);
	proto_message(&writer->interned, list, &string);
	proto_release(&string);
}

/* Where the function is declared; the reader is told once. */
static void add_source(struct writer *writer, const struct symbol *symbol)
{
	uint32_t file, number;
	size_t known;

	if (!symbol || !symbol->file)
		return;
	file = names_get(&writer->strings, LIST_SOURCES, symbol->file);
	known = writer->strings.cnt;
	number = names_get(&writer->strings, file, symbol->name);
	writer->no_memory |= !file || !number;
	proto_number(&writer->event, EVENT_SOURCE, number);
	if (writer->strings.cnt == known)
		return;
	proto_number(&writer->inner, SOURCE_NUMBER, number);
	add_text(writer, &writer->inner, SOURCE_FILE, symbol->file);
	add_text(writer, &writer->inner, SOURCE_FUNCTION, symbol->name);
	proto_number(&writer->inner, SOURCE_LINE, symbol->line);
	proto_message(&writer->interned, LIST_SOURCES, &writer->inner);
}

static void begin_event(struct writer *writer, enum event_type type, const char *category, const char *name)
{
	proto_number(&writer->event, EVENT_TYPE, type);
	proto_number(&writer->event, EVENT_TRACK, writer->track);
	if (category)
		add_string(writer, &writer->event, EVENT_CATEGORY, LIST_CATEGORIES, category);
	if (name)
		add_string(writer, &writer->event, EVENT_NAME, LIST_EVENTS, name);
}

static void add_args(struct writer *writer, const struct shown_arg *args, size_t cnt)
{
	struct proto *note = &writer->inner;

	for (size_t i = 0; i < cnt; i++) {
		add_string(writer, note, NOTE_NAME, LIST_NOTES, args[i].name);
		if (args[i].type == SHOWN_INT)
			proto_number(note, NOTE_INT, (uint64_t)args[i].number);
		else if (args[i].type == SHOWN_POINTER)
			proto_number(note, NOTE_POINTER, (uint64_t)args[i].number);
		else if (args[i].type == SHOWN_STRING)
			add_string(writer, note, NOTE_STRING, LIST_VALUES, args[i].text);
		else
			add_text(writer, note, NOTE_TEXT, args[i].text);
		proto_message(&writer->event, EVENT_ANNOTATION, note);
	}
}

static void end_event(struct writer *writer, uint64_t time_ns)
{
	proto_number(&writer->packet, PACKET_TIMESTAMP, time_ns);
	proto_number(&writer->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	if (writer->interned.size)
		proto_message(&writer->packet, PACKET_INTERNED, &writer->interned);
	proto_message(&writer->packet, PACKET_TRACK_EVENT, &writer->event);
	write_packet(writer);
}

/* ---- threads ---- */

static void describe_process(struct writer *writer, int32_t pid)
{
	struct proto *track = &writer->event;

	proto_number(&writer->inner, PROCESS_PID, shown_id(pid));
	add_text(writer, &writer->inner, PROCESS_NAME, process_name(writer->timeline, pid).text);
	proto_number(track, TRACK_UUID, process_track(pid));
	proto_message(track, TRACK_PROCESS, &writer->inner);
	proto_message(&writer->packet, PACKET_TRACK_DESCRIPTOR, track);
	write_packet(writer);
}

static void begin_thread(void *ctx, const struct timeline_thread *thread)
{
	struct writer *writer = ctx;
	struct proto *track = &writer->event;

	if (thread->pid != writer->named_process)
		describe_process(writer, thread->pid);
	writer->named_process = thread->pid;
	writer->track = thread_track(thread->pid, thread->tid);
	proto_number(&writer->inner, THREAD_PID, shown_id(thread->pid));
	proto_number(&writer->inner, THREAD_TID, shown_id(thread->tid));
	add_text(writer, &writer->inner, THREAD_NAME, thread->name);
	proto_number(track, TRACK_UUID, writer->track);
	proto_number(track, TRACK_PARENT, process_track(thread->pid));
	proto_message(track, TRACK_THREAD, &writer->inner);
	proto_message(&writer->packet, PACKET_TRACK_DESCRIPTOR, track);
	write_packet(writer);
}

/* NULL: it is not one to be kept. */
static struct kept_event *kept_of(struct writer *writer, const struct slice *slice)
{
	const struct symbol *symbol = slice_plain(slice);

	return symbol ? &writer->kept[hash_place(symbol, KEPT_BITS)] : NULL;
}

static void describe_slice(struct writer *writer, const struct slice *slice)
{
	struct shown_arg args[SLICE_ARGS_MAX];

	add_string(writer, &writer->event, EVENT_NAME, LIST_EVENTS, slice_title(slice));
	add_args(writer, args, slice_args(args, writer->timeline, slice));
	add_source(writer, slice->symbol);
}

static void begin_slice(void *ctx, const struct slice *slice)
{
	struct writer *writer = ctx;
	struct kept_event *kept = kept_of(writer, slice);
	struct proto *event = &writer->event;
	size_t begin;

	begin_event(writer, TYPE_BEGIN, NULL, NULL);
	begin = event->size;
	if (kept && kept->symbol == slice->symbol && kept->address == slice_address(slice)) {
		proto_append(event, kept->bytes, kept->size);
	} else {
		describe_slice(writer, slice);
		if (kept && event->size - begin <= KEPT_BYTES && !event->no_memory) {
			kept->symbol = slice->symbol;
			kept->address = slice_address(slice);
			kept->size = event->size - begin;
			memcpy(kept->bytes, event->bytes + begin, kept->size);
		}
	}
	end_event(writer, slice->start_ns);
}

static void end_slice(void *ctx, const struct slice *slice)
{
	struct writer *writer = ctx;

	begin_event(writer, TYPE_END, NULL, NULL);
	end_event(writer, slice->end_ns);
}

static void write_instant(void *ctx, const struct instant *instant)
{
	struct writer *writer = ctx;
	struct shown_arg args[SHOWN_INSTANT_ARGS];

	begin_event(writer, TYPE_INSTANT, instant->is_event ? "event" : "gap", instant_name(instant));
	add_args(writer, args, instant_args(args, instant));
	if (instant->number)
		proto_fixed(&writer->event, instant->ends ? EVENT_FLOW_END : EVENT_FLOW, alloc_flow(instant));
	end_event(writer, instant->time_ns);
}

static void write_hit(void *ctx, const struct timeline_hit *hit)
{
	struct writer *writer = ctx;
	char *stack = hit_stack_text(hit);
	struct shown_arg call[HIT_CALL_ARGS_MAX], state[HIT_STATE_ARGS];
	char comm[HIT_COMM_BYTES + 1];

	hit_state_args(state, hit, comm);
	begin_event(writer, TYPE_INSTANT, "hit", timeline_trigger(writer->timeline, hit->hit));
	add_args(writer, call, hit_call_args(call, hit));
	add_args(writer, state, HIT_STATE_ARGS);
	if (stack)
		add_args(writer, &(struct shown_arg){.name = "stack", .type = SHOWN_TEXT, .text = stack}, 1);
	end_event(writer, hit->time_ns);
	writer->no_memory |= !stack;
	free(stack);
}

static const struct walk_ops walk_ops = {
	.depth_max = WALK_VIEWER_DEPTH,
	.thread = begin_thread,
	.begin = begin_slice,
	.end = end_slice,
	.instant = write_instant,
	.hit = write_hit,
};

/* ---- the rest ---- */

static void write_counter(struct writer *writer, const struct counter *counter, uint64_t number)
{
	struct proto *track = &writer->event;

	writer->track = number; /* below those of processes */
	proto_number(track, TRACK_UUID, writer->track);
	proto_number(track, TRACK_PARENT, thread_track(counter->pid, counter->tid));
	add_text(writer, track, TRACK_NAME, counter->name);
	proto_bytes(track, TRACK_COUNTER, NULL, 0);
	proto_message(&writer->packet, PACKET_TRACK_DESCRIPTOR, track);
	write_packet(writer);
	for (size_t i = 0; i < counter->point_cnt; i++) {
		begin_event(writer, TYPE_COUNTER, NULL, NULL);
		proto_number(&writer->event, EVENT_COUNTER_VALUE, counter->points[i].value);
		end_event(writer, counter->points[i].time_ns);
	}
}

/* An arrow from a moment on one thread to a moment on the other. */
static void write_flow(struct writer *writer, const struct flow *flow, uint64_t id)
{
	writer->track = thread_track(flow->from_pid, flow->from_tid);
	begin_event(writer, TYPE_INSTANT, SHOWN_FLOW, "[wakes]");
	proto_fixed(&writer->event, EVENT_FLOW, id);
	end_event(writer, flow->from_ns);
	writer->track = thread_track(flow->to_pid, flow->to_tid);
	begin_event(writer, TYPE_INSTANT, SHOWN_FLOW, "[woken]");
	proto_fixed(&writer->event, EVENT_FLOW_END, id);
	end_event(writer, flow->to_ns);
}

static void add_clock(struct writer *writer, uint64_t id, uint64_t timestamp)
{
	proto_number(&writer->inner, CLOCK_ID, id);
	proto_number(&writer->inner, CLOCK_TIMESTAMP, timestamp);
	proto_message(&writer->event, SNAPSHOT_CLOCK, &writer->inner);
}

/* Once more on a track of their own, in order: what is known of each is on its thread. */
static void write_hits(struct writer *writer)
{
	const struct timeline *timeline = writer->timeline;

	writer->track = SHOWN_HITS;
	for (size_t i = 0; i < timeline->hit_cnt; i++) {
		begin_event(writer, TYPE_INSTANT, "hits", timeline_trigger(timeline, timeline->hits[i].hit));
		end_event(writer, timeline->hits[i].time_ns);
	}
}

/* That track, which belongs to no thread, and on it what the whole trace is: an instant at time 0. */
static void write_about(struct writer *writer)
{
	struct shown_arg args[ABOUT_ARGS_MAX];
	struct proto *track = &writer->event;

	writer->track = SHOWN_HITS;
	proto_number(track, TRACK_UUID, writer->track);
	proto_text(track, TRACK_NAME, "hits");
	proto_message(&writer->packet, PACKET_TRACK_DESCRIPTOR, track);
	write_packet(writer);
	begin_event(writer, TYPE_INSTANT, "trace", "trace begins");
	add_args(writer, args, about_args(args, writer->timeline));
	end_event(writer, 0);
}

static void write_clocks(struct writer *writer)
{
	add_clock(writer, OF_BOOTTIME, 0); /* what times are of, where nothing else is said */
	add_clock(writer, OF_REALTIME, writer->timeline->base_realtime_ns);
	proto_message(&writer->packet, PACKET_CLOCK_SNAPSHOT, &writer->event);
	proto_number(&writer->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	write_packet(writer);
}

static int write_pftrace(const struct timeline *timeline, struct output *output)
{
	CLEANUP(freep) struct writer *writer = calloc(1, sizeof(*writer));
	int err;

	if (!writer)
		return -ENOMEM;
	writer->timeline = timeline;
	writer->output = output;
	writer->named_process = -1;
	write_clocks(writer);
	write_about(writer);
	err = walk_timeline(timeline, &walk_ops, writer);
	for (size_t i = 0; i < timeline->counter_cnt; i++)
		write_counter(writer, &timeline->counters[i], i + 1);
	write_hits(writer);
	for (size_t i = 0; i < timeline->flow_cnt; i++)
		write_flow(writer, &timeline->flows[i], i + 1);
	writer->no_memory |= writer->packet.no_memory || writer->inner.no_memory;
	names_release(&writer->strings);
	proto_release(&writer->packet);
	proto_release(&writer->event);
	proto_release(&writer->interned);
	proto_release(&writer->inner);
	return writer->no_memory ? -ENOMEM : err;
}

const struct sink sink_pftrace = {
	.name = "pftrace",
	.suffix = ".pftrace",
	.how_to_open = "open it in https://ui.perfetto.dev",
	.write = write_pftrace,
};
