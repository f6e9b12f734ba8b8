/* SPDX-License-Identifier: BSD-2-Clause */
/* Timelines to write. */
#pragma once

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "assertions.h"
#include "base/array.h"
#include "base/spill.h"
#include "output/sink.h"

static inline struct timeline *make_timeline(size_t thread_cnt)
{
	struct timeline *timeline;

	assert_int_equal(timeline_new(&timeline), 0);
	timeline->command = strdup("prog");
	timeline->threads = calloc(thread_cnt + 1, sizeof(*timeline->threads));
	timeline->thread_cnt = thread_cnt;
	for (size_t i = 0; i < thread_cnt; i++) {
		timeline->threads[i].pid = 100;
		timeline->threads[i].tid = 100 + (int32_t)i;
		timeline->threads[i].name = strdup("thread");
	}
	return timeline;
}

static inline void add_slice(struct timeline_thread *thread, const struct symbol *symbol, uint64_t start,
			     uint64_t end, uint32_t depth)
{
	struct slice slice = {.start_ns = start, .end_ns = end, .symbol = symbol, .depth = depth};

	assert_int_equal(SPILL_PUSH(thread->slices, thread->slice_cnt, thread->slice_cap, slice), 0);
}

static inline void add_gap(struct timeline_thread *thread, uint64_t time, const char *text)
{
	struct instant instant = {.time_ns = time, .text = strdup(text)};

	assert_int_equal(ARRAY_PUSH(thread->instants, thread->instant_cnt, thread->instant_cap, instant), 0);
}

static inline void add_hit(struct timeline *timeline, uint32_t tid, uint64_t time,
			   const struct symbol *symbol)
{
	static const struct symbol *const unknown[1];
	struct timeline_hit hit = {.time_ns = time,
				   .symbol = symbol,
				   .stack_symbols = timeline_stack_symbols(timeline, unknown, 1)};
	struct caught_hit caught = {.hit = {.pid = 100,
					    .tid = tid,
					    .args_known = 0x3f,
					    .stack_cnt = 1,
					    .comm = "sixteen bytes!!!"},
				    .args = {0xabc},
				    .regs[HIT_SS] = 0x2b};

	if (!timeline->hit_list)
		assert_int_equal(hit_list_new(&timeline->hit_list), 0);
	assert_int_equal(hit_list_add(timeline->hit_list, &caught), 0);
	hit.hit = timeline->hit_list->hits[timeline->hit_list->cnt - 1];
	if (!timeline->triggers) {
		timeline->triggers = calloc(1, sizeof(char *));
		timeline->triggers[timeline->trigger_cnt++] = strdup("my trigger");
	}
	assert_int_equal(ARRAY_PUSH(timeline->hits, timeline->hit_cnt, timeline->hit_cap, hit), 0);
}

static inline struct symbol make_symbol(const char *name)
{
	return (struct symbol){.name = name,
			       .object = "/bin/prog",
			       .start = 0x1000,
			       .end = 0x2000,
			       .file = "prog.c",
			       .line = 7};
}

/* What the sink writes, uncompressed; `ret_size` may be NULL, a 0 byte follows. The caller's. */
static inline char *written(const struct sink *sink, const struct timeline *timeline, size_t *ret_size)
{
	char path[64];
	struct output *output;
	char *bytes;
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/trailcam-sinks-%d", (int)getpid());
	assert_ok(output_open(&output, path));
	assert_ok(sink->write(timeline, output));
	size = output_size(output);
	assert_ok(output_close(output));
	file = fopen(path, "rb");
	assert_non_null(file);
	bytes = malloc(size + 1);
	assert_int_equal(fread(bytes, 1, size + 1, file), size);
	bytes[size] = '\0';
	fclose(file);
	unlink(path);
	if (ret_size)
		*ret_size = size;
	return bytes;
}
