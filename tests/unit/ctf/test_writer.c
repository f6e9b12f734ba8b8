/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is written is read back, event by event, whatever the events are; and each limit of the format is
 * reached. That the choices are those of memtrace's own writer is seen by copying traces that it wrote (some
 * of those in tests/fuzz/corpus/memtrace): each byte is the same.
 */
#include "traces.h"

#include <errno.h>
#include <math.h>

enum { EVENTS = 4000 };

/* ---- random events, kept as they were put ---- */

struct kept {
	struct memtrace_event event;
	size_t frames_at;
};

struct random {
	uint64_t state;
	/* how often, and how much */
	unsigned int code_cnt, depth_change, domain_cnt;
	uint64_t code_mask; /* what codes have beside their number */
	uint64_t step_us;
	bool odd_numbers;
	/* what was made */
	struct kept *events;
	size_t cnt, cap;
	uint64_t *frames;
	size_t frame_cnt, frame_cap;
	uint64_t stack[4096];
	size_t depth;
	uint64_t time_us;
};

static uint64_t number(struct random *random, uint64_t below)
{
	random->state ^= random->state << 13;
	random->state ^= random->state >> 7;
	random->state ^= random->state << 17;
	return (random->state >> 11) % below;
}

static uint64_t odd_number(struct random *random)
{
	static const uint64_t odd[] = {0,
				       1,
				       16,
				       17,
				       252,
				       253,
				       65535,
				       65536,
				       0x7fffffff,
				       0x80000000,
				       0xffffffff,
				       0x100000000,
				       INT64_MAX,
				       UINT64_MAX,
				       -(uint64_t)5,
				       INT64_MIN,
				       -(uint64_t)0x80000000,
				       -(uint64_t)0x80000001};

	return odd[number(random, ARRAY_SIZE(odd))];
}

static void change_stack(struct random *random)
{
	size_t keep = number(random, random->depth + 1), add = number(random, random->depth_change);

	if (random->depth - keep > random->depth_change)
		keep = random->depth - random->depth_change;
	random->depth = keep;
	while (add-- && random->depth < ARRAY_SIZE(random->stack)) {
		uint64_t code = 1 + number(random, random->code_cnt);

		if (number(random, 4) == 0)
			code |= random->code_mask;
		random->stack[random->depth++] = code;
	}
}

static void make_alloc(struct random *random, struct memtrace_event *event)
{
	change_stack(random);
	event->kind = MEMTRACE_ALLOC;
	event->length = random->odd_numbers ? odd_number(random) : 1 + number(random, 20);
	event->nsamples = number(random, 5) ? 1 : random->odd_numbers ? odd_number(random) : 2;
	event->source = number(random, 10) ? MEMTRACE_MINOR
					   : (enum memtrace_source)number(random, MEMTRACE_SOURCE_CNT);
	event->frame_cnt = random->depth;
}

static uint64_t some_id(struct random *random)
{
	const struct kept *kept;

	do
		kept = &random->events[number(random, random->cnt)];
	while (kept->event.kind != MEMTRACE_ALLOC);
	return kept->event.id;
}

static void keep(struct random *random, const struct memtrace_event *event)
{
	struct kept kept = {.event = *event, .frames_at = random->frame_cnt};

	for (size_t i = 0; i < event->frame_cnt && event->kind == MEMTRACE_ALLOC; i++)
		assert_int_equal(
			ARRAY_PUSH(random->frames, random->frame_cnt, random->frame_cap, random->stack[i]),
			0);
	assert_int_equal(ARRAY_PUSH(random->events, random->cnt, random->cap, kept), 0);
}

static void put_random(struct random *random, struct memtrace_writer *writer)
{
	struct memtrace_event event = {.frames = random->stack};
	bool ends = random->cnt && number(random, 3) == 0;

	random->time_us += number(random, random->step_us);
	event.time_us = random->time_us;
	event.domain = (uint16_t)(number(random, random->domain_cnt) * 0x5555);
	if (random->cnt && number(random, 4))
		event.domain = random->events[random->cnt - 1].event.domain;
	if (ends) {
		/* Only a collected object may be of a domain that is ahead. */
		event.kind =
			random->domain_cnt > 1 || number(random, 2) ? MEMTRACE_COLLECT : MEMTRACE_PROMOTE;
		event.id = some_id(random);
	} else {
		make_alloc(random, &event);
	}
	assert_ok(memtrace_writer_put(writer, &event, ends ? NULL : &event.id));
	keep(random, &event);
}

