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
	assert_true(YAJL_IS_ARRAY(events));
	for (size_t i = 0; i < events->u.array.len; i++)
		chrome_event(trace, events->u.array.values[i]);
	assert_int_equal(trace->open_cnt, 0);
	yajl_tree_free(root);
	return trace;
}
