/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces for the tests: written into memory, changed there, and read again. */
#pragma once

#include "assertions.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "ctf/reader.h"
#include "ctf/writer.h"

enum { PACKET_HEADER = 68, PACKET_MAX = 1 << 15 };

struct bytes {
	uint8_t *items;
	size_t cnt, cap;
};

static inline struct bytes bytes_load(const char *path)
{
	struct bytes bytes = {0};
	FILE *file = fopen(path, "re");
	size_t got;

	if (!file)
		return bytes;
	do {
		assert_int_equal(array_reserve(&bytes.items, &bytes.cap, bytes.cnt + (1 << 16), 1), 0);
		got = fread(bytes.items + bytes.cnt, 1, 1 << 16, file);
		bytes.cnt += got;
	} while (got);
	fclose(file);
	return bytes;
}

static inline uint64_t bytes_get(const struct bytes *bytes, size_t at, size_t size)
{
	uint64_t value = 0;

	assert_true(at + size <= bytes->cnt);
	memcpy(&value, bytes->items + at, size);
	return value;
}

static inline void bytes_set(struct bytes *bytes, size_t at, size_t size, uint64_t value)
{
	assert_true(at + size <= bytes->cnt);
	memcpy(bytes->items + at, &value, size);
}

/* The size of the packet at `at`. */
static inline size_t packet_size(const struct bytes *bytes, size_t at)
{
	return bytes_get(bytes, at + 4, 4) / 8;
}

/* Where the nth packet is, the first being 0. */
static inline size_t packet_at(const struct bytes *bytes, size_t nth)
{
	size_t at = 0;

	while (nth--)
		at += packet_size(bytes, at);
	assert_true(at < bytes->cnt);
	return at;
}

static inline size_t packet_cnt(const struct bytes *bytes)
{
	size_t cnt = 0;

	for (size_t at = 0; at < bytes->cnt; cnt++)
		at += packet_size(bytes, at);
	return cnt;
}

/* ---- writing ---- */

struct writing {
	struct memtrace_writer *writer;
	struct output *output;
	char path[64];
};

static inline struct memtrace_info plain_info(void)
{
	return (struct memtrace_info){
		.start_us = 1600000000123456,
		.sample_rate = 1e-4,
		.word_bits = 64,
		.pid = 4242,
		.executable = (char *)"/bin/program",
		.host = (char *)"host",
		.runtime_params = (char *)"a=1",
		.context = (char *)"context",
	};
}

/* One location for each code: file, function and numbers follow from it. */
static inline int locate_plainly(void *ctx, uint64_t code, const struct memtrace_location **ret_locations)
{
	static struct memtrace_location location;
	static char file[32], function[32];

	(void)ctx;
	snprintf(file, sizeof(file), "file%u.c", (unsigned int)(code % 40));
	snprintf(function, sizeof(function), "function%u", (unsigned int)(code % 1000));
	location = (struct memtrace_location){file, function, (uint32_t)(code % 5000), code % 80, code % 90};
	*ret_locations = &location;
	return 1;
}

typedef int locate_fn(void *ctx, uint64_t code, const struct memtrace_location **ret_locations);

static inline struct writing writing_begin(const struct memtrace_info *info, locate_fn *locate, void *ctx)
{
	struct writing writing = {0};
	struct memtrace_writer_config config = {.info = info, .locate = locate, .ctx = ctx};

	snprintf(writing.path, sizeof(writing.path), "/tmp/trailcam-memtrace-%d.ctf", (int)getpid());
	assert_ok(output_open(&writing.output, writing.path));
	config.output = writing.output;
	assert_ok(memtrace_writer_new(&writing.writer, &config));
	return writing;
}

/* What was written. */
static inline struct bytes writing_end(struct writing *writing)
{
	struct bytes bytes;

	assert_ok(memtrace_writer_flush(writing->writer));
	memtrace_writer_free(writing->writer);
	assert_ok(output_close(writing->output));
	bytes = bytes_load(writing->path);
	unlink(writing->path);
	return bytes;
}

/* ---- reading ---- */

static inline struct memtrace_reader *reader_of(const struct bytes *bytes)
{
	struct memtrace_reader *reader;

	assert_ok(memtrace_reader_open_bytes(&reader, "x.ctf", bytes->items, bytes->cnt, NULL));
	return reader;
}

static inline int locate_in_reader(void *ctx, uint64_t code, const struct memtrace_location **ret_locations)
{
	return memtrace_reader_locations(ctx, code, ret_locations);
}

/* What the trace is when it is read and written again. */
static inline struct bytes bytes_copied(const struct bytes *bytes)
{
	struct memtrace_reader *reader = reader_of(bytes);
	struct writing writing = writing_begin(memtrace_reader_info(reader), locate_in_reader, reader);
	struct memtrace_event event;
	struct bytes copy;
	uint64_t id = 0;
	int more;

	while ((more = memtrace_reader_next(reader, &event)) > 0) {
		assert_ok(memtrace_writer_put(writing.writer, &event, &id));
		if (event.kind == MEMTRACE_ALLOC)
			assert_int_equal(id, event.id);
	}
	assert_ok(more);
	copy = writing_end(&writing);
	memtrace_reader_close(reader);
	return copy;
}

static inline void assert_copied(const struct bytes *bytes)
{
	struct bytes copy = bytes_copied(bytes);

	assert_int_equal(copy.cnt, bytes->cnt);
	assert_memory_equal(copy.items, bytes->items, bytes->cnt);
	free(copy.items);
}
