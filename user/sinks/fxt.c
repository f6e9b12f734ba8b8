/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timeline as FXT. Slices are begin and end events in true order, since readers take equal times in file order and drop a parent that is
 * written after its child. Readers lose their place beyond 512 levels: deeper slices are left out, begin and end, and counted. Hits are slices on a
 * track of their own; a begin event carries 15 arguments and its end the rest, which readers merge.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "base/spill.h"
#include "sinks/fxt_record.h"
#include "sinks/sink.h"

enum { DEPTH_MAX = 512, HITS_PID = 1 << 30, HITS_TID = HITS_PID };

struct writer {
	struct fxt *fxt;
	const struct timeline *timeline;
	uint64_t too_deep; /* slices left out */
};

/* A reader drops tid 0, and shows all of them as one thread. */
static uint64_t shown_id(int32_t id)
{
	return id > 0 ? (uint64_t)id : (uint64_t)HITS_PID + 1 + (uint32_t)id;
}

/* ---- slices ---- */

static void begin_slice(struct writer *writer, const struct timeline_thread *thread,
			const struct slice *slice)
{
	const struct symbol *symbol = slice->symbol;
	struct fxt *fxt = writer->fxt;

	fxt_event_begin(fxt, FXT_BEGIN, shown_id(thread->pid), shown_id(thread->tid), slice->start_ns,
			slice_name(slice));
	if (symbol) {
		fxt_arg_pointer(fxt, "address", slice->ip ? slice->ip : symbol->start);
		fxt_arg_lasting(fxt, "symbol", symbol->name);
		fxt_arg_lasting(fxt, "object", symbol->object);
		if (symbol->file) {
			fxt_arg_lasting(fxt, "file", symbol->file);
			fxt_arg_int(fxt, "line", symbol->line);
		}
	}
	if (slice->flags & SLICE_INFERRED_START)
		fxt_arg_lasting(fxt, "inferred_start_time", "true");
	if (slice->goroutine)
		fxt_arg_int(fxt, "goroutine", (int64_t)writer->timeline->goroutines[slice->goroutine - 1]);
	if (slice->flags & SLICE_INLINED)
		fxt_arg_lasting(fxt, "inlined", "true");
	if (slice->flags & SLICE_OPEN_END)
		fxt_arg_lasting(fxt, "open_at_end", "true");
	fxt_event_end(fxt);
}

static void end_slice(struct writer *writer, const struct timeline_thread *thread, const struct slice *slice)
{
	fxt_event_begin(writer->fxt, FXT_END, shown_id(thread->pid), shown_id(thread->tid), slice->end_ns,
			NULL);
	fxt_event_end(writer->fxt);
}

struct open_slices {
	const struct slice **items;
	size_t cnt, cap;
};

static void end_slices(struct writer *writer, const struct timeline_thread *thread, struct open_slices *open,
		       size_t keep)
{
	while (open->cnt > keep)
		end_slice(writer, thread, open->items[--open->cnt]);
}

static void write_instant(struct writer *writer, const struct timeline_thread *thread,
			  const struct instant *instant)
{
	fxt_event_begin(writer->fxt, FXT_INSTANT, shown_id(thread->pid), shown_id(thread->tid),
			instant->time_ns, instant->text);
	fxt_event_end(writer->fxt);
}

static int write_thread(struct writer *writer, const struct timeline_thread *thread)
{
	struct open_slices open = {0};
	size_t instant = 0;
	int err = 0;

	for (size_t i = 0; i < thread->slice_cnt && !err; i++) {
		const struct slice *slice = &thread->slices[i];

		SPILL_PASS(thread->slices, i);
		if (slice->depth >= DEPTH_MAX) {
			writer->too_deep++;
			continue;
		}
		end_slices(writer, thread, &open, slice->depth);
		for (; instant < thread->instant_cnt && thread->instants[instant].time_ns <= slice->start_ns;
		     instant++)
			write_instant(writer, thread, &thread->instants[instant]);
		begin_slice(writer, thread, slice);
		err = ARRAY_PUSH(open.items, open.cnt, open.cap, slice);
	}
	end_slices(writer, thread, &open, 0);
	for (; instant < thread->instant_cnt; instant++)
		write_instant(writer, thread, &thread->instants[instant]);
	free(open.items);
	return err;
}

static void name_threads(struct writer *writer)
{
	const struct timeline *timeline = writer->timeline;
	int32_t named = -1;

	for (size_t i = 0; i < timeline->thread_cnt; i++) {
		const struct timeline_thread *thread = &timeline->threads[i];
		char name[4096];

		if (thread->pid != named) {
			snprintf(name, sizeof(name), "%.4000s [pid=%d]", timeline->command, thread->pid);
			fxt_name_process(writer->fxt, shown_id(thread->pid), name);
			named = thread->pid;
		}
		fxt_name_thread(writer->fxt, shown_id(thread->pid), shown_id(thread->tid), thread->name);
	}
}

/* ---- hits ---- */

static const struct {
	const char *name;
	enum hit_reg reg;
} registers[] = {
	{"rip", HIT_RIP}, {"rdi", HIT_RDI}, {"rsi", HIT_RSI},	    {"rdx", HIT_RDX}, {"rcx", HIT_RCX},
	{"r8", HIT_R8},	  {"r9", HIT_R9},   {"rax", HIT_RAX},	    {"rbx", HIT_RBX}, {"rbp", HIT_RBP},
	{"rsp", HIT_RSP}, {"r10", HIT_R10}, {"r11", HIT_R11},	    {"r12", HIT_R12}, {"r13", HIT_R13},
	{"r14", HIT_R14}, {"r15", HIT_R15}, {"eflags", HIT_EFLAGS}, {"cs", HIT_CS},   {"ss", HIT_SS},
};