static void assert_event(const struct random *random, const struct kept *kept,
			 const struct memtrace_event *read)
{
	const struct memtrace_event *event = &kept->event;

	assert_int_equal(read->kind, event->kind);
	assert_int_equal(read->time_us, event->time_us);
	assert_int_equal(read->domain, event->domain);
	assert_int_equal(read->id, event->id);
	if (read->kind != MEMTRACE_ALLOC)
		return;
	assert_int_equal(read->length, event->length);
	assert_int_equal(read->nsamples, event->nsamples);
	assert_int_equal(read->source, event->source);
	assert_int_equal(read->frame_cnt, event->frame_cnt);
	if (read->frame_cnt)
		assert_memory_equal(read->frames, random->frames + kept->frames_at, 8 * read->frame_cnt);
	assert_true(read->common_prefix <= read->frame_cnt);
}

static void assert_locations(struct memtrace_reader *reader, const struct memtrace_event *event)
{
	const struct memtrace_location *found, *expected;

	for (size_t i = event->common_prefix; i < event->frame_cnt; i++) {
		assert_int_equal(memtrace_reader_locations(reader, event->frames[i], &found), 1);
		locate_plainly(NULL, event->frames[i], &expected);
		assert_string_equal(found->file, expected->file);
		assert_string_equal(found->function, expected->function);
		assert_int_equal(found->line, expected->line);
		assert_int_equal(found->start_char, expected->start_char);
		assert_int_equal(found->end_char, expected->end_char);
	}
}

/* Writes as many events as that, and reads them. */
static struct bytes round_trip(struct random *random, size_t cnt)
{
	struct memtrace_info info = plain_info();
	struct writing writing = writing_begin(&info, locate_plainly, NULL);
	struct memtrace_reader *reader;
	struct memtrace_event event;
	struct bytes bytes;

	for (size_t i = 0; i < cnt; i++)
		put_random(random, writing.writer);
	bytes = writing_end(&writing);
	for (size_t i = 0; i < packet_cnt(&bytes); i++)
		assert_true(packet_size(&bytes, packet_at(&bytes, i)) <= PACKET_MAX);
	reader = reader_of(&bytes);
	for (size_t i = 0; i < cnt; i++) {
		assert_int_equal(memtrace_reader_next(reader, &event), 1);
		assert_event(random, &random->events[i], &event);
		if (event.kind == MEMTRACE_ALLOC)
			assert_locations(reader, &event);
	}
	assert_int_equal(memtrace_reader_next(reader, &event), 0);
	assert_int_equal(memtrace_reader_counts(reader).bytes, bytes.cnt);
	memtrace_reader_close(reader);
	free(random->events);
	free(random->frames);
	return bytes;
}

TEST(test_plain)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct random random = {
			.state = seed, .code_cnt = 300, .depth_change = 12, .domain_cnt = 1, .step_us = 30};
		struct bytes bytes = round_trip(&random, EVENTS);

		assert_copied(&bytes);
		free(bytes.items);
	}
}

/* More codes than the cache has entries: they push each other out, and are told again. */
TEST(test_evictions)
{
	struct random random = {.state = 7,
				.code_cnt = 60000,
				.depth_change = 40,
				.domain_cnt = 1,
				.step_us = 30,
				.code_mask = 0xffff800000000000};
	struct bytes bytes = round_trip(&random, EVENTS);

	free(bytes.items);
}

TEST(test_code_bits)
{
	static const uint64_t masks[] = {1ull << 62,	     1ull << 63, 3ull << 62,
					 0xffffffff81000000, 1ull << 34, 1ull << 35};

	for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
		struct random random = {.state = 11 + i,
					.code_cnt = 50,
					.depth_change = 8,
					.domain_cnt = 1,
					.step_us = 30,
					.code_mask = masks[i]};
		struct bytes bytes = round_trip(&random, EVENTS / 4);

		free(bytes.items);
	}
}

