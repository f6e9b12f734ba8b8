/* SPDX-License-Identifier: BSD-2-Clause */
/* Readers of the formats that are JSON, on yajl's parser. */
#pragma once

#include <yajl/yajl_parse.h>

#include "read_trace.h"

/*
 * A value: text of a string or a number, or what an array or object has in it. (yajl's own tree takes
 * quadratic time for long arrays.)
 */
struct json {
	char *key; /* in an object */
	enum { JSON_STRING, JSON_NUMBER, JSON_LIST } type;
	char *text;
	struct json *items;
	size_t cnt, cap;
};

struct json_builder {
	struct json open[16]; /* what is being built, outermost first: [0] gets the whole */
	size_t depth;
	char *key;
};

static inline int json_put(struct json_builder *builder, struct json value)
{
	struct json *into = &builder->open[builder->depth];

	assert_int_equal(ARRAY_PUSH(into->items, into->cnt, into->cap, value), 0);
	return 1;
}

static inline struct json json_make(struct json_builder *builder, int type, const char *text, size_t len)
{
	struct json value = {.key = builder->key, .text = text ? strndup(text, len) : NULL};

	value.type = type;
	builder->key = NULL;
	return value;
}

static inline int json_on_number(void *ctx, const char *text, size_t len)
{
	return json_put(ctx, json_make(ctx, JSON_NUMBER, text, len));
}

static inline int json_on_string(void *ctx, const unsigned char *text, size_t len)
{
	return json_put(ctx, json_make(ctx, JSON_STRING, (const char *)text, len));
}

static inline int json_on_key(void *ctx, const unsigned char *text, size_t len)
{
	((struct json_builder *)ctx)->key = strndup((const char *)text, len);
	return 1;
}

static inline int json_on_begin(void *ctx)
{
	struct json_builder *builder = ctx;
	struct json list = json_make(builder, JSON_LIST, NULL, 0);

	assert_true(++builder->depth < ARRAY_SIZE(builder->open));
	builder->open[builder->depth] = list;
	return 1;
}

static inline int json_on_end(void *ctx)
{
	struct json_builder *builder = ctx;
	struct json list = builder->open[builder->depth--];

	return json_put(builder, list);
}

/* A list of one, the text's value. */
static inline struct json json_parse(const char *text, size_t size)
{
	static yajl_callbacks callbacks = {.yajl_number = json_on_number,
					   .yajl_string = json_on_string,
					   .yajl_map_key = json_on_key,
					   .yajl_start_map = json_on_begin,
					   .yajl_start_array = json_on_begin,
					   .yajl_end_map = json_on_end,
					   .yajl_end_array = json_on_end};
	struct json_builder builder = {.open = {{.type = JSON_LIST}}};
	yajl_handle handle = yajl_alloc(&callbacks, NULL, &builder);

	assert_int_equal(yajl_parse(handle, (const unsigned char *)text, size), yajl_status_ok);
	assert_int_equal(yajl_complete_parse(handle), yajl_status_ok);
	yajl_free(handle);
	assert_int_equal(builder.open[0].cnt, 1);
	return builder.open[0];
}

static inline void json_free(struct json *value)
{
	for (size_t i = 0; i < value->cnt; i++)
		json_free(&value->items[i]);
	free(value->items);
	free(value->key);
	free(value->text);
}

static inline const struct json *json_get(const struct json *object, const char *name)
{
	for (size_t i = 0; object && i < object->cnt; i++)
		if (object->items[i].key && !strcmp(object->items[i].key, name))
			return &object->items[i];
	return NULL;
}

static inline const char *json_text(const struct json *object, const char *name)
{
	const struct json *value = json_get(object, name);

	return value && value->type == JSON_STRING ? value->text : NULL;
}

static inline const char *json_digits(const struct json *object, const char *name)
{
	const struct json *value = json_get(object, name);

	assert_true(value && value->type == JSON_NUMBER);
	return value->text;
}

static inline uint64_t json_number(const struct json *object, const char *name)
{
	char *end;
	uint64_t number = strtoull(json_digits(object, name), &end, 10);

	assert_int_equal(*end, '\0');
	return number;
}

/* From its digits: a double would round it. */
static inline uint64_t json_microseconds(const struct json *object, const char *name)
{
	char *end;
	uint64_t us = strtoull(json_digits(object, name), &end, 10);

	assert_int_equal(*end, '.');
	assert_int_equal(strlen(end), 4);
	return us * 1000 + strtoull(end + 1, NULL, 10);
}

/* ---- Chrome ---- */

static inline void chrome_event(struct read_trace *trace, const struct json *event)
{
	uint64_t tid = json_number(event, "tid");
	const char *type = json_text(event, "ph");
	const struct json *args = json_get(event, "args");

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
	struct json root = json_parse(text, size);
	const struct json *events = json_get(root.items, "traceEvents");

	trace->realtime_ns = json_number(json_get(root.items, "otherData"), "realtime_ns");
	assert_non_null(events);
	for (size_t i = 0; i < events->cnt; i++)
		chrome_event(trace, &events->items[i]);
	assert_int_equal(trace->open_cnt, 0);
	json_free(&root);
	return trace;
}

/* ---- speedscope ---- */

static inline void speedscope_event(struct read_trace *trace, uint64_t tid, const struct json *event,
				    const struct json *frames)
{
	uint64_t number = json_number(event, "frame"), time = json_number(event, "at");
	const char *type = json_text(event, "type");
	const struct json *frame;

	assert_true(number < frames->cnt);
	frame = &frames->items[number];
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
static inline void speedscope_profile(struct read_trace *trace, const struct json *profile,
				      const struct json *frames)
{
	const struct json *events = json_get(profile, "events");
	const char *tid = strstr(json_text(profile, "name"), " [tid=");
	uint64_t at = json_number(profile, "startValue");

	assert_string_equal(json_text(profile, "type"), "evented");
	assert_non_null(tid);
	for (size_t i = 0; i < events->cnt; i++) {
		const struct json *event = &events->items[i];

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
	struct json root = json_parse(text, size);
	const struct json *profiles = json_get(root.items, "profiles"),
			  *frames = json_get(json_get(root.items, "shared"), "frames");

	assert_string_equal(json_text(root.items, "$schema"),
			    "https://www.speedscope.app/file-format-schema.json");
	assert_true(profiles && frames);
	for (size_t i = 0; i < profiles->cnt; i++)
		speedscope_profile(trace, &profiles->items[i], frames);
	json_free(&root);
	return trace;
}
