/* SPDX-License-Identifier: BSD-2-Clause */
/* What is written is read back by the libraries of the formats; a file appears whole or not at all. */
#include "assertions.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "base/array.h"
#include "output/bytes/gzip.h"
#include "output/bytes/output.h"

enum { LINES = 100000, LINE_BYTES = 27 };

static char path[64];

static char *expected(void)
{
	char *text = malloc(LINES * LINE_BYTES + 1);

	for (size_t i = 0; i < LINES; i++)
		snprintf(text + i * LINE_BYTES, LINE_BYTES + 1, "%010zu, and so it goes\n", i);
	return text;
}

static void write_lines(const char *suffix)
{
	struct output *output;

	snprintf(path, sizeof(path), "/tmp/trailcam-output-%d%s", (int)getpid(), suffix);
	assert_ok(output_open(&output, path));
	for (size_t i = 0; i < LINES; i++)
		output_printf(output, "%010zu, and so it goes\n", i);
	assert_int_equal(output_size(output), LINES * LINE_BYTES);
	assert_ok(output_close(output));
}

static char *read_file(size_t *ret_size)
{
	char *bytes = malloc(LINES * LINE_BYTES + 1);
	FILE *file = fopen(path, "rb");

	assert_non_null(file);
	*ret_size = fread(bytes, 1, LINES * LINE_BYTES + 1, file);
	fclose(file);
	unlink(path);
	return bytes;
}

TEST(test_plain)
{
	char *text = expected(), *bytes;
	size_t size;

	write_lines("");
	bytes = read_file(&size);
	assert_int_equal(size, LINES * LINE_BYTES);
	assert_memory_equal(bytes, text, size);
	free(bytes);
	free(text);
}

TEST(test_gzip)
{
	char *text = expected(), *bytes = malloc(LINES * LINE_BYTES + 1);
	struct stat st;
	gzFile file;

	write_lines(".gz");
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size < LINES * LINE_BYTES / 2);
	file = gzopen(path, "rb");
	assert_int_equal(gzread(file, bytes, LINES * LINE_BYTES + 1), LINES * LINE_BYTES);
	gzclose(file);
	assert_memory_equal(bytes, text, LINES * LINE_BYTES);
	unlink(path);
	free(bytes);
	free(text);
}

struct bytes {
	uint8_t *items;
	size_t cnt, cap;
};

static int add_bytes(void *ctx, const uint8_t *bytes, size_t size)
{
	struct bytes *all = ctx;

	assert_ok(array_reserve(&all->items, &all->cap, all->cnt + size, 1));
	memcpy(all->items + all->cnt, bytes, size);
	all->cnt += size;
	return 0;
}

/* Full buffers, some of which compress well, and `rest` bytes; on all processors, or on this one. */
static struct bytes compress_all(size_t buffers, size_t rest, bool on_one)
{
	struct bytes all = {0};
	struct gzip *gzip;
	cpu_set_t before, one;
	uint32_t number = 1;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_ok(sched_getaffinity(0, sizeof(before), &before));
	if (on_one)
		assert_ok(sched_setaffinity(0, sizeof(one), &one));
	assert_ok(gzip_new(&gzip, add_bytes, &all));
	for (size_t i = 0; i <= buffers; i++) {
		size_t size = i < buffers ? GZIP_BUFFER : rest;

		for (size_t j = 0; j < size; j++, number = number * 1664525 + 1013904223)
			gzip_buffer(gzip)[j] = (uint8_t)(number >> 24 >> i % 9);
		assert_ok(gzip_push(gzip, size, i == buffers));
	}
	gzip_free(gzip);
	assert_ok(sched_setaffinity(0, sizeof(before), &before));
	return all;
}

/* One member, as browsers want it, and the same on any number of processors. */
TEST(test_gzip_buffers)
{
	static const struct {
		size_t buffers, rest;
	} sizes[] = {{0, 0}, {0, 1}, {1, 0}, {7, GZIP_BUFFER}, {20, 12345}};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct bytes all = compress_all(sizes[i].buffers, sizes[i].rest, false);
		struct bytes one = compress_all(sizes[i].buffers, sizes[i].rest, true);
		size_t size = sizes[i].buffers * GZIP_BUFFER + sizes[i].rest;
		uint8_t *plain = malloc(size + 1);
		z_stream stream = {.next_in = all.items,
				   .avail_in = (uInt)all.cnt,
				   .next_out = plain,
				   .avail_out = (uInt)size + 1};

		assert_int_equal(all.cnt, one.cnt);
		assert_memory_equal(all.items, one.items, one.cnt);
		assert_int_equal(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
		assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
		assert_int_equal(stream.total_out, size);
		assert_int_equal(stream.avail_in, 0);
		inflateEnd(&stream);
		free(plain);
		free(all.items);
		free(one.items);
	}
}