TEST(test_numbers)
{
	struct random random = {.state = 3,
				.code_cnt = 20,
				.depth_change = 5,
				.domain_cnt = 1,
				.step_us = 30,
				.odd_numbers = true};
	struct bytes bytes = round_trip(&random, EVENTS);

	assert_copied(&bytes);
	free(bytes.items);
}

TEST(test_domains)
{
	struct random random = {
		.state = 5, .code_cnt = 300, .depth_change = 12, .domain_cnt = 4, .step_us = 30};
	struct bytes bytes = round_trip(&random, EVENTS);

	assert_copied(&bytes);
	free(bytes.items);
}

/* Ids come in chunks of 10000, and with each chunk begins a packet. */
TEST(test_id_chunks)
{
	struct random random = {.state = 9, .code_cnt = 5, .depth_change = 2, .domain_cnt = 1, .step_us = 3};
	struct bytes bytes = round_trip(&random, 40000);
	size_t begins = 0;

	for (size_t i = 1; i < packet_cnt(&bytes); i++)
		begins += bytes_get(&bytes, packet_at(&bytes, i) + 52, 8) % 10000 == 0;
	assert_true(begins >= 3);
	assert_copied(&bytes);
	free(bytes.items);
}

/* Packets end after 30 s, and the time's low 25 bits overflow within them. */
TEST(test_times)
{
	struct random random = {
		.state = 13, .code_cnt = 50, .depth_change = 4, .domain_cnt = 2, .step_us = 12000000};
	struct bytes bytes = round_trip(&random, EVENTS);

	for (size_t i = 0; i < packet_cnt(&bytes); i++) {
		size_t at = packet_at(&bytes, i);

		assert_true(bytes_get(&bytes, at + 16, 8) - bytes_get(&bytes, at + 8, 8) <= 30000000);
	}
	assert_copied(&bytes);
	free(bytes.items);
}

/* ---- packets ---- */

static struct memtrace_event alloc_of(const uint64_t *frames, size_t cnt)
{
	return (struct memtrace_event){
		.kind = MEMTRACE_ALLOC, .length = 1, .nsamples = 1, .frames = frames, .frame_cnt = cnt};
}

#define HEAD(code, time)                                                  \
	(uint8_t)(time), (uint8_t)((time) >> 8), (uint8_t)((time) >> 16), \
		(uint8_t)((code) << 1 | (time) >> 24)
#define CODE(code) (code), 0, 0, 0, 0, 0, 0, 0

static int locate_same(void *ctx, uint64_t code, const struct memtrace_location **ret_locations)
{
	static const struct memtrace_location location = {"f", "g", 12, 3, 4};

	(void)ctx;
	(void)code;
	*ret_locations = &location;
	return 1;
}

/*
 * The format to the byte, computed by hand: two codes at one place, an allocation, its promotion and its end.
 */
