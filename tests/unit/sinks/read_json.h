/* SPDX-License-Identifier: BSD-2-Clause */
/* Readers of the formats that are JSON, on yajl's parser. */
#pragma once

#include <yajl/yajl_tree.h>

#include "read_trace.h"

static inline yajl_val json_get(yajl_val object, const char *name)
{
	const char *path[] = {name, NULL};

	return yajl_tree_get(object, path, yajl_t_any);
}

static inline const char *json_text(yajl_val object, const char *name)
{
	return YAJL_GET_STRING(json_get(object, name));
}

static inline uint64_t json_number(yajl_val object, const char *name)
{
	yajl_val value = json_get(object, name);

	assert_true(YAJL_IS_INTEGER(value));
	return (uint64_t)YAJL_GET_INTEGER(value);
}

/* From its digits: a double would round it. */
static inline uint64_t json_microseconds(yajl_val object, const char *name)
{
	yajl_val value = json_get(object, name);
	char *end;
	uint64_t us;

	assert_true(YAJL_IS_NUMBER(value));
	us = strtoull(YAJL_GET_NUMBER(value), &end, 10);
	assert_int_equal(*end, '.');
	assert_int_equal(strlen(end), 4);
	return us * 1000 + strtoull(end + 1, NULL, 10);
}

static inline yajl_val json_parse(const char *text)
{
	char error[256];
	yajl_val root = yajl_tree_parse(text, error, sizeof(error));

	if (!root)
		fail_msg("%s", error);
	return root;
}

/* ---- Chrome ---- */

static inline void chrome_event(struct read_trace *trace, yajl_val event)
{
	uint64_t tid = json_number(event, "tid");
	const char *type = json_text(event, "ph");
	yajl_val args = json_get(event, "args");

	assert_non_null(type);
	if (*type == 'M') {
		assert_non_null(json_text(args, "name"));
		trace->thread_cnt += !strcmp(json_text(event, "name"), "thread_name");
	} else if (*type == 'B') {
		struct read_slice *slice =
			read_begin(trace, tid, json_microseconds(event, "ts"), json_text(event, "name"));

		if (args && json_get(args, "object")) {
			slice->object = strdup(json_text(args, "object"));
			slice->file = strdup(json_text(args, "file"));
			slice->line = json_number(args, "line");
		}
	} else if (*type == 'E') {
		read_end(trace, tid, json_microseconds(event, "ts"));
	} else if (*type == 'C') {
		assert_int_equal(json_number(args, "value"), json_microseconds(event, "ts") * 10);
		trace->counter_cnt++;
	} else {
		bool is_hit = !strcmp(json_text(event, "cat"), "hit");

		assert_int_equal(*type, 'i');
		if (is_hit) {
			assert_string_equal(json_text(args, "arg0"), "0xabc");
			assert_string_equal(json_text(args, "ss"), "0x2b");
			assert_string_equal(json_text(args, "comm"), "sixteen bytes!!!");
		}
		read_moment(trace, tid, json_microseconds(event, "ts"), is_hit, json_text(event, "name"));
	}
}

static inline struct read_trace *read_chrome(char *text, size_t size)
{
	struct read_trace *trace = calloc(1, sizeof(*trace));
	yajl_val root = json_parse(text), events = json_get(root, "traceEvents");

	(void)size;
	trace->realtime_ns = json_number(json_get(root, "otherData"), "realtime_ns");
	assert_true(YAJL_IS_ARRAY(events));
	for (size_t i = 0; i < events->u.array.len; i++)
		chrome_event(trace, events->u.array.values[i]);
	assert_int_equal(trace->open_cnt, 0);
	yajl_tree_free(root);
	return trace;
}

/* ---- speedscope ---- */

static inline void speedscope_event(struct read_trace *trace, uint64_t tid, yajl_val event, yajl_val frames)
{
	uint64_t number = json_number(event, "frame"), time = json_number(event, "at");
	const char *type = json_text(event, "type");
	yajl_val frame;

	assert_true(number < frames->u.array.len);
	frame = frames->u.array.values[number];
	if (*type == 'O') {
		struct read_slice *slice = read_begin(trace, tid, time, json_text(frame, "name"));

		if (json_text(frame, "file"))
			slice->file = strdup(json_text(frame, "file"));
		slice->line = json_get(frame, "line") ? json_number(frame, "line") : 0;
	} else {
		assert_string_equal(read_end(trace, tid, time)->name, json_text(frame, "name"));
	}
}

/* As strict as speedscope is. */
static inline void speedscope_profile(struct read_trace *trace, yajl_val profile, yajl_val frames)
{
	yajl_val events = json_get(profile, "events");
	const char *tid = strstr(json_text(profile, "name"), " [tid=");
	uint64_t at = json_number(profile, "startValue");

	assert_string_equal(json_text(profile, "type"), "evented");
	assert_non_null(tid);
	for (size_t i = 0; i < events->u.array.len; i++) {
		yajl_val event = events->u.array.values[i];

		assert_true(json_number(event, "at") >= at);
		at = json_number(event, "at");
		speedscope_event(trace, strtoull(tid + 6, NULL, 10), event, frames);
	}
	assert_true(json_number(profile, "endValue") >= at);
	assert_int_equal(trace->open_cnt, 0);
	trace->thread_cnt++;
}

static inline struct read_trace *read_speedscope(char *text, size_t size)
{
	struct read_trace *trace = calloc(1, sizeof(*trace));
	yajl_val root = json_parse(text), profiles = json_get(root, "profiles"),
		 frames = json_get(json_get(root, "shared"), "frames");

	(void)size;
	assert_string_equal(json_text(root, "$schema"), "https://www.speedscope.app/file-format-schema.json");
	assert_true(YAJL_IS_ARRAY(profiles) && YAJL_IS_ARRAY(frames));
	for (size_t i = 0; i < profiles->u.array.len; i++)
		speedscope_profile(trace, profiles->u.array.values[i], frames);
	yajl_tree_free(root);
	return trace;
}
