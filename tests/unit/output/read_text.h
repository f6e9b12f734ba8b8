/* SPDX-License-Identifier: BSD-2-Clause */
/* Readers of the text formats, which know nothing of their writers. */
#pragma once

#include "read_trace.h"

/* ---- CSV (RFC 4180) ---- */

enum { CSV_FIELDS = 12 };

/* The fields of a line, unquoted in place; *at moves to the next line. */
static inline void csv_line(char **at, char *fields[CSV_FIELDS])
{
	for (size_t i = 0; i < CSV_FIELDS; i++) {
		bool quoted = **at == '"';
		char *to = *at += quoted;

		fields[i] = to;
		for (; quoted ? **at != '"' || (*at)[1] == '"' : **at != ',' && **at != '\r'; (*at)++) {
			assert_true(**at && (quoted || **at != '"'));
			*at += quoted && **at == '"';
			*to++ = **at;
		}
		*at += quoted;
		assert_int_equal(**at, i + 1 < CSV_FIELDS ? ',' : '\r');
		(*at)++;
		*to = '\0';
	}
	assert_int_equal(*(*at)++, '\n');
}

static inline struct read_trace *read_csv(char *at, size_t size)
{
	struct read_trace *trace = calloc(1, sizeof(*trace));
	char *fields[CSV_FIELDS], *end = at + size;

	csv_line(&at, fields);
	assert_string_equal(fields[11], "flags");
	while (at < end) {
		struct read_slice slice = {0};

		csv_line(&at, fields);
		assert_string_equal(fields[0], "100");
		slice.tid = strtoull(fields[1], NULL, 10);
		slice.start = strtoull(fields[4], NULL, 10);
		if (!*fields[3]) {
			read_moment(trace, slice.tid, slice.start, !strcmp(fields[6], "hit"), fields[7]);
			continue;
		}
		slice.depth = strtoull(fields[3], NULL, 10);
		slice.end = slice.start + strtoull(fields[5], NULL, 10);
		slice.name = strdup(fields[7]);
		slice.object = strdup(fields[8]);
		slice.file = strdup(fields[9]);
		slice.line = strtoull(fields[10], NULL, 10);
		assert_int_equal(ARRAY_PUSH(trace->slices, trace->slice_cnt, trace->slice_cap, slice), 0);
	}
	return trace;
}

/* ---- the tree ---- */

static inline uint64_t fixed_point(char **at, uint64_t unit)
{
	uint64_t whole = strtoull(*at, at, 10), fraction;

	assert_int_equal(**at, '.');
	fraction = strtoull(*at + 1, at, 10);
	return whole * unit + fraction;
}

static inline void tree_call(struct read_trace *trace, uint64_t tid, uint64_t start, char *at)
{
	struct read_slice slice = {.tid = tid, .start = start};
	char *place;

	slice.end = start + fixed_point(&at, 1000);
	slice.depth = (strspn(at, " ") - 2) / 2;
	at += strspn(at, " ");
	if (*at == '{') {
		assert_int_equal(slice.depth, 100);
		slice.depth = strtoull(at + 1, &at, 10);
		at += 2;
	}
	place = strstr(at, " (/bin/prog, prog.c:7)");
	if (place) {
		*place = '\0';
		slice.object = strdup("/bin/prog");
		slice.file = strdup("prog.c");
		slice.line = 7;
	}
	slice.name = strdup(at);
	assert_int_equal(ARRAY_PUSH(trace->slices, trace->slice_cnt, trace->slice_cap, slice), 0);
}

static inline struct read_trace *read_tree(char *text, size_t size)
{
	struct read_trace *trace = calloc(1, sizeof(*trace));
	char *line;

	(void)size;
	while ((line = strsep(&text, "\n"))) {
		uint64_t time, tid;

		trace->thread_cnt += !strncmp(line, "# thread ", 9);
		if (!*line || *line == '#')
			continue;
		time = fixed_point(&line, 1000000000);
		tid = strtoull(line, &line, 10);
		assert_int_equal(*line++, ' ');
		if (line[12] != ' ') {
			tree_call(trace, tid, time, line);
			continue;
		}
		line += strspn(line, " ");
		if (!strncmp(line, "* hit ", 6)) {
			char *args = strstr(line, " arg0=0xabc ");

			assert_non_null(args);
			assert_non_null(strstr(args, " ss=0x2b "));
			*args = '\0';
			read_moment(trace, tid, time, true, line + 6);
		} else {
			assert_int_equal(*line, '!');
			read_moment(trace, tid, time, false, line + 2);
		}
	}
	return trace;
}