TEST(test_bytes)
{
	enum { START = 123456 };
	static const uint8_t names[] = "/bin/program\0host\0a=1\0\x92\x10\0\0\0\0\0\0context";
	static const uint8_t locations[] = {
		HEAD(1, START), CODE(7), 1, 12, 0, 0x30, 0x40, 0xc0, 0xff, 'f', 0, 'g', 0,
		HEAD(1, START), CODE(9), 1, 12, 0, 0x30, 0x40, 0,    0,
	};
	static const uint8_t events[] = {
		HEAD(101, START + 5), 0, 2, 0xe3, 0x0d, CODE(7), 0xdb, 0x11, CODE(9), HEAD(3, START + 6), 0,
		HEAD(4, START + 7),   0,
	};
	static const uint64_t codes[] = {7, 9};
	struct memtrace_info info = plain_info();
	struct memtrace_event event = alloc_of(codes, 2);
	struct writing writing;
	struct bytes bytes;
	size_t at;

	info.start_us = START;
	writing = writing_begin(&info, locate_same, NULL);
	event.time_us = 5;
	assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	event = (struct memtrace_event){.kind = MEMTRACE_PROMOTE, .time_us = 6};
	assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	event = (struct memtrace_event){.kind = MEMTRACE_COLLECT, .time_us = 7};
	assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	bytes = writing_end(&writing);
	assert_memory_equal(bytes.items, "\xc1\x1f\xfc\xc1", 4);
	assert_int_equal(packet_size(&bytes, 0), PACKET_HEADER + 4 + 8 + 1 + sizeof(names));
	assert_int_equal(bytes_get(&bytes, 8, 8), START);
	assert_int_equal(bytes_get(&bytes, 28, 2), MEMTRACE_VERSION);
	assert_int_equal(bytes_get(&bytes, 30, 8), 4242);
	assert_int_equal(bytes_get(&bytes, 40, 2), 0xffff);
	assert_memory_equal(bytes.items + PACKET_HEADER + 13, names, sizeof(names));
	at = packet_at(&bytes, 1);
	assert_int_equal(packet_size(&bytes, at), PACKET_HEADER + sizeof(locations));
	assert_memory_equal(bytes.items + at + PACKET_HEADER, locations, sizeof(locations));
	at = packet_at(&bytes, 2);
	assert_int_equal(packet_size(&bytes, at), PACKET_HEADER + sizeof(events));
	assert_memory_equal(bytes.items + at + PACKET_HEADER, events, sizeof(events));
	assert_int_equal(bytes_get(&bytes, at + 16, 8), START + 7);
	assert_int_equal(bytes_get(&bytes, at + 60, 8), 1);
	assert_int_equal(bytes.cnt, at + PACKET_HEADER + sizeof(events));
	free(bytes.items);
}

/* A trace of nothing has an empty packet behind the first, as memtrace's. */
TEST(test_empty)
{
	struct memtrace_info info = plain_info();
	struct writing writing = writing_begin(&info, locate_plainly, NULL);
	struct bytes bytes = writing_end(&writing);

	assert_int_equal(packet_cnt(&bytes), 2);
	assert_int_equal(packet_size(&bytes, packet_at(&bytes, 1)), PACKET_HEADER);
	assert_copied(&bytes);
	free(bytes.items);
}

TEST(test_time_that_runs_back)
{
	static const uint64_t code = 1;
	struct memtrace_info info = plain_info();
	struct writing writing = writing_begin(&info, locate_plainly, NULL);
	struct memtrace_event event = alloc_of(&code, 1);
	struct memtrace_reader *reader;
	struct bytes bytes;

	event.time_us = 100;
	assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	event.time_us = 40;
	assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	bytes = writing_end(&writing);
	reader = reader_of(&bytes);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(memtrace_reader_next(reader, &event), 1);
		assert_int_equal(event.time_us, 100);
	}
	memtrace_reader_close(reader);
	free(bytes.items);
}

/* ---- call stacks ---- */

enum { DEEP = 1500 };

/*
 * Stacks as deep as that, each put into a trace of its own behind one of `known` frames from 1 on; returns
 * the events that are read.
 */
static size_t frames_read(size_t known, uint64_t first, size_t cnt, struct memtrace_event *ret_next)
{
	static uint64_t frames[DEEP];
	struct memtrace_info info = plain_info();
	struct writing writing = writing_begin(&info, locate_plainly, NULL);
	struct memtrace_event event;
	struct memtrace_reader *reader;
	struct bytes bytes;
	size_t read;

	for (size_t i = 0; i < known; i++) {
		frames[i] = i + 1;
		event = alloc_of(frames, i + 1);
		assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	}
	event = alloc_of(NULL, 0);
	assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	for (size_t i = 0; i < cnt; i++)
		frames[i] = first + i;
	event = alloc_of(frames, cnt);
	assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	event = alloc_of(frames, cnt - 1);
	assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	bytes = writing_end(&writing);
	reader = reader_of(&bytes);
	for (size_t i = 0; i < known + 2; i++)
		assert_int_equal(memtrace_reader_next(reader, &event), 1);
	read = event.frame_cnt;
	assert_memory_equal(event.frames, frames, 8 * read);
	assert_int_equal(memtrace_reader_next(reader, ret_next), 1);
	assert_int_equal(memtrace_reader_next(reader, &event), 0);
	memtrace_reader_close(reader);
	free(bytes.items);
	return read;
}