static int refuse(void *ctx, const uint8_t *bytes, size_t size)
{
	(void)ctx;
	(void)bytes;
	(void)size;
	return -ENOSPC;
}

/* Whichever thread has the error, it is told, and nobody waits for ever, also where the file is given up. */
TEST(test_gzip_fails)
{
	struct gzip *gzip;

	for (size_t cnt = 0; cnt < 8; cnt++) {
		assert_ok(gzip_new(&gzip, refuse, NULL));
		for (size_t i = 0; i < cnt; i++) {
			memset(gzip_buffer(gzip), 0, GZIP_BUFFER);
			gzip_push(gzip, GZIP_BUFFER, false);
		}
		if (cnt % 2)
			assert_int_equal(gzip_push(gzip, 0, true), -ENOSPC);
		gzip_free(gzip);
	}
}

TEST(test_zstd)
{
	char *text = expected(), *plain = malloc(LINES * LINE_BYTES + 1), *bytes;
	size_t size;

	write_lines(".zst");
	bytes = read_file(&size);
	assert_true(size < LINES * LINE_BYTES / 2);
	assert_int_equal(ZSTD_decompress(plain, LINES * LINE_BYTES + 1, bytes, size), LINES * LINE_BYTES);
	assert_memory_equal(plain, text, LINES * LINE_BYTES);
	free(plain);
	free(bytes);
	free(text);
}

/* What cannot be made smaller: more comes out than goes in. */
TEST(test_random_zstd)
{
	enum { NUMBERS = 1 << 20 };
	uint32_t *numbers = malloc(NUMBERS * sizeof(*numbers)), *plain = malloc(NUMBERS * sizeof(*numbers));
	char *bytes = malloc(2 * NUMBERS * sizeof(*numbers));
	struct output *output;
	uint32_t number = 1;
	size_t size;
	FILE *file;

	for (size_t i = 0; i < NUMBERS; i++)
		numbers[i] = number = number * 1664525 + 1013904223;
	snprintf(path, sizeof(path), "/tmp/trailcam-random-%d.zst", (int)getpid());
	assert_ok(output_open(&output, path));
	output_write(output, numbers, NUMBERS * sizeof(*numbers));
	assert_ok(output_close(output));
	file = fopen(path, "rb");
	assert_non_null(file);
	size = fread(bytes, 1, 2 * NUMBERS * sizeof(*numbers), file);
	fclose(file);
	unlink(path);
	assert_int_equal(ZSTD_decompress(plain, NUMBERS * sizeof(*numbers), bytes, size),
			 NUMBERS * sizeof(*numbers));
	assert_memory_equal(plain, numbers, NUMBERS * sizeof(*numbers));
	free(bytes);
	free(plain);
	free(numbers);
}

/* Nothing written is a file, too. */
TEST(test_empty_zstd)
{
	struct output *output;
	char plain, *bytes;
	size_t size;

	snprintf(path, sizeof(path), "/tmp/trailcam-empty-%d.zst", (int)getpid());
	assert_ok(output_open(&output, path));
	assert_ok(output_close(output));
	bytes = read_file(&size);
	assert_true(size > 0);
	assert_int_equal(ZSTD_decompress(&plain, 1, bytes, size), 0);
	free(bytes);
}

/* One that was given up leaves the old file as it was. */
TEST(test_abort)
{
	struct output *output;
	size_t size;
	char *bytes;

	for (size_t i = 0; i < 2; i++) {
		write_lines(i ? ".gz" : ".zst");
		assert_ok(output_open(&output, path));
		output_write(output, "short", 5);
		output_abort(output);
		bytes = read_file(&size);
		assert_true(size > 1000);
		free(bytes);
	}
}

/* A full disk is told at the end. */
TEST(test_full)
{
	const char *names[] = {"", ".gz", ".zst"};

	for (size_t i = 0; i < 3; i++) {
		struct output *output;
		int err;

		snprintf(path, sizeof(path), "/tmp/trailcam-full-%d%s", (int)getpid(), names[i]);
		assert_int_equal(symlink("/dev/full", path), 0);
		assert_ok(output_open(&output, path));
		for (size_t j = 0; j < LINES; j++)
			output_printf(output, "%zu\n", j * j);
		err = output_close(output);
		assert_int_equal(err, -ENOSPC);
		assert_non_null(strstr(fail_message(err), path));
		unlink(path);
	}
}

TEST_MAIN(NULL, NULL)
