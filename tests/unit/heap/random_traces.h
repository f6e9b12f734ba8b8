/* SPDX-License-Identifier: BSD-2-Clause */
/* Random traces, and what was put into them: for comparing with the slow way. */
#pragma once

#include "assertions.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "ctf/writer.h"
#include "heap/trace.h"

enum { CODES = 24, DEPTH = 7, EVENTS = 400, ALIVE = UINT32_MAX };

struct made {
	struct memtrace_event events[EVENTS];
	uint64_t frames[EVENTS][DEPTH];
	uint64_t ids[EVENTS]; /* of allocations: the trace's */
	uint32_t end[EVENTS]; /* of allocations: the event, or ALIVE */
	bool is_promoted[EVENTS];
	unsigned int seed;
	char path[32];
};

static inline unsigned int pick(struct made *made, unsigned int cnt)
{
	made->seed = made->seed * 1103515245 + 12345;
	return (made->seed >> 16) % cnt;
}

/*
 * Of few functions, in two files, so that there is recursion; some codes stand for two, some are not known.
 */
static inline int place_of(void *ctx, uint64_t code, const struct memtrace_location **ret_locations)
{
	static const char *const functions[] = {"f", "g", "h", "operator[]", "k"};
	static struct memtrace_location places[2];

	(void)ctx;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		uint32_t number = (uint32_t)(code + 3 * i);

		places[i] = (struct memtrace_location){.function = functions[number % ARRAY_SIZE(functions)],
						       .file = number % 3 ? "a.ml" : "b.ml",
						       .line = 1 + number % 4};
	}
	*ret_locations = places;
	return code % 6 == 0 ? 0 : code % 7 == 0 ? 2 : 1;
}

static inline void make_alloc(struct made *made, struct memtrace_event *event, uint64_t *frames)
{
	event->kind = MEMTRACE_ALLOC;
	event->length = 1 + pick(made, 300);
	event->nsamples = 1 + pick(made, 3);
	event->source = pick(made, MEMTRACE_SOURCE_CNT);
	event->frame_cnt = pick(made, DEPTH + 1);
	event->frames = frames;
	for (size_t i = 0; i < event->frame_cnt; i++)
		frames[i] = 1 + pick(made, CODES);
}

/* Of an allocation before, if the one that is picked still lives; else nothing. */
static inline bool make_end(struct made *made, uint32_t at, struct memtrace_event *event)
{
	uint32_t i = pick(made, at + 1);

	if (i == at || made->events[i].kind != MEMTRACE_ALLOC || made->end[i] != ALIVE)
		return false;
	event->kind = pick(made, 3) ? MEMTRACE_COLLECT : MEMTRACE_PROMOTE;
	event->id = made->ids[i];
	if (event->kind == MEMTRACE_COLLECT) {
		made->end[i] = at;
		return true;
	}
	event->domain = made->events[i].domain; /* only it promotes */
	made->is_promoted[i] = true;
	return true;
}

static inline void make_events(struct made *made, struct memtrace_writer *writer)
{
	uint64_t time_us = 0;

	for (uint32_t i = 0; i < EVENTS; i++) {
		struct memtrace_event *event = &made->events[i];

		time_us += pick(made, 3) * pick(made, 1000);
		*event = (struct memtrace_event){.time_us = time_us, .domain = (uint16_t)pick(made, 2)};
		made->end[i] = ALIVE;
		if (pick(made, 2) || !make_end(made, i, event))
			make_alloc(made, event, made->frames[i]);
		assert_ok(memtrace_writer_put(writer, event, &made->ids[i]));
	}
	assert_ok(memtrace_writer_flush(writer));
}

/* Makes it and writes it to made->path, to be removed. */
static inline void make_trace(struct made *made, unsigned int seed)
{
	const struct memtrace_info info = {.start_us = 1000000,
					   .sample_rate = 1.0 / 64,
					   .word_bits = 64,
					   .pid = 42,
					   .executable = (char *)"prog",
					   .host = (char *)"host",
					   .runtime_params = (char *)"",
					   .context = (char *)""};
	struct memtrace_writer_config config = {.info = &info, .locate = place_of};
	struct memtrace_writer *writer;
	int fd;

	*made = (struct made){.seed = seed, .path = "/tmp/test_memtrace.XXXXXX"};
	fd = mkstemp(made->path);
	assert_true(fd >= 0);
	close(fd);
	assert_ok(output_open(&config.output, made->path));
	assert_ok(memtrace_writer_new(&writer, &config));
	make_events(made, writer);
	memtrace_writer_free(writer);
	assert_ok(output_close(config.output));
}