/* Runs of predicted frames around what a byte can count. */
TEST(test_runs)
{
	static const size_t cnts[] = {2, 3, 255, 256, 257, 258, 511, 512, 513, 514, 1024, DEEP};
	struct memtrace_event next;

	for (size_t i = 0; i < ARRAY_SIZE(cnts); i++) {
		assert_int_equal(frames_read(DEEP, 1, cnts[i], &next), cnts[i]);
		assert_int_equal(next.frame_cnt, cnts[i] - 1);
		assert_int_equal(next.common_prefix, cnts[i] - 1);
	}
}

/*
 * A stack of new codes is cut off after 409. The next one, which differs beyond, says how much it has in
 * common, and is as much as is known.
 */
TEST(test_cut_off)
{
	struct memtrace_event next;

	assert_int_equal(frames_read(1, 100000, 409, &next), 409);
	assert_int_equal(frames_read(1, 100000, 410, &next), 409);
	assert_int_equal(next.frame_cnt, 409);
	assert_int_equal(frames_read(1, 100000, DEEP, &next), 409);
	assert_int_equal(next.common_prefix, DEEP - 1);
	assert_int_equal(next.frame_cnt, 409);
}

/*
 * A stack of new codes, of known ones that stand alone or in threes, and of a long run. How many frames of it
 * are read.
 */
static size_t frames_near_the_end(size_t alone, size_t threes)
{
	enum { NEW = 405, RUN_FRAMES = 600 };
	uint64_t frames[DEEP], *at = frames;
	struct memtrace_info info = plain_info();
	struct writing writing = writing_begin(&info, locate_plainly, NULL);
	struct memtrace_event event;
	struct memtrace_reader *reader;
	struct bytes bytes;
	size_t known = 4 + 40 + threes;

	for (size_t i = 0; i < RUN_FRAMES; i++)
		frames[i] = 1 + i;
	event = alloc_of(frames, 300);
	assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	event = alloc_of(frames, RUN_FRAMES);
	assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	/* Once more as a whole: each is seen to follow the one before. */
	event = alloc_of(NULL, 0);
	assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	event = alloc_of(frames, RUN_FRAMES);
	assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	for (uint64_t i = 0; i < 40; i++) {
		frames[0] = 1001 + i;
		event = alloc_of(frames, 1);
		assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	}
	for (uint64_t i = 0; i < threes; i++) {
		for (size_t j = 0; j < 3; j++)
			frames[j] = 2001 + 3 * i + j;
		event = alloc_of(frames, 3);
		assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	}
	for (uint64_t i = 0; i < NEW; i++)
		*at++ = 100000 + i;
	for (uint64_t i = 0; i < 3 * threes; i++)
		*at++ = 2001 + i;
	for (uint64_t i = 0; i < alone; i++)
		*at++ = 1001 + i;
	for (uint64_t i = 0; i < RUN_FRAMES; i++)
		*at++ = 1 + i;
	event = alloc_of(frames, (size_t)(at - frames));
	assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	bytes = writing_end(&writing);
	reader = reader_of(&bytes);
	for (size_t i = 0; i < known + 1; i++)
		assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_memory_equal(event.frames, frames, 8 * event.frame_cnt);
	known = event.frame_cnt - NEW - 3 * threes - alone;
	memtrace_reader_close(reader);
	free(bytes.items);
	return known;
}

/*
 * A new code takes 10 bytes, a known one 2, three 3, and so does a run of 256. A word is begun up to byte
 * 4086, a run only where it ends by then if it was a word alone; but a run that is too long for one word goes
 * on with another, wherever that is.
 */
