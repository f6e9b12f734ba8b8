/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way back of sinks/fxt.c. Calls begin and end in the order of the file, as they were written, whatever their times: a time that lies before the last one of
 * its thread is taken to be that, so that any file gives calls that nest.
 */
#include "sinks/fxt_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/hash_index.h"
#include "base/log.h"
#include "base/spill.h"
#include "sinks/fxt_stream.h"

/* The hits' track, as sinks/fxt.c has it. */
enum { HITS_PID = 1 << 30, HITS_TID = HITS_PID };

static const char inferred_suffix[] = " [inferred start time]"; /* magic-trace's */

/* What is known of a thread besides its timeline_thread, which has the same index. */
struct open_calls {
	size_t *items; /* indices of slices, the outermost first */
	size_t cnt, cap;
	uint64_t now_ns;
};

struct reading {
	struct timeline *timeline;
	struct fxt_names *names;
	struct open_calls *open;
	size_t open_cnt, open_cap;
	struct hash_index by_id; /* threads */
	size_t trigger_cap;
	uint64_t event_cnt;
	uint64_t no_begin, others; /* left out */
};

bool fxt_is(const char *path)
{
	return fxt_stream_is(path);
}

/* Ids that are not above 0 are written as others above those of the hits. */
static int32_t id_of(uint64_t shown)
{
	return (int32_t)(uint32_t)(shown > HITS_PID ? shown - HITS_PID - 1 : shown);
}

static const struct fxt_read_arg *find_arg(const struct fxt_read_event *event, const char *name)
{
	for (size_t i = 0; i < event->arg_cnt; i++)
		if (!strcmp(event->args[i].name, name))
			return &event->args[i];
	return NULL;
}

static uint64_t number(const struct fxt_read_event *event, const char *name, uint64_t otherwise)
{
	const struct fxt_read_arg *arg = find_arg(event, name);

	return arg && !arg->text ? arg->value : otherwise;
}

static const char *text_of(const struct fxt_read_event *event, const char *name, const char *otherwise)
{
	const struct fxt_read_arg *arg = find_arg(event, name);

	return arg && arg->text ? arg->text : otherwise;
}

/* ---- threads and their calls ---- */

static int thread_of(struct reading *reading, uint64_t shown_pid, uint64_t shown_tid, size_t *ret_index)
{
	struct timeline *timeline = reading->timeline;
	struct timeline_thread fresh = {.pid = id_of(shown_pid), .tid = id_of(shown_tid)};
	uint64_t hash = hash_number(hash_number(0, (uint32_t)fresh.pid), (uint32_t)fresh.tid);
	int err;

	for (size_t at = 0, i; (i = hash_index_next(&reading->by_id, hash, &at)) != HASH_INDEX_END;) {
		if (timeline->threads[i].pid != fresh.pid || timeline->threads[i].tid != fresh.tid)
			continue;
		*ret_index = i;
		return 0;
	}
	err = ARRAY_PUSH(reading->open, reading->open_cnt, reading->open_cap, (struct open_calls){0});
	if (!err)
		err = hash_index_add(&reading->by_id, hash, timeline->thread_cnt);
	fresh.name = err ? NULL : strdup("");
	if (!fresh.name)
		return -ENOMEM;
	*ret_index = timeline->thread_cnt;
	err = ARRAY_PUSH(timeline->threads, timeline->thread_cnt, timeline->thread_cap, fresh);
	if (err)
		free(fresh.name);
	return err;
}

