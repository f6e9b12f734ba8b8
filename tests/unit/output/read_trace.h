/* SPDX-License-Identifier: BSD-2-Clause */
/* What the readers of formats make of a file. */
#pragma once

#include "timelines.h"

struct read_slice {
	uint64_t tid, start, end;
	size_t depth;
	char *name, *object, *file; /* the last two: NULL where the format has none */
	uint64_t line;
};

struct read_moment {
	uint64_t tid, time;
	bool is_hit;
	char *name;
};

struct read_trace {
	struct read_slice *slices;
	size_t slice_cnt, slice_cap;
	struct read_moment *moments;
	size_t moment_cnt, moment_cap;
	size_t thread_cnt, counter_cnt;
	uint64_t realtime_ns;	    /* of time 0, where the format tells */
	size_t open[600], open_cnt; /* of the thread at hand: their slices */
	uint64_t open_tid;
};

/* For formats of begin and end: a thread is finished before the next one begins. */
static inline struct read_slice *read_begin(struct read_trace *trace, uint64_t tid, uint64_t start,
					    const char *name)
{
	struct read_slice slice = {
		.tid = tid, .start = start, .depth = trace->open_cnt, .name = strdup(name)};

	assert_true(!trace->open_cnt || trace->open_tid == tid);
	assert_true(trace->open_cnt < 512);
	trace->open_tid = tid;
	trace->open[trace->open_cnt++] = trace->slice_cnt;
	assert_int_equal(ARRAY_PUSH(trace->slices, trace->slice_cnt, trace->slice_cap, slice), 0);
	return &trace->slices[trace->slice_cnt - 1];
}

static inline const struct read_slice *read_end(struct read_trace *trace, uint64_t tid, uint64_t end)
{
	struct read_slice *slice;

	assert_true(trace->open_cnt && trace->open_tid == tid);
	slice = &trace->slices[trace->open[--trace->open_cnt]];
	slice->end = end;
	return slice;
}

static inline void read_moment(struct read_trace *trace, uint64_t tid, uint64_t time, bool is_hit,
			       const char *name)
{
	struct read_moment moment = {tid, time, is_hit, strdup(name)};

	assert_int_equal(ARRAY_PUSH(trace->moments, trace->moment_cnt, trace->moment_cap, moment), 0);
}

static inline void read_trace_free(struct read_trace *trace)
{
	for (size_t i = 0; i < trace->slice_cnt; i++) {
		free(trace->slices[i].name);
		free(trace->slices[i].object);
		free(trace->slices[i].file);
	}
	for (size_t i = 0; i < trace->moment_cnt; i++)
		free(trace->moments[i].name);
	free(trace->slices);
	free(trace->moments);
	free(trace);
}