TEST(test_where_stacks_end)
{
	assert_int_equal(frames_near_the_end(14, 1), 2 * 256 + 1); /* from byte 4081 on */
	assert_int_equal(frames_near_the_end(16, 0), 256 + 1);
	assert_int_equal(frames_near_the_end(15, 1), 256 + 1);
	assert_int_equal(frames_near_the_end(17, 0), 256 + 1);
	assert_int_equal(frames_near_the_end(16, 1), 1);
	assert_int_equal(frames_near_the_end(18, 0), 1);
	assert_int_equal(frames_near_the_end(17, 1), 0);
}

/*
 * The short form has a byte for the words: more new frames than that need the long one, however they are
 * coded.
 */
TEST(test_forms)
{
	struct {
		size_t new_cnt;
		uint64_t length, nsamples;
		enum memtrace_source source;
		unsigned int code;
	} cases[] = {
		{255, 16, 1, MEMTRACE_MINOR, 116}, {256, 16, 1, MEMTRACE_MINOR, 2},
		{1, 1, 1, MEMTRACE_MINOR, 101},	   {1, 17, 1, MEMTRACE_MINOR, 2},
		{1, 0, 1, MEMTRACE_MINOR, 2},	   {1, 1, 2, MEMTRACE_MINOR, 2},
		{1, 1, 1, MEMTRACE_EXTERNAL, 2},
	};
	uint64_t frames[256];

	for (size_t i = 0; i < 256; i++)
		frames[i] = i + 1;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct memtrace_info info = plain_info();
		struct writing writing = writing_begin(&info, locate_plainly, NULL);
		struct memtrace_event event = alloc_of(frames, cases[i].new_cnt);
		struct bytes bytes;

		event.length = cases[i].length;
		event.nsamples = cases[i].nsamples;
		event.source = cases[i].source;
		assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
		bytes = writing_end(&writing);
		assert_int_equal(
			bytes_get(&bytes, packet_at(&bytes, packet_cnt(&bytes) - 1) + PACKET_HEADER, 4) >> 25,
			cases[i].code);
		assert_copied(&bytes);
		free(bytes.items);
	}
}

/* ---- locations ---- */

struct placed {
	struct memtrace_location locations[300];
	int cnt;
};

static int locate_placed(void *ctx, uint64_t code, const struct memtrace_location **ret_locations)
{
	struct placed *placed = ctx;

	(void)code;
	*ret_locations = placed->locations;
	return placed->cnt;
}

/* What is read of the locations that one code stands for. */
static struct memtrace_location placed_read(struct placed *placed, int expected_cnt)
{
	static const uint64_t code = 5;
	static char file[8192], function[8192];
	struct memtrace_info info = plain_info();
	struct writing writing = writing_begin(&info, locate_placed, placed);
	struct memtrace_event event = alloc_of(&code, 1);
	const struct memtrace_location *found;
	struct memtrace_location first = {0};
	struct memtrace_reader *reader;
	struct bytes bytes;

	assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	bytes = writing_end(&writing);
	reader = reader_of(&bytes);
	assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_int_equal(memtrace_reader_locations(reader, 5, &found), expected_cnt);
	if (expected_cnt) {
		first = *found;
		snprintf(file, sizeof(file), "%s", found->file);
		snprintf(function, sizeof(function), "%s", found->function);
		first.file = file;
		first.function = function;
	}
	memtrace_reader_close(reader);
	assert_copied(&bytes);
	free(bytes.items);
	return first;
}

TEST(test_location_cnt)
{
	struct placed placed = {0};

	for (size_t i = 0; i < ARRAY_SIZE(placed.locations); i++)
		placed.locations[i] = (struct memtrace_location){"f", "g", 1, 2, 3};
	placed_read(&placed, 0);
	placed.cnt = 255;
	assert_string_equal(placed_read(&placed, 255).file, "f");
	placed.cnt = 256;
	assert_string_equal(placed_read(&placed, 1).file, "<unknown>");
}