static int replace_text(char **text, const char *by)
{
	char *copy = strdup(by);

	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

static int name_thread(struct reading *reading, const struct fxt_read_event *event)
{
	size_t index;
	int err;

	if (event->pid == HITS_PID)
		return 0;
	err = thread_of(reading, event->pid, event->tid, &index);
	return err ? err : replace_text(&reading->timeline->threads[index].name, event->name);
}

static int goroutine_of(struct timeline *timeline, const struct fxt_read_event *event, uint16_t *ret_index)
{
	uint64_t wanted = number(event, "goroutine", 0);
	size_t i = timeline->goroutine_cnt;
	int err = 0;

	if (!wanted)
		return 0;
	while (i > 0 && timeline->goroutines[i - 1] != wanted)
		i--;
	if (!i && timeline->goroutine_cnt < UINT16_MAX) {
		err = ARRAY_PUSH(timeline->goroutines, timeline->goroutine_cnt, timeline->goroutine_cap,
				 wanted);
		i = timeline->goroutine_cnt;
	}
	*ret_index = (uint16_t)i;
	return err;
}

/* "[syscall]" and the like stand for themselves, unless the file says where that function is. */
static bool is_pause(const struct fxt_read_event *event, struct slice *slice)
{
	for (slice->kind = SLICE_SYSCALL; slice->kind < SLICE_KIND_CNT; slice->kind++)
		if (!strcmp(slice_name(slice), event->name) && !find_arg(event, "object"))
			return true;
	slice->kind = SLICE_CALL;
	return false;
}

static int symbol_of(struct reading *reading, const struct fxt_read_event *event, struct slice *slice)
{
	struct symbol symbol = {.name = event->name,
				.object = text_of(event, "object", ""),
				.file = text_of(event, "file", NULL),
				.line = (uint32_t)number(event, "line", 0)};
	size_t len = strlen(event->name), suffix = sizeof(inferred_suffix) - 1;

	if (len > suffix && !strcmp(event->name + len - suffix, inferred_suffix)) {
		int err = fxt_names_text(reading->names, event->name, len - suffix, &symbol.name);

		if (err)
			return err;
		slice->flags |= SLICE_INFERRED_START;
	}
	return fxt_names_symbol(reading->names, &symbol, &slice->symbol);
}

static int begin_slice(struct reading *reading, const struct fxt_read_event *event, size_t index)
{
	struct timeline_thread *thread = &reading->timeline->threads[index];
	struct open_calls *open = &reading->open[index];
	struct slice slice = {.start_ns = open->now_ns, .end_ns = open->now_ns};
	int err = 0;

	slice.depth = (uint32_t)open->cnt;
	slice.flags = (uint8_t)((find_arg(event, "inferred_start_time") ? SLICE_INFERRED_START : 0) |
				(find_arg(event, "inlined") ? SLICE_INLINED : 0) |
				(find_arg(event, "open_at_end") ? SLICE_OPEN_END : 0));
	if (!is_pause(event, &slice)) {
		slice.ip = number(event, "address", 0);
		err = symbol_of(reading, event, &slice);
	}
	if (!err)
		err = goroutine_of(reading->timeline, event, &slice.goroutine);
	if (!err)
		err = ARRAY_PUSH(open->items, open->cnt, open->cap, thread->slice_cnt);
	return err ? err : SPILL_PUSH(thread->slices, thread->slice_cnt, thread->slice_cap, slice);
}

static void end_slice(struct reading *reading, size_t index)
{
	struct open_calls *open = &reading->open[index];

	if (open->cnt)
		reading->timeline->threads[index].slices[open->items[--open->cnt]].end_ns = open->now_ns;
	else
		reading->no_begin++;
}

static bool is_gap(const char *text)
{
	return !strncmp(text, "[gap", 4) || !strncmp(text, "[decode error", 13);
}

static int add_instant(struct reading *reading, const struct fxt_read_event *event, size_t index)
{
	struct timeline_thread *thread = &reading->timeline->threads[index];
	struct instant instant = {.time_ns = event->time_ns, .is_event = !is_gap(event->name)};
	int err;

	instant.text = strdup(event->name);
	if (!instant.text)
		return -ENOMEM;
	err = ARRAY_PUSH(thread->instants, thread->instant_cnt, thread->instant_cap, instant);
	if (err)
		free(instant.text);
	return err;
}

/* What is open where the file ends was so where the trace ended. */
static void end_all(struct reading *reading)
{
	for (size_t i = 0; i < reading->open_cnt; i++) {
		struct open_calls *open = &reading->open[i];

		while (open->cnt) {
			struct slice *slice =
				&reading->timeline->threads[i].slices[open->items[open->cnt - 1]];

			slice->flags |= SLICE_OPEN_END;
			end_slice(reading, i);
		}
	}
}

/* ---- hits ---- */

static const struct hit_field {
	const char *name;
	size_t offset;
	bool is_short;
} hit_fields[] = {
	{"monotonic_ns", offsetof(struct hit, time_ns), false},
	{"pid", offsetof(struct hit, pid), true},
	{"tid", offsetof(struct hit, tid), true},
	{"cpu", offsetof(struct hit, cpu), true},
	{"return_address", offsetof(struct hit, return_address), false},
	{"goroutine", offsetof(struct hit, goroutine), false},
	{"arg0", offsetof(struct hit, args[0]), false},
	{"arg1", offsetof(struct hit, args[1]), false},
	{"arg2", offsetof(struct hit, args[2]), false},
	{"arg3", offsetof(struct hit, args[3]), false},
	{"arg4", offsetof(struct hit, args[4]), false},
	{"arg5", offsetof(struct hit, args[5]), false},
};

_Static_assert(HIT_ARG_CNT == 6, "each argument has a name");

/* Of the three events that a hit is, each has some of its fields. */
static void fill_hit(struct hit *hit, const struct fxt_read_event *event)
{
	for (size_t i = 0; i < ARRAY_SIZE(hit_fields); i++) {
		const struct fxt_read_arg *arg = find_arg(event, hit_fields[i].name);
		char *field = (char *)hit + hit_fields[i].offset;

		if (!arg)
			continue;
		memcpy(field, &arg->value, hit_fields[i].is_short ? sizeof(uint32_t) : sizeof(uint64_t));
	}
	for (unsigned int i = 0; i < HIT_REG_CNT; i++)
		if (hit_reg_name(i))
			hit->regs[i] = number(event, hit_reg_name(i), hit->regs[i]);
}

static int add_frame(struct reading *reading, struct timeline_hit *placed, const char *line, size_t len)
{
	struct symbol symbol = {.object = ""};
	uint64_t ip;
	int name, err;
	CLEANUP(freep) char *copy = strndup(line, len);

	if (!copy)
		return -ENOMEM;
	if (sscanf(copy, "#%*u 0x%" SCNx64 " %n", &ip, &name) != 1)
		return 0;
	placed->stack_symbols[placed->stack_cnt] = NULL;
	if (strcmp(copy + name, "?") != 0) {
		err = fxt_names_text(reading->names, copy + name, len, &symbol.name);
		if (!err)
			err = fxt_names_symbol(reading->names, &symbol,
					       &placed->stack_symbols[placed->stack_cnt]);
		if (err)
			return err;
	}
	placed->stack_ips[placed->stack_cnt++] = ip;
	return 0;
}

/* "#0 0x1234 f", a frame on each line. */
static int fill_stack(struct reading *reading, struct timeline_hit *placed, const char *text)
{
	size_t lines = 1;
	int err = 0;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	placed->stack_ips = calloc(lines, sizeof(*placed->stack_ips));
	placed->stack_symbols = calloc(lines, sizeof(struct symbol *));
	if (!placed->stack_ips || !placed->stack_symbols)
		return -ENOMEM;
	while (*text && !err) {
		size_t len = strcspn(text, "\n");

		err = add_frame(reading, placed, text, len);
		text += len + (text[len] == '\n');
	}
	return err;
}

static int trigger_of(struct reading *reading, const char *name, __u32 *ret_trigger)
{
	struct timeline *timeline = reading->timeline;
	char *copy;
	size_t i = 0;
	int err;

	while (i < timeline->trigger_cnt && strcmp(timeline->triggers[i], name))
		i++;
	*ret_trigger = (uint32_t)i;
	if (i < timeline->trigger_cnt)
		return 0;
	copy = strdup(name);
	err = copy ? ARRAY_PUSH(timeline->triggers, timeline->trigger_cnt, reading->trigger_cap, copy)
		   : -ENOMEM;
	if (err)
		free(copy);
	return err;
}

static int begin_hit(struct reading *reading, const struct fxt_read_event *event)
{
	struct timeline *timeline = reading->timeline;
	struct timeline_hit *placed, fresh = {.time_ns = event->time_ns};
	struct symbol symbol = {.name = text_of(event, "symbol", "?"), .object = ""};
	int err = trigger_of(reading, event->name, &fresh.hit.trigger);

	if (!err)
		err = ARRAY_PUSH(timeline->hits, timeline->hit_cnt, timeline->hit_cap, fresh);
	if (err)
		return err;
	placed = &timeline->hits[timeline->hit_cnt - 1];
	fill_hit(&placed->hit, event);
	placed->hit.begin_ns = placed->hit.time_ns;
	if (strcmp(symbol.name, "?") != 0)
		err = fxt_names_symbol(reading->names, &symbol, &placed->symbol);
	return err ? err : fill_stack(reading, placed, text_of(event, "stack", ""));
}

static void end_hit(struct reading *reading, const struct fxt_read_event *event)
{
	struct hit *hit;
	const char *comm = text_of(event, "comm", "");

	if (!reading->timeline->hit_cnt)
		return;
	hit = &reading->timeline->hits[reading->timeline->hit_cnt - 1].hit;
	fill_hit(hit, event);
	memcpy(hit->comm, comm, strnlen(comm, HIT_COMM_BYTES));
}

/* The moment on the hit's thread; false: the instant is something else. */
static bool mark_hit(struct reading *reading, const struct fxt_read_event *event)
{
	struct hit *hit;

	if (!reading->timeline->hit_cnt || !find_arg(event, "arg0"))
		return false;
	hit = &reading->timeline->hits[reading->timeline->hit_cnt - 1].hit;
	fill_hit(hit, event);
	hit->begin_ns = hit->time_ns - number(event, "elapsed_ns", 0);
	if (find_arg(event, "trace_stopped_after_ns"))
		hit->stopped_ns = hit->time_ns + number(event, "trace_stopped_after_ns", 0);
	return true;
}

static int read_about(struct reading *reading, const struct fxt_read_event *event)
{
	struct timeline *timeline = reading->timeline;
	int err = replace_text(&timeline->command, text_of(event, "command", ""));

	if (!err)
		err = replace_text(&timeline->source, text_of(event, "source", ""));
	if (!err)
		err = replace_text(&timeline->stopped_by, text_of(event, "stopped_by", ""));
	timeline->base_ns = number(event, "clock_ns", 0);
	timeline->base_realtime_ns = number(event, "realtime_ns", 0);
	return err;
}

static int read_hits_track(struct reading *reading, const struct fxt_read_event *event)
{
	if (event->type == FXT_READ_BEGIN)
		return begin_hit(reading, event);
	if (event->type == FXT_READ_END)
		end_hit(reading, event);
	else if (event->type == FXT_READ_INSTANT)
		return read_about(reading, event);
	return 0;
}

/* ---- counters ---- */

static int add_point(struct reading *reading, const struct fxt_read_event *event)
{
	struct timeline *timeline = reading->timeline;
	struct counter *counter, fresh = {.pid = id_of(event->pid), .tid = id_of(event->tid)};
	struct counter_point point = {.time_ns = event->time_ns, .value = number(event, "value", 0)};
	size_t i = timeline->counter_cnt;

	for (; i > 0; i--) {
		counter = &timeline->counters[i - 1];
		if (counter->tid == fresh.tid && counter->pid == fresh.pid &&
		    !strcmp(counter->name, event->name))
			break;
	}
	if (!i) {
		fresh.name = strdup(event->name);
		if (!fresh.name)
			return -ENOMEM;
		if (ARRAY_PUSH(timeline->counters, timeline->counter_cnt, timeline->counter_cap, fresh)) {
			free(fresh.name);
			return -ENOMEM;
		}
		counter = &timeline->counters[timeline->counter_cnt - 1];
	}
	return ARRAY_PUSH(counter->points, counter->point_cnt, counter->point_cap, point);
}

/* ---- the whole ---- */

static int read_thread_event(struct reading *reading, const struct fxt_read_event *event)
{
	size_t index;
	struct open_calls *open;
	int err = thread_of(reading, event->pid, event->tid, &index);

	if (err)
		return err;
	open = &reading->open[index];
	if (event->type == FXT_READ_INSTANT)
		return add_instant(reading, event, index);
	open->now_ns = event->time_ns > open->now_ns ? event->time_ns : open->now_ns;
	if (event->type == FXT_READ_BEGIN)
		return begin_slice(reading, event, index);
	end_slice(reading, index);
	return 0;
}

static int read_event(struct reading *reading, const struct fxt_read_event *event)
{
	switch (event->type) {
	case FXT_READ_PROCESS:
		return *reading->timeline->command ? 0
						   : replace_text(&reading->timeline->command, event->name);
	case FXT_READ_THREAD:
		return name_thread(reading, event);
	case FXT_READ_OTHER:
		reading->others++;
		return 0;
	default:
		break;
	}
	reading->event_cnt++;
	if (event->pid == HITS_PID && event->tid == HITS_TID)
		return read_hits_track(reading, event);
	if (event->type == FXT_READ_COUNTER)
		return add_point(reading, event);
	if (event->type == FXT_READ_INSTANT && mark_hit(reading, event))
		return 0;
	return read_thread_event(reading, event);
}

static int read_all(struct reading *reading, const char *path)
{
	CLEANUP(fxt_stream_closep) struct fxt_stream *stream = NULL;
	struct fxt_read_event event;
	int got, err = fxt_stream_open(&stream, path, reading->names);

	if (err)
		return err;
	while (!err && (got = fxt_stream_next(stream, &event)) != 0)
		err = got < 0 ? got : read_event(reading, &event);
	if (err)
		return fail(err, "no memory for the calls of %s", path);
	end_all(reading);
	if (reading->no_begin)
		log_warn("%s: ends of calls that it does not begin, left out: %" PRIu64, path,
			 reading->no_begin);
	if (reading->others)
		log_warn("%s: events of kinds that no call is made of, left out: %" PRIu64, path,
			 reading->others);
	if (!reading->event_cnt)
		return fail(-EBADMSG, "%s: there is no event in this FXT file", path);
	return 0;
}

static void reading_release(struct reading *reading)
{
	for (size_t i = 0; i < reading->open_cnt; i++)
		free(reading->open[i].items);
	free(reading->open);
	hash_index_release(&reading->by_id);
	timeline_free(reading->timeline);
	fxt_names_free(reading->names);
}

int fxt_read(struct timeline **ret_timeline, struct fxt_names **ret_names, const char *path)
{
	CLEANUP(reading_release) struct reading reading = {0};
	int err = timeline_new(&reading.timeline);

	if (!err)
		err = fxt_names_new(&reading.names);
	if (!err)
		err = replace_text(&reading.timeline->command, "");
	if (!err)
		err = replace_text(&reading.timeline->source, "");
	if (!err)
		err = replace_text(&reading.timeline->stopped_by, "");
	if (err)
		return fail(err, "no memory to read %s", path);
	err = read_all(&reading, path);
	if (err)
		return err;
	*ret_timeline = TAKE_PTR(reading.timeline);
	*ret_names = TAKE_PTR(reading.names);
	return 0;
}
