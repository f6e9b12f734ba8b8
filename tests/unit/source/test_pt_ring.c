/* SPDX-License-Identifier: BSD-2-Clause */
/* Rings in ordinary memory, written as the kernel does it. */
#include "assertions.h"

#include <stdlib.h>

#include "source/pt_ring.h"

enum { SIZE = 4096, DATA = 4096 };

struct fake {
	struct pt_event_map map;
	struct {
		struct perf_event_mmap_page page;
		uint8_t data[DATA] __attribute__((aligned(8)));
	} memory;
	uint8_t aux[SIZE];
	uint64_t written; /* bytes of the stream */
};

static struct fake *fake_new(void)
{
	struct fake *fake = calloc(1, sizeof(*fake));

	assert_non_null(fake);
	fake->map = (struct pt_event_map){
		.page = &fake->memory.page, .data_size = DATA, .aux = fake->aux, .aux_size = SIZE};
	fake->memory.page.data_offset = offsetof(typeof(fake->memory), data);
	return fake;
}

/* Byte number n of the stream: never 0. */
static uint8_t nth(uint64_t n)
{
	return (uint8_t)(1 + (n * 7 + n / 256) % 255);
}

/* In overwrite mode the kernel tells only where in the area the head is. */
static void write_until(struct fake *fake, uint64_t until)
{
	for (; fake->written < until; fake->written++)
		fake->aux[fake->written % SIZE] = nth(fake->written);
	fake->memory.page.aux_head = fake->written % SIZE;
}

static void assert_taken(struct fake *fake, struct pt_taken *taken, uint64_t from, bool round)
{
	uint8_t *bytes;
	size_t size;
	bool is_round;

	assert_ok(pt_ring_take(&fake->map, taken, &bytes, &size, &is_round));
	assert_int_equal(is_round, round);
	assert_int_equal(size, fake->written - from);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(bytes[i], nth(from + i));
	free(bytes);
}

TEST(test_first_take)
{
	static const uint64_t lengths[] = {0, 1, 300, SIZE - 1, SIZE, SIZE + 1, 5 * SIZE + 77};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct fake *fake = fake_new();
		struct pt_taken taken = {0};
		bool round = lengths[i] >= SIZE;

		write_until(fake, lengths[i]);
		assert_taken(fake, &taken, round ? lengths[i] - SIZE : 0, round);
		free(fake);
	}
}

/* Whatever was written between two takes, the second gives that, or the whole ring if it was more. */
TEST(test_second_take)
{
	for (uint64_t first = 1000; first < 2 * SIZE; first += 613) {
		for (uint64_t more = 0; more < 3 * SIZE; more += 409) {
			struct fake *fake = fake_new();
			struct pt_taken taken = {0};
			bool round = more >= SIZE;

			write_until(fake, first);
			assert_taken(fake, &taken, first < SIZE ? 0 : first - SIZE, first >= SIZE);
			write_until(fake, first + more);
			/*
			 * In the last window before it is all round it cannot be told: then old bytes stand
			 * in front.
			 */
			if (more <= SIZE - PT_WINDOW_BYTES || round)
				assert_taken(fake, &taken, round ? first + more - SIZE : first, round);
			free(fake);
		}
	}
}

/* ---- records ---- */

static void put_record(struct fake *fake, uint32_t type, uint16_t size, uint8_t fill)
{
	struct perf_event_header header = {.type = type, .size = size};
	uint8_t record[512];

	memset(record, fill, sizeof(record));
	memcpy(record, &header, sizeof(header));
	for (size_t i = 0; i < size; i++)
		fake->memory.data[(fake->memory.page.data_head + i) % DATA] = record[i];
	fake->memory.page.data_head += size;
}

struct seen {
	uint32_t cnt;
	int stop_at;
};

static int see(void *ctx, const struct perf_event_header *record)
{
	struct seen *seen = ctx;

	assert_int_equal(record->type, 100 + seen->cnt % 50);
	for (size_t i = sizeof(*record); i < record->size; i++)
		assert_int_equal(((const uint8_t *)record)[i], (uint8_t)seen->cnt);
	return (int)++seen->cnt == seen->stop_at ? -ECANCELED : 0;
}

/* Records that wrap come whole, and room is given back. */
TEST(test_records)
{
	struct fake *fake = fake_new();
	struct seen seen = {0};
	uint32_t put = 0;

	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 7; i++, put++)
			put_record(fake, 100 + put % 50, (uint16_t)(16 + 8 * (put % 37)), (uint8_t)put);
		assert_ok(pt_ring_records(&fake->map, see, &seen));
		assert_int_equal(seen.cnt, put);
		assert_int_equal(fake->memory.page.data_tail, fake->memory.page.data_head);
	}
	put_record(fake, 100 + put % 50, 24, (uint8_t)put);
	put_record(fake, 100 + (put + 1) % 50, 24, (uint8_t)(put + 1));
	seen.stop_at = (int)seen.cnt + 1;
	assert_int_equal(pt_ring_records(&fake->map, see, &seen), -ECANCELED);
	assert_int_equal(fake->memory.page.data_tail, fake->memory.page.data_head - 24);
	free(fake);
}

TEST(test_damaged_record)
{
	static const uint16_t sizes[] = {0, 7, 100};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct fake *fake = fake_new();
		struct seen seen = {0};

		put_record(fake, 100, 16, 0);
		((struct perf_event_header *)fake->memory.data)->size = sizes[i];
		assert_int_equal(pt_ring_records(&fake->map, see, &seen), -EBADMSG);
		assert_int_equal(fake->memory.page.data_tail, 16);
		free(fake);
	}
}

TEST(test_stream)
{
	struct fake *fake = fake_new();
	FILE *file = tmpfile();
	uint64_t total = 0;

	for (int i = 0; i < 50; i++) {
		write_until(fake, fake->written + 700 + (uint64_t)i * 61);
		fake->memory.page.aux_head = fake->written; /* which in this mode counts on */
		assert_int_equal(pt_ring_stream(&fake->map, file), fake->written - total);
		total = fake->written;
		assert_int_equal(fake->memory.page.aux_tail, total);
	}
	rewind(file);
	for (uint64_t i = 0; i < total; i++)
		assert_int_equal(fgetc(file), nth(i));
	fclose(file);
	file = fopen("/dev/full", "we");
	setvbuf(file, NULL, _IONBF, 0);
	write_until(fake, fake->written + 100);
	fake->memory.page.aux_head = fake->written;
	assert_int_equal(pt_ring_stream(&fake->map, file), -ENOSPC);
	assert_int_equal(fake->memory.page.aux_tail, total);
	fclose(file);
	free(fake);
}

TEST_MAIN(NULL, NULL)