/* Code, count, 48 bits, two names with their ends: 4096 bytes at most. */
TEST(test_location_size)
{
	static char name[4096];
	struct placed placed = {.cnt = 1};
	struct memtrace_location location;

	memset(name, 'n', 4096 - 17);
	placed.locations[0] = (struct memtrace_location){name, "", 1, 2, 3};
	assert_string_equal(placed_read(&placed, 1).file, name);
	name[4096 - 17] = 'n';
	location = placed_read(&placed, 1);
	assert_string_equal(location.file, "<unknown>");
	assert_string_equal(location.function, "??");
	assert_int_equal(location.line, 1);
}

TEST(test_clamps)
{
	struct placed placed = {.cnt = 1, .locations = {{"f", "g", 0xfffff, 0xff, 0x3ff}}};
	struct memtrace_location location = placed_read(&placed, 1);

	assert_int_equal(location.line, 0xfffff);
	placed.locations[0] = (struct memtrace_location){"f", "g", 0x100000, 0x100, 0x400};
	location = placed_read(&placed, 1);
	assert_int_equal(location.line, 0xfffff);
	assert_int_equal(location.start_char, 0xff);
	assert_int_equal(location.end_char, 0x3ff);
	placed.locations[0] = (struct memtrace_location){"f", "g", UINT32_MAX, UINT32_MAX, UINT32_MAX};
	assert_int_equal(placed_read(&placed, 1).line, 0xfffff);
}

/* Code n takes sizes[n - 1] bytes, the event's head included. */
static int locate_sized(void *ctx, uint64_t code, const struct memtrace_location **ret_locations)
{
	static char file[4096];
	static struct memtrace_location location = {file, "", 1, 1, 1};
	size_t len = ((const size_t *)ctx)[code - 1] - 4 - 17;

	memset(file, 'a' + (int)code, len);
	file[len] = 0;
	*ret_locations = &location;
	return 1;
}

/* The sizes of the first two packets of locations that eight codes make. */
static void location_packets(size_t *sizes, size_t *ret_first, size_t *ret_second)
{
	static const uint64_t codes[] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct memtrace_info info = plain_info();
	struct writing writing = writing_begin(&info, locate_sized, sizes);
	struct memtrace_event event = alloc_of(codes, ARRAY_SIZE(codes));
	struct bytes bytes;

	assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	bytes = writing_end(&writing);
	*ret_first = packet_size(&bytes, packet_at(&bytes, 1));
	*ret_second = packet_size(&bytes, packet_at(&bytes, 2));
	assert_copied(&bytes);
	free(bytes.items);
}

/*
 * A packet takes another location while more than 4096 bytes are left. One of 4100 may not fit then, where
 * memtrace's own writer overruns its buffer; here, another packet begins.
 */
TEST(test_location_packets)
{
	size_t sizes[] = {4086, 4086, 4086, 4086, 4086, 4086, 4088, 100}, first, second;

	location_packets(sizes, &first, &second);
	assert_int_equal(first, PACKET_MAX - 4096);
	assert_int_equal(second, PACKET_HEADER + 100);
	sizes[6] = 4087;
	sizes[7] = 4097;
	location_packets(sizes, &first, &second);
	assert_int_equal(first, PACKET_MAX);
	sizes[7] = 4098;
	location_packets(sizes, &first, &second);
	assert_int_equal(first, PACKET_MAX - 4097);
	assert_int_equal(second, PACKET_HEADER + 4098);
	sizes[7] = 4100;
	location_packets(sizes, &first, &second);
	assert_int_equal(second, PACKET_HEADER + 4100);
}

/* Events are added while 4196 bytes are left. */
TEST(test_full_packet)
{
	struct memtrace_info info = plain_info();
	struct writing writing = writing_begin(&info, locate_plainly, NULL);
	struct memtrace_event event = {.kind = MEMTRACE_COLLECT, .id = UINT64_MAX};
	size_t events = (PACKET_MAX - 4196 - PACKET_HEADER) / 5 + 1;
	struct bytes bytes;

	for (size_t i = 0; i < events + 1; i++)
		assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	bytes = writing_end(&writing);
	assert_int_equal(packet_size(&bytes, packet_at(&bytes, 1)), PACKET_HEADER + 5 * events);
	assert_int_equal(packet_size(&bytes, packet_at(&bytes, 2)), PACKET_HEADER + 5);
	assert_copied(&bytes);
	free(bytes.items);
}

