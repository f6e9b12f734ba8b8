/* SPDX-License-Identifier: BSD-2-Clause */
/* What is written is read back by the libraries of the formats; a file appears whole or not at all. */
#include "assertions.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

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

static void test_plain(void **state)
{
	char *text = expected(), *bytes;
	size_t size;

	(void)state;
	write_lines("");
	bytes = read_file(&size);
	assert_int_equal(size, LINES * LINE_BYTES);
	assert_memory_equal(bytes, text, size);
	free(bytes);
	free(text);
}

static void test_gzip(void **state)
{
	char *text = expected(), *bytes = malloc(LINES * LINE_BYTES + 1);
	struct stat st;
	gzFile file;

	(void)state;
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

static void test_zstd(void **state)
{
	char *text = expected(), *plain = malloc(LINES * LINE_BYTES + 1), *bytes;
	size_t size;

	(void)state;
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
static void test_random_zstd(void **state)
{
	enum { NUMBERS = 1 << 20 };
	uint32_t *numbers = malloc(NUMBERS * sizeof(*numbers)), *plain = malloc(NUMBERS * sizeof(*numbers));
	char *bytes = malloc(2 * NUMBERS * sizeof(*numbers));
	struct output *output;
	uint32_t number = 1;
	size_t size;
	FILE *file;

	(void)state;
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
static void test_empty_zstd(void **state)
{
	struct output *output;
	char plain, *bytes;
	size_t size;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/trailcam-empty-%d.zst", (int)getpid());
	assert_ok(output_open(&output, path));
	assert_ok(output_close(output));
	bytes = read_file(&size);
	assert_true(size > 0);
	assert_int_equal(ZSTD_decompress(&plain, 1, bytes, size), 0);
	free(bytes);
}

/* One that was given up leaves the old file as it was. */
static void test_abort(void **state)
{
	struct output *output;
	size_t size;
	char *bytes;

	(void)state;
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
static void test_full(void **state)
{
	const char *names[] = {"", ".gz", ".zst"};

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),	   cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_zstd),	   cmocka_unit_test(test_random_zstd),
		cmocka_unit_test(test_empty_zstd), cmocka_unit_test(test_abort),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
