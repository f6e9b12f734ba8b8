/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inverse of output/fxt.c, which writes a thread's calls in time order. Other tools do not: if a time is
 * before the last one of its thread, the file is read again, and each thread's events are sorted first.
 */
#include "input/fxt_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "base/spill.h"
#include "input/fxt_read_internal.h"

bool fxt_is(const char *path)
{
	return fxt_stream_is(path);
}

/* Ids that are not above 0 are written as others above those of the hits. */
int32_t fxt_id_of(uint64_t shown)
{
	return (int32_t)(uint32_t)(shown > SHOWN_HITS ? shown - SHOWN_HITS - 1 : shown);
}

const struct fxt_read_arg *fxt_arg(const struct fxt_read_event *event, const char *name)
{
	for (size_t i = 0; i < event->arg_cnt; i++)
		if (!strcmp(event->args[i].name, name))
			return &event->args[i];
	return NULL;
}

uint64_t fxt_number(const struct fxt_read_event *event, const char *name, uint64_t otherwise)
{
	const struct fxt_read_arg *arg = fxt_arg(event, name);

	return arg && !arg->text ? arg->value : otherwise;
}

const char *fxt_text(const struct fxt_read_event *event, const char *name, const char *otherwise)
{
	const struct fxt_read_arg *arg = fxt_arg(event, name);

	return arg && arg->text ? arg->text : otherwise;
}

int fxt_replace_text(char **text, const char *by)
{
	char *copy = strdup(by);

	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

static int read_about(struct reading *reading, const struct fxt_read_event *event)
{
	struct timeline *timeline = reading->timeline;
	int err = fxt_replace_text(&timeline->command, fxt_text(event, "command", ""));

	if (!err)
		err = fxt_replace_text(&timeline->source, fxt_text(event, "source", ""));
	if (!err)
		err = fxt_replace_text(&timeline->stopped_by, fxt_text(event, "stopped_by", ""));
	timeline->base_ns = fxt_number(event, "clock_ns", 0);
	timeline->base_realtime_ns = fxt_number(event, "realtime_ns", 0);
	timeline->period_ns = fxt_number(event, "sample_period_ns", 0);
	return err;
}

static int read_hits_track(struct reading *reading, const struct fxt_read_event *event)
{
	if (event->type == FXT_READ_BEGIN)
		return fxt_begin_hit(reading, event);
	if (event->type == FXT_READ_END)
		return fxt_end_hit(reading, event);
	if (event->type == FXT_READ_INSTANT)
		return read_about(reading, event);
	return 0;
}

/* ---- counters ---- */

static int add_point(struct reading *reading, const struct fxt_read_event *event)
{
	struct timeline *timeline = reading->timeline;
	struct counter *counter, fresh = {.pid = fxt_id_of(event->pid), .tid = fxt_id_of(event->tid)};
	struct counter_point point = {.time_ns = event->time_ns, .value = fxt_number(event, "value", 0)};
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

/* ---- flows ---- */

/* Ours have their end behind their beginning. Those of others are no wake-ups. */
static int read_flow(struct reading *reading, const struct fxt_read_event *event)
{
	struct timeline *timeline = reading->timeline;
	struct flow *flow = &reading->flow;
	bool is_ours = !strcmp(event->name, SHOWN_FLOW);

	if (is_ours && event->type == FXT_READ_FLOW_BEGIN) {
		reading->others += reading->flow_id != 0;
		reading->flow_id = event->end_ns;
		flow->from_ns = event->time_ns;
		flow->from_pid = fxt_id_of(event->pid);
		flow->from_tid = fxt_id_of(event->tid);
		return 0;
	}
	if (!strcmp(event->name, SHOWN_ALLOC_FLOW))
		return 0; /* the instants have its number */
	if (!is_ours || !reading->flow_id || reading->flow_id != event->end_ns) {
		reading->others++;
		return 0;
	}
	reading->flow_id = 0;
	flow->to_ns = event->time_ns > flow->from_ns ? event->time_ns : flow->from_ns;
	flow->to_pid = fxt_id_of(event->pid);
	flow->to_tid = fxt_id_of(event->tid);
	return ARRAY_PUSH(timeline->flows, timeline->flow_cnt, timeline->flow_cap, *flow);
}

/* ---- the whole ---- */

static int read_event(struct reading *reading, const struct fxt_read_event *event)
{
	switch (event->type) {
	case FXT_READ_THREAD:
		return fxt_name_of_thread(reading, event);
	case FXT_READ_OTHER:
		reading->others++;
		return 0;
	case FXT_READ_FLOW_BEGIN:
	case FXT_READ_FLOW_END:
		return read_flow(reading, event);
	default:
		break;
	}
	reading->event_cnt++;
	if (event->pid == SHOWN_HITS && event->tid == SHOWN_HITS)
		return read_hits_track(reading, event);
	if (event->type == FXT_READ_COUNTER)
		return add_point(reading, event);
	if (fxt_is_mark(reading, event))
		return fxt_mark_hit(reading, event);
	if (fxt_is_other_hit(event))
		return fxt_add_other_hit(reading, event);
	return fxt_read_thread_event(reading, event);
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
	if (!err)
		err = fxt_finish_threads(reading);
	if (err)
		return err == NOT_IN_ORDER ? err : fail(err, "no memory for the calls of %s", path);
	if (reading->no_begin)
		log_warn("%s: left out ends of calls that have no beginning: %" PRIu64, path,
			 reading->no_begin);
	if (reading->others)
		log_warn("%s: left out events that are not calls: %" PRIu64, path, reading->others);
	if (!reading->event_cnt)
		return fail(-EBADMSG, "%s: this FXT file has no events", path);
	return 0;
}

static int reading_init(struct reading *reading, bool sorts)
{
	int err;

	*reading = (struct reading){.sorts = sorts};
	err = timeline_new(&reading->timeline);
	if (!err)
		err = fxt_names_new(&reading->names);
	if (!err)
		err = fxt_replace_text(&reading->timeline->command, "");
	if (!err)
		err = fxt_replace_text(&reading->timeline->source, "");
	return err ? err : fxt_replace_text(&reading->timeline->stopped_by, "");
}

static void reading_release(struct reading *reading)
{
	for (size_t i = 0; i < reading->track_cnt; i++) {
		free(reading->tracks[i].open);
		for (size_t j = 0; j < reading->tracks[i].mark_cnt; j++)
			fxt_mark_release(&reading->tracks[i].marks[j]);
		spill_free(reading->tracks[i].marks);
	}
	free(reading->tracks);
	hash_index_release(&reading->by_id);
	timeline_free(reading->timeline);
	fxt_names_free(reading->names);
}

static int read_file(struct timeline **ret_timeline, struct fxt_names **ret_names, const char *path,
		     bool sorts)
{
	CLEANUP(reading_release) struct reading reading;
	int err = reading_init(&reading, sorts);

	if (err)
		return fail(err, "no memory to read %s", path);
	err = read_all(&reading, path);
	if (err)
		return err;
	*ret_timeline = TAKE_PTR(reading.timeline);
	*ret_names = TAKE_PTR(reading.names);
	return 0;
}

int fxt_read(struct timeline **ret_timeline, struct fxt_names **ret_names, const char *path)
{
	int err = read_file(ret_timeline, ret_names, path, false);

	return err == NOT_IN_ORDER ? read_file(ret_timeline, ret_names, path, true) : err;
}