/* ---- refusals ---- */

static int locate_nothing(void *ctx, uint64_t code, const struct memtrace_location **ret_locations)
{
	(void)ctx;
	(void)ret_locations;
	return fail(-ENOENT, "no place of %d", (int)code);
}

TEST(test_refused_events)
{
	static const uint64_t zero[] = {1, 0}, one = 1;
	struct memtrace_info info = plain_info();
	struct writing writing = writing_begin(&info, locate_plainly, NULL);
	struct memtrace_event event = alloc_of(zero, 2);

	assert_err(memtrace_writer_put(writing.writer, &event, NULL), -EINVAL, "code 0");
	event = alloc_of(&one, 1);
	assert_int_equal(memtrace_writer_put(writing.writer, &event, NULL), -EINVAL);
	assert_int_equal(memtrace_writer_flush(writing.writer), -EINVAL);
	memtrace_writer_free(writing.writer);
	output_abort(writing.output);

	writing = writing_begin(&info, locate_plainly, NULL);
	event = (struct memtrace_event){.kind = MEMTRACE_PROMOTE, .id = 3};
	assert_err(memtrace_writer_put(writing.writer, &event, NULL), -EINVAL,
		   "allocation 3 is promoted, and domain 0 is only at 0");
	memtrace_writer_free(writing.writer);
	output_abort(writing.output);

	event = alloc_of(&one, 1);
	writing = writing_begin(&info, locate_nothing, NULL);
	assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	assert_err(memtrace_writer_flush(writing.writer), -ENOENT, "no place of 1");
	memtrace_writer_free(writing.writer);
	output_abort(writing.output);
}

TEST(test_refused_infos)
{
	static const double rates[] = {0, -1, 1.5, NAN, INFINITY};
	static char text[PACKET_MAX];
	struct memtrace_info info = plain_info();
	struct memtrace_writer_config config = {.info = &info, .locate = locate_plainly};
	struct memtrace_writer *writer;

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		info.sample_rate = rates[i];
		assert_err(memtrace_writer_new(&writer, &config), -EINVAL, "above 0, and at most 1");
	}
	info = plain_info();
	info.word_bits = 16;
	assert_err(memtrace_writer_new(&writer, &config), -EINVAL, "32 and 64");
	info = plain_info();
	memset(text, 'x', sizeof(text) - 1);
	info.runtime_params = text;
	assert_err(memtrace_writer_new(&writer, &config), -EINVAL, "a trace has room for 32600");
}

/* ---- memtrace's own ---- */

TEST(test_same_choices)
{
	static const char *const names[] = {"codes", "domains", "locations", "times", "numbers"};
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct bytes bytes;

		snprintf(path, sizeof(path), "tests/fuzz/corpus/memtrace/%s", names[i]);
		bytes = bytes_load(path);
		assert_true(bytes.cnt);
		assert_copied(&bytes);
		free(bytes.items);
	}
}

/* Stacks that were cut off cannot be written as before: what memtrace makes of them stands beside. */
TEST(test_same_choices_of_cut_off_stacks)
{
	struct bytes deep = bytes_load("tests/fuzz/corpus/memtrace/deep"), copy = bytes_copied(&deep);
	struct bytes expected = bytes_load("tests/fuzz/corpus/memtrace/deep-copied");

	assert_true(expected.cnt);
	assert_int_equal(copy.cnt, expected.cnt);
	assert_memory_equal(copy.items, expected.items, expected.cnt);
	free(deep.items);
	free(copy.items);
	free(expected.items);
}

TEST(test_a_real_trace)
{
	struct bytes bytes = bytes_load("../shared/corpus/memtrace/ocamlopt.ctf");

	if (!bytes.cnt) {
		print_message("../shared/corpus/memtrace is not there\n");
		skip();
	}
	assert_copied(&bytes);
	free(bytes.items);
}

TEST_MAIN(NULL, NULL)