enum { REGISTERS_AT_BEGIN = FXT_ARGS_MAX - 5 };

static char *stack_text(const struct timeline_hit *placed)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	for (size_t i = 0; i < placed->stack_cnt; i++)
		fprintf(file, "%s#%zu 0x%" PRIx64 " %s", i ? "\n" : "", i, placed->stack_ips[i],
			placed->stack_symbols[i] ? placed->stack_symbols[i]->name : "?");
	if (fclose(file)) {
		free(text);
		return NULL;
	}
	return text;
}

static void write_registers(struct fxt *fxt, const struct hit *hit, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		fxt_arg_pointer(fxt, registers[i].name, hit->regs[registers[i].reg]);
}

static const char *trigger_name(const struct timeline *timeline, const struct hit *hit)
{
	return hit->trigger < timeline->trigger_cnt ? timeline->triggers[hit->trigger] : "[unknown trigger]";
}

static int write_hit(struct writer *writer, const struct timeline_hit *placed)
{
	static const char *const arg_names[HIT_ARG_CNT] = {"arg0", "arg1", "arg2", "arg3", "arg4", "arg5"};
	CLEANUP(freep) char *stack = stack_text(placed);
	const struct hit *hit = &placed->hit;
	const char *name = trigger_name(writer->timeline, hit);
	struct fxt *fxt = writer->fxt;
	char comm[HIT_COMM_BYTES + 1] = "";

	if (!stack)
		return -ENOMEM;
	memcpy(comm, hit->comm, HIT_COMM_BYTES);
	fxt_event_begin(fxt, FXT_BEGIN, HITS_PID, HITS_TID, placed->time_ns, name);
	fxt_arg_string(fxt, "stack", stack);
	fxt_arg_string(fxt, "symbol", placed->symbol ? placed->symbol->name : "?");
	fxt_arg_int(fxt, "monotonic_ns", (int64_t)hit->time_ns);
	fxt_arg_int(fxt, "pid", hit->pid);
	fxt_arg_int(fxt, "tid", hit->tid);
	write_registers(fxt, hit, 0, REGISTERS_AT_BEGIN);
	fxt_event_end(fxt);
	fxt_event_begin(fxt, FXT_END, HITS_PID, HITS_TID, placed->time_ns, NULL);
	fxt_arg_int(fxt, "cpu", hit->cpu);
	fxt_arg_string(fxt, "comm", comm);
	fxt_arg_pointer(fxt, "return_address", hit->return_address);
	write_registers(fxt, hit, REGISTERS_AT_BEGIN, ARRAY_SIZE(registers));
	fxt_event_end(fxt);
	fxt_event_begin(fxt, FXT_INSTANT, shown_id((int32_t)hit->pid), shown_id((int32_t)hit->tid),
			placed->time_ns, name);
	for (size_t i = 0; i < HIT_ARG_CNT; i++)
		fxt_arg_pointer(fxt, arg_names[i], hit->args[i]);
	if (hit->begin_ns != hit->time_ns)
		fxt_arg_int(fxt, "elapsed_ns", (int64_t)(hit->time_ns - hit->begin_ns));
	if (hit->goroutine)
		fxt_arg_int(fxt, "goroutine", (int64_t)hit->goroutine);
	if (hit->stopped_ns)
		fxt_arg_int(fxt, "trace_stopped_after_ns", (int64_t)(hit->stopped_ns - hit->time_ns));
	fxt_event_end(fxt);
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
		fxt_counter_end(writer->fxt, (uint64_t)(uint32_t)counter->tid);
	}
}

/* What the whole trace is: an instant at time 0 of the hits' track. */
static void write_about(struct writer *writer)
{
	const struct timeline *timeline = writer->timeline;
	struct fxt *fxt = writer->fxt;

	fxt_name_process(fxt, HITS_PID, "hits");
	fxt_name_thread(fxt, HITS_PID, HITS_TID, "hits");
	fxt_event_begin(fxt, FXT_INSTANT, HITS_PID, HITS_TID, 0, "trace begins");
	fxt_arg_string(fxt, "command", timeline->command);
	fxt_arg_string(fxt, "source", timeline->source ? timeline->source : "");
	fxt_arg_string(fxt, "stopped_by", timeline->stopped_by ? timeline->stopped_by : "");
	fxt_arg_int(fxt, "clock_ns", (int64_t)timeline->base_ns);
	fxt_arg_int(fxt, "realtime_ns", (int64_t)timeline->base_realtime_ns);
	fxt_event_end(fxt);
}

static int write_fxt(const struct timeline *timeline, struct output *output)
{
	CLEANUP(fxt_freep) struct fxt *fxt = NULL;
	struct writer writer = {.timeline = timeline};
	int err = fxt_new(&fxt, output);

	if (err)
		return err;
	writer.fxt = fxt;
	fxt_header(fxt);
	name_threads(&writer);
	write_about(&writer);
	for (size_t i = 0; i < timeline->thread_cnt && !err; i++)
		err = write_thread(&writer, &timeline->threads[i]);
	for (size_t i = 0; i < timeline->counter_cnt; i++)
		write_counter(&writer, &timeline->counters[i]);
	if (!err)
		err = write_hits(&writer);
	if (writer.too_deep)
		log_warn("%" PRIu64 " calls deeper than %d were left out: viewers cannot show them",
			 writer.too_deep, DEPTH_MAX);
	return err ? err : fxt_error(fxt);
}

const struct sink sink_fxt = {
	.name = "fxt",
	.suffix = ".fxt",
	.how_to_open = "open it in https://ui.perfetto.dev or https://magic-trace.org",
	.write = write_fxt,
};
