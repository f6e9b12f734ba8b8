/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What readers are given that no writer of today makes: older versions, damage, packets made by hand. What is
 * sound before the damage is read.
 */
#include "traces.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>

#include "ctf/ctf_stack.h"

enum { START = 123456, DOMAIN_AT = 38, IDS_AT = 52 };

#define HEAD(code, time)                                                                                \
	(uint8_t)(START + (time)), (uint8_t)((START + (time)) >> 8), (uint8_t)((START + (time)) >> 16), \
		(uint8_t)((code) << 1)
#define CODE(code)	 (code), 0, 0, 0, 0, 0, 0, 0
/* A word of a call stack. */
#define WORD(entry, tag) (uint8_t)((entry) << 2 | (tag)), (uint8_t)((entry) >> 6)

/* ---- traces made by hand ---- */

/* Only the packet that tells how the trace was made. */
static struct bytes begun(void)
{
	struct memtrace_info info = plain_info();
	struct writing writing;
	struct bytes bytes;

	info.start_us = START;
	writing = writing_begin(&info, locate_plainly, NULL);
	bytes = writing_end(&writing);
	bytes.cnt = packet_at(&bytes, 1);
	return bytes;
}

/* A packet of 1 s from the trace's begin on. Where it is. */
static size_t add_packet(struct bytes *bytes, const uint8_t *events, size_t size, uint64_t alloc_cnt)
{
	size_t at = bytes->cnt;

	assert_int_equal(array_reserve(&bytes->items, &bytes->cap, at + PACKET_HEADER + size, 1), 0);
	memcpy(bytes->items + at, bytes->items, PACKET_HEADER);
	if (size)
		memcpy(bytes->items + at + PACKET_HEADER, events, size);
	bytes->cnt += PACKET_HEADER + size;
	bytes_set(bytes, at + 4, 4, 8 * (PACKET_HEADER + size));
	bytes_set(bytes, at + 16, 8, START + 1000000);
	bytes_set(bytes, at + IDS_AT + 8, 8, alloc_cnt);
	return at;
}

/* Two allocations, a promotion and a collection. */
static const uint8_t sound[] = {
	HEAD(101, 1), 0,       2,	   WORD(1, 3), CODE(7), WORD(2, 3), CODE(9), /* 24 bytes */
	HEAD(2, 2),   17,      2,	   1,	       1,	1,	    0,
	WORD(3, 3),   CODE(8), /* 20 bytes */
	HEAD(3, 3),   1,       HEAD(4, 4), 0,
};

enum { SOUND_ALLOCS = 2, SOUND_EVENTS = 4, LONG_AT = PACKET_HEADER + 26, PROMOTE_AT = LONG_AT + 20 };

static struct bytes sound_trace(void)
{
	struct bytes bytes = begun();

	add_packet(&bytes, sound, sizeof(sound), SOUND_ALLOCS);
	return bytes;
}

/* So many events can be read, and then the sentence says that; twice. Releases the trace. */
static void assert_damaged(struct bytes *bytes, size_t cnt, const char *text)
{
	struct memtrace_reader *reader = reader_of(bytes);
	struct memtrace_event event;

	for (size_t i = 0; i < cnt; i++)
		assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_err(memtrace_reader_next(reader, &event), -EBADMSG, text);
	assert_err(memtrace_reader_next(reader, &event), -EBADMSG, text);
	assert_err(memtrace_reader_next(reader, &event), -EBADMSG, "x.ctf: at byte ");
	memtrace_reader_close(reader);
	free(bytes->items);
}

/* A sound packet, and behind it one of these events. */
static void assert_bad_events(const uint8_t *events, size_t size, const char *text)
{
	struct bytes bytes = sound_trace();
	size_t at = add_packet(&bytes, events, size, SOUND_ALLOCS);

	bytes_set(&bytes, at + IDS_AT, 8, SOUND_ALLOCS);
	assert_damaged(&bytes, SOUND_EVENTS, text);
}

#define ASSERT_BAD(text, ...)                                      \
	do {                                                       \
		static const uint8_t _events[] = {__VA_ARGS__};    \
		assert_bad_events(_events, sizeof(_events), text); \
	} while (0)

/* A sound packet, and behind it the same with one number changed. */
static void assert_bad_header(size_t offset, size_t size, uint64_t value, const char *text)
{
	struct bytes bytes = sound_trace();
	size_t at = add_packet(&bytes, sound, sizeof(sound), SOUND_ALLOCS);

	bytes_set(&bytes, at + offset, size, value);
	assert_damaged(&bytes, SOUND_EVENTS, text);
}

/* ---- what is sound ---- */

TEST(test_sound)
{
	struct bytes bytes = sound_trace();
	struct memtrace_reader *reader = reader_of(&bytes);
	const struct memtrace_info *info = memtrace_reader_info(reader);
	const struct memtrace_location *locations;
	struct memtrace_event event;

	assert_int_equal(info->version, 3);
	assert_int_equal(info->start_us, START);
	assert_true(info->sample_rate == 1e-4);
	assert_int_equal(info->word_bits, 64);
	assert_int_equal(info->pid, 4242);
	assert_string_equal(info->executable, "/bin/program");
	assert_string_equal(info->host, "host");
	assert_string_equal(info->runtime_params, "a=1");
	assert_string_equal(info->context, "context");
	assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_int_equal(event.kind, MEMTRACE_ALLOC);
	assert_int_equal(event.frame_cnt, 2);
	assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_int_equal(event.time_us, 2);
	assert_int_equal(event.id, 1);
	assert_int_equal(event.length, 17);
	assert_int_equal(event.nsamples, 2);
	assert_int_equal(event.source, MEMTRACE_MAJOR);
	assert_int_equal(event.common_prefix, 1);
	assert_int_equal(event.frame_cnt, 2);
	assert_int_equal(event.frames[0], 7);
	assert_int_equal(event.frames[1], 8);
	assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_int_equal(event.kind, MEMTRACE_PROMOTE);
	assert_int_equal(event.id, 0);
	assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_int_equal(event.kind, MEMTRACE_COLLECT);
	assert_int_equal(event.id, 1);
	assert_int_equal(memtrace_reader_next(reader, &event), 0);
	assert_int_equal(memtrace_reader_next(reader, &event), 0);
	assert_err(memtrace_reader_locations(reader, 7, &locations), -ENOENT,
		   "x.ctf does not tell what code 0x7 stands for");
	memtrace_reader_close(reader);
	free(bytes.items);
}

TEST(test_without_frames)
{
	struct memtrace_reader_config config = {.skip_frames = true};
	struct bytes bytes = sound_trace();
	size_t at = add_packet(&bytes, NULL, 0, 0);
	struct memtrace_reader *reader;
	struct memtrace_event event;

	/* Nobody knows that this is wrong, where stacks are passed over. */
	bytes_set(&bytes, at + 40, 2, 5);
	assert_ok(memtrace_reader_open_bytes(&reader, "x.ctf", bytes.items, bytes.cnt, &config));
	for (size_t i = 0; i < SOUND_EVENTS; i++) {
		assert_int_equal(memtrace_reader_next(reader, &event), 1);
		if (event.kind == MEMTRACE_ALLOC)
			assert_int_equal(event.frame_cnt, 0);
	}
	assert_int_equal(memtrace_reader_next(reader, &event), 0);
	memtrace_reader_close(reader);
	free(bytes.items);
}

/* The last stack was cut off: what is in common with it is beyond. Caches go on, and so does the domain. */
TEST(test_common_with_what_was_cut_off)
{
	static const uint8_t events[] = {
		HEAD(101, 1), 0, 1, WORD(1, 3), CODE(7), HEAD(101, 2), 5, 1, WORD(2, 3), CODE(9),
		HEAD(101, 3), 1, 1, WORD(2, 0),
	};
	struct bytes bytes = begun();
	struct memtrace_reader *reader;
	struct memtrace_event event;

	add_packet(&bytes, events, sizeof(events), 3);
	reader = reader_of(&bytes);
	assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_int_equal(event.common_prefix, 5);
	assert_int_equal(event.frame_cnt, 1);
	assert_int_equal(event.frames[0], 7);
	assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_int_equal(event.frame_cnt, 2);
	assert_int_equal(event.frames[1], 9);
	memtrace_reader_close(reader);
	free(bytes.items);
}

/*
 * Collections may name what another domain has allocated since; a number need not be written in the shortest
 * way.
 */
TEST(test_odd_but_sound)
{
	static const uint8_t events[] = {
		HEAD(4, 1), 254,  0xfe, 0xff, 0xff, 0xff, HEAD(4, 2), 255, 0xff, 0xff,
		0xff,	    0xff, 0xff, 0xff, 0xff, 0xff, HEAD(2, 3), 253, 3,	 0,
		254,	    1,	  0,	0,    0,    2,	  0,	      0,   0,
	};
	struct bytes bytes = begun();
	struct memtrace_reader *reader;
	struct memtrace_event event;

	add_packet(&bytes, events, sizeof(events), 1);
	reader = reader_of(&bytes);
	assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_int_equal(event.id, 1);
	assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_int_equal(event.id, 0);
	assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_int_equal(event.length, 3);
	assert_int_equal(event.source, MEMTRACE_EXTERNAL);
	assert_int_equal(event.frame_cnt, 0);
	assert_int_equal(memtrace_reader_next(reader, &event), 0);
	memtrace_reader_close(reader);
	free(bytes.items);
}

/* memtrace reads packets of up to 32 KiB. */
TEST(test_large_packet)
{
	enum { EVENTS = 40000 };
	static uint8_t events[5 * EVENTS];
	static const uint8_t one[] = {HEAD(4, 1), 0};
	struct bytes bytes = sound_trace();
	struct memtrace_reader *reader;
	struct memtrace_event event;

	for (size_t i = 0; i < EVENTS; i++)
		memcpy(events + i * sizeof(one), one, sizeof(one));
	bytes.cnt = packet_at(&bytes, 1);
	add_packet(&bytes, events, sizeof(events), 0);
	reader = reader_of(&bytes);
	for (size_t i = 0; i < EVENTS; i++)
		assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_int_equal(memtrace_reader_next(reader, &event), 0);
	memtrace_reader_close(reader);
	free(bytes.items);
}

TEST(test_other_process)
{
	struct bytes bytes = sound_trace();
	size_t at = add_packet(&bytes, sound, sizeof(sound), SOUND_ALLOCS);
	struct memtrace_reader *reader;
	struct memtrace_event event;

	bytes_set(&bytes, at + 30, 8, 1);
	add_packet(&bytes, sound + sizeof(sound) - 5, 5, 0);
	reader = reader_of(&bytes);
	for (size_t i = 0; i < SOUND_EVENTS + 1; i++)
		assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_int_equal(memtrace_reader_next(reader, &event), 0);
	assert_int_equal(memtrace_reader_counts(reader).foreign_packets, 1);
	assert_int_equal(memtrace_reader_counts(reader).truncated, 0);
	memtrace_reader_close(reader);
	free(bytes.items);
}

/* ---- older versions ---- */

/* The same trace as a version before 3 has it: headers without a domain; version 1: no context. */
static struct bytes in_version(const struct bytes *bytes, unsigned int version)
{
	struct bytes older = {.items = malloc(bytes->cnt)};

	for (size_t at = 0, size; at < bytes->cnt; at += size) {
		size_t to = older.cnt, left = strlen("context");

		size = packet_size(bytes, at);
		memcpy(older.items + to, bytes->items + at, DOMAIN_AT);
		memcpy(older.items + to + DOMAIN_AT, bytes->items + at + DOMAIN_AT + 2, size - DOMAIN_AT - 2);
		older.cnt += size - 2;
		if (!at && version < 2)
			older.cnt -= left + 1;
		bytes_set(&older, to + 4, 4, 8 * (older.cnt - to));
		bytes_set(&older, to + 28, 2, version);
	}
	return older;
}

static void assert_same_event(const struct memtrace_event *a, const struct memtrace_event *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->time_us, b->time_us);
	assert_int_equal(a->id, b->id);
	if (a->kind != MEMTRACE_ALLOC)
		return;
	assert_int_equal(a->length, b->length);
	assert_int_equal(a->nsamples, b->nsamples);
	assert_int_equal(a->frame_cnt, b->frame_cnt);
	if (a->frame_cnt)
		assert_memory_equal(a->frames, b->frames, 8 * a->frame_cnt);
}

TEST(test_older_versions)
{
	struct memtrace_info info = plain_info();
	struct writing writing = writing_begin(&info, locate_plainly, NULL);
	uint64_t frames[20];
	struct bytes bytes;

	for (uint64_t i = 0; i < 3000; i++) {
		struct memtrace_event event = {.kind = MEMTRACE_ALLOC,
					       .time_us = i,
					       .length = i % 20,
					       .nsamples = 1,
					       .frames = frames};

		for (event.frame_cnt = 0; event.frame_cnt < ARRAY_SIZE(frames); event.frame_cnt++)
			frames[event.frame_cnt] =
				1 + (i / (20 - event.frame_cnt) * 7 + event.frame_cnt) % 900;
		assert_ok(memtrace_writer_put(writing.writer, &event, NULL));
	}
	bytes = writing_end(&writing);
	for (unsigned int version = 0; version <= 2; version++) {
		struct bytes older = in_version(&bytes, version);
		struct memtrace_reader *today = reader_of(&bytes), *reader = reader_of(&older);
		struct memtrace_event a, b;

		assert_int_equal(memtrace_reader_info(reader)->version, version);
		assert_int_equal(memtrace_reader_info(reader)->domain, 0);
		assert_string_equal(memtrace_reader_info(reader)->context, version < 2 ? "" : "context");
		for (size_t i = 0; i < 3000; i++) {
			assert_int_equal(memtrace_reader_next(today, &a), 1);
			assert_int_equal(memtrace_reader_next(reader, &b), 1);
			assert_same_event(&a, &b);
		}
		assert_int_equal(memtrace_reader_next(reader, &b), 0);
		memtrace_reader_close(today);
		memtrace_reader_close(reader);
		free(older.items);
	}
	free(bytes.items);
}

static size_t put_location(uint8_t *to, uint8_t code, unsigned int file, unsigned int function,
			   const char *names, size_t size)
{
	const uint8_t head[] = {HEAD(1, 0),
				CODE(code),
				1,
				1,
				0,
				0,
				0,
				(uint8_t)(file << 6),
				(uint8_t)(file >> 2 | function << 3)};

	memcpy(to, head, sizeof(head));
	memcpy(to + sizeof(head), names, size);
	return sizeof(head) + size;
}

/* The writer of version 1 kept the functions of the file that a new one pushed out. */
TEST(test_functions_of_a_file_that_was_pushed_out)
{
	uint8_t events[2048];
	struct bytes bytes = begun();
	const struct memtrace_location *found;
	struct memtrace_reader *reader;
	struct memtrace_event event;
	size_t size = put_location(events, 1, 31, 31, "first\0older", 12);

	size += put_location(events + size, 2, 0, 31, "newer", 6);
	for (uint8_t i = 0; i < 30; i++) {
		char names[] = {'f', (char)('a' + i), 0, 'g', 0};

		size += put_location(events + size, 3 + i, 31, 31, names, sizeof(names));
	}
	size += put_location(events + size, 99, 31, 1, "last", 5);
	add_packet(&bytes, events, size, 0);
	reader = reader_of(&bytes);
	assert_int_equal(memtrace_reader_next(reader, &event), 0);
	assert_int_equal(memtrace_reader_locations(reader, 99, &found), 1);
	assert_string_equal(found->file, "last");
	assert_string_equal(found->function, "older");
	assert_int_equal(memtrace_reader_locations(reader, 2, &found), 1);
	assert_string_equal(found->file, "first");
	assert_string_equal(found->function, "newer");
	memtrace_reader_close(reader);
	free(bytes.items);
}

/* ---- damage: headers ---- */

TEST(test_headers)
{
	assert_bad_header(0, 4, 0x12345678, "there is 12345678 where a packet begins with c1fc1fc1");
	assert_bad_header(28, 2, 4, "a packet is of format version 4; what can be read is 1 to 3");
	assert_bad_header(4, 4, 0x80000000, "a packet's size is -2147483648 bits");
	assert_bad_header(4, 4, 0, "a packet's size is 0 bits; its header alone has 544");
	assert_bad_header(4, 4, 8 * PACKET_HEADER - 1, "a packet's size is 543 bits");
	assert_bad_header(8, 8, START + 1000001, "a packet ends 1 us before it begins");
	assert_bad_header(IDS_AT, 8, 3, "a packet's allocation ids begin at 3 and end at 2");
	assert_bad_header(40, 2, 16384, "a packet checks entry 16384 of the cache of codes, which has 16384");
	assert_bad_header(40, 2, 2,
			  "call stacks have come apart: entry 2 of the cache of codes is 0x9 before entry 0 "
			  "here, and was 0 before entry 0 for the writer");
	assert_bad_header(40, 8, 1 | 3 << 16 | 7ull << 32,
			  "entry 1 of the cache of codes is 0x7 before entry 2 here");
}

/* What the writer checked against is right. */
TEST(test_check_of_the_cache)
{
	struct bytes bytes = sound_trace();
	size_t at = add_packet(&bytes, NULL, 0, 0);
	struct memtrace_reader *reader;
	struct memtrace_event event;

	bytes_set(&bytes, at + 40, 2, 1);
	bytes_set(&bytes, at + 42, 2, 2);
	bytes_set(&bytes, at + 44, 8, 7);
	reader = reader_of(&bytes);
	for (size_t i = 0; i < SOUND_EVENTS; i++)
		assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_int_equal(memtrace_reader_next(reader, &event), 0);
	memtrace_reader_close(reader);
	free(bytes.items);
}

TEST(test_id_count)
{
	struct bytes bytes = begun();

	add_packet(&bytes, sound, sizeof(sound), 5);
	assert_damaged(&bytes, SOUND_EVENTS, "the allocation after a packet is 2, and its header says 5");
}

TEST(test_too_many_domains)
{
	struct bytes bytes = begun();

	for (uint64_t i = 0; i <= 4096; i++)
		bytes_set(&bytes, add_packet(&bytes, NULL, 0, 0) + DOMAIN_AT, 2, i);
	assert_damaged(&bytes, 0, "there are more than 4096 domains");
}

/* ---- damage: events ---- */

TEST(test_event_heads)
{
	ASSERT_BAD("an event of code 5; there are 0 to 4, and 101 to 116", HEAD(5, 10), 0);
	ASSERT_BAD("an event of code 100;", HEAD(100, 10), 0);
	ASSERT_BAD("an event of code 117;", HEAD(117, 10), 0);
	ASSERT_BAD("how the trace was made is told again", HEAD(0, 10), 0);
	ASSERT_BAD("an event comes 1000001 us after its packet's begin, which lasts 1000000 us",
		   HEAD(4, 1000001), 0);
	ASSERT_BAD("an event comes 33554431 us after its packet's begin", HEAD(4, -1), 0);
	ASSERT_BAD("an event comes 2 us before the one ahead of it in domain 0", HEAD(4, 2), 0);
	ASSERT_BAD("an event goes on behind the end of its packet", 1, 2, 3);
}

TEST(test_allocations)
{
	ASSERT_BAD("an allocation's source is 3; there are 0 (minor), 1 (major), 2 (external)", HEAD(2, 10),
		   1, 1, 3, 0, 0, 0);
	ASSERT_BAD("a call stack has -1 frames in common with the last one", HEAD(101, 10), 254, 0xff, 0xff,
		   0xff, 0xff, 0);
	ASSERT_BAD("an event goes on behind the end of its packet", HEAD(101, 10));
	ASSERT_BAD("an event goes on behind the end of its packet", HEAD(101, 10), 0);
	ASSERT_BAD("an event goes on behind the end of its packet", HEAD(101, 10), 0, 2, WORD(1, 0));
	ASSERT_BAD("an event goes on behind the end of its packet", HEAD(101, 10), 0, 1, WORD(1, 2));
	ASSERT_BAD("an event goes on behind the end of its packet", HEAD(101, 10), 0, 1, WORD(1, 3), 1, 2, 3);
	ASSERT_BAD("an event goes on behind the end of its packet", HEAD(2, 10), 255, 1, 2);
	ASSERT_BAD("an event goes on behind the end of its packet", HEAD(2, 10), 1, 1, 0, 0, 0xff, 0xff,
		   WORD(1, 0));
}

TEST(test_ends)
{
	ASSERT_BAD("the allocation that is promoted comes 5 allocations later", HEAD(3, 10), 254, 0xfb, 0xff,
		   0xff, 0xff);
	ASSERT_BAD("an event goes on behind the end of its packet", HEAD(3, 10));
	ASSERT_BAD("an event goes on behind the end of its packet", HEAD(4, 10), 253, 1);
}

TEST(test_locations)
{
	uint8_t events[128];
	size_t size = put_location(events, 7, 31, 31, "f\0g", 4);
	size_t again = put_location(events + size, 7, 0, 0, "", 0);
	struct bytes bytes;

	ASSERT_BAD("a location names file 3 of the latest ones", HEAD(1, 10), CODE(7), 1, 1, 0, 0, 0, 0xc0,
		   0);
	ASSERT_BAD("a location names function 2 of the latest ones", HEAD(1, 10), CODE(7), 1, 1, 0, 0, 0,
		   0xc0, 0x17, 'f', 0);
	ASSERT_BAD("an event goes on behind the end of its packet", HEAD(1, 10), CODE(7));
	ASSERT_BAD("an event goes on behind the end of its packet", HEAD(1, 10), CODE(7), 1, 1, 0, 0, 0,
		   0xc0);
	ASSERT_BAD("an event goes on behind the end of its packet", HEAD(1, 10), CODE(7), 1, 1, 0, 0, 0, 0xc0,
		   0xff, 'f', 'f');
	/* Told again, the same; then another line. */
	bytes = begun();
	add_packet(&bytes, events, size + again, 0);
	events[size + 13] = 2;
	add_packet(&bytes, events + size, again, 0);
	assert_damaged(&bytes, 0, "code 0x7 stands for other places in the source than before");
}

/* Words can stand for more frames than there is room for. */
TEST(test_room)
{
	uint8_t words[3 * 100];
	struct ctf_stack stack = {0};
	struct cursor cursor;
	size_t room = 20000;
	int err = 0;

	for (size_t i = 0; i < sizeof(words); i += 3) {
		words[i] = CTF_RUN;
		words[i + 1] = 0;
		words[i + 2] = 255;
	}
	assert_ok(ctf_stack_init(&stack));
	for (size_t i = 0; i < 2 && !err; i++) {
		cursor = (struct cursor){.at = words, .end = words + sizeof(words)};
		err = ctf_stack_get(&stack, &cursor, stack.cnt, 100, &room);
	}
	assert_int_equal(err, -EBADMSG);
	assert_true(stack.cap <= 2 * 20000);
	ctf_stack_release(&stack);
}

/* ---- damage: the first packet ---- */

static void assert_not_opened(const void *bytes, size_t size, const char *text)
{
	struct memtrace_reader *reader;

	assert_err(memtrace_reader_open_bytes(&reader, "x.ctf", bytes, size, NULL), -EBADMSG, text);
}

static void assert_bad_first(size_t offset, size_t size, uint64_t value, const char *text)
{
	struct bytes bytes = sound_trace();

	bytes_set(&bytes, offset, size, value);
	assert_not_opened(bytes.items, bytes.cnt, text);
	free(bytes.items);
}

TEST(test_first_packet)
{
	double nan = NAN;
	uint64_t rate;

	assert_not_opened("", 0, "x.ctf is no allocation trace: it is empty");
	assert_not_opened("\xc1\x1f", 2, "it does not begin with the bytes c1 1f fc c1");
	assert_not_opened("hello world", 11, "it does not begin with the bytes c1 1f fc c1");
	assert_not_opened("\xc1\x1f\xfc\xc1", 4, "the trace ends within its first packet");
	assert_bad_first(4, 4, 1 << 20, "the trace ends within its first packet");
	assert_bad_first(28, 2, 9, "format version 9");
	assert_bad_first(PACKET_HEADER + 3, 1, 2 << 1,
			 "the first event is of code 2, and must tell how the trace was made, 0");
	assert_bad_first(PACKET_HEADER, 1, START + 1, "the first event's time is not its packet's begin");
	assert_bad_first(PACKET_HEADER + 4, 8, 0, "the sample rate is 0; it must be above 0, and at most 1");
	memcpy(&rate, &nan, sizeof(rate));
	assert_bad_first(PACKET_HEADER + 4, 8, rate, "it must be above 0, and at most 1");
	assert_bad_first(PACKET_HEADER + 12, 1, 8, "words are of 8 bits; there are 32 and 64");
	/* The context ends early, or not at all. */
	assert_bad_first(PACKET_HEADER + 13 + 22 + 8, 1, 0,
			 "7 bytes follow in the packet that tells how the trace was made");
	assert_bad_first(PACKET_HEADER + 13 + 22 + 8 + 7, 1, 'x',
			 "an event goes on behind the end of its packet");
}

/* ---- ends ---- */

/* Wherever a trace is cut off, what it has of whole packets is read. */
TEST(test_every_cut)
{
	struct bytes bytes = sound_trace();
	size_t first = packet_at(&bytes, 1), second;

	second = bytes.cnt;
	add_packet(&bytes, NULL, 0, 0);
	for (size_t cut = 0; cut <= bytes.cnt; cut++) {
		struct memtrace_reader *reader;
		struct memtrace_event event;
		size_t cnt = 0;

		if (cut < first) {
			assert_int_equal(memtrace_reader_open_bytes(&reader, "x.ctf", bytes.items, cut, NULL),
					 -EBADMSG);
			continue;
		}
		assert_ok(memtrace_reader_open_bytes(&reader, "x.ctf", bytes.items, cut, NULL));
		while (memtrace_reader_next(reader, &event) == 1)
			cnt++;
		assert_int_equal(memtrace_reader_next(reader, &event), 0);
		assert_int_equal(cnt, cut < second ? 0 : SOUND_EVENTS);
		assert_int_equal(memtrace_reader_counts(reader).truncated,
				 cut != first && cut != second && cut != bytes.cnt);
		assert_int_equal(memtrace_reader_counts(reader).size, cut);
		memtrace_reader_close(reader);
	}
	/* What follows is not even the beginning of a packet. */
	memset(bytes.items + second, 0, 5);
	bytes.cnt = second + 5;
	assert_damaged(&bytes, SOUND_EVENTS, "there is 00000000 where a packet begins with c1fc1fc1");
}

/* ---- files ---- */

static void assert_opened(const char *path)
{
	struct memtrace_reader *reader;
	struct memtrace_event event;

	assert_ok(memtrace_reader_open(&reader, path, NULL));
	for (size_t i = 0; i < SOUND_EVENTS; i++)
		assert_int_equal(memtrace_reader_next(reader, &event), 1);
	assert_int_equal(memtrace_reader_next(reader, &event), 0);
	memtrace_reader_close(reader);
}

TEST(test_files)
{
	struct bytes bytes = sound_trace();
	struct memtrace_reader *reader;
	char path[64];
	int fd, saved = dup(STDIN_FILENO);

	snprintf(path, sizeof(path), "/tmp/trailcam-memtrace-%d.ctf", (int)getpid());
	assert_err(memtrace_reader_open(&reader, path, NULL), -ENOENT, path);
	fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
	assert_err(memtrace_reader_open(&reader, path, NULL), -EBADMSG, "it is empty");
	assert_int_equal(write(fd, bytes.items, bytes.cnt), bytes.cnt);
	assert_opened(path);
	lseek(fd, 0, SEEK_SET);
	assert_true(dup2(fd, STDIN_FILENO) >= 0);
	assert_opened("-");
	assert_err(memtrace_reader_open(&reader, "-", NULL), -EBADMSG,
		   "standard input is no allocation trace");
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(fd);
	unlink(path);
	assert_err(memtrace_reader_open(&reader, "/tmp", NULL), -EISDIR, "cannot read /tmp");
	free(bytes.items);
}

TEST(test_a_real_trace)
{
	static const char path[] = "../shared/corpus/memtrace/ocamlopt.ctf";
	size_t cnts[3] = {0}, frames = 0, common = 0, deepest = 0;
	struct memtrace_reader *reader;
	struct memtrace_event event;
	int more;

	if (access(path, R_OK)) {
		print_message("%s is not there\n", path);
		skip();
	}
	assert_ok(memtrace_reader_open(&reader, path, NULL));
	assert_string_equal(memtrace_reader_info(reader)->host, "tarski");
	assert_int_equal(memtrace_reader_info(reader)->pid, 17157);
	assert_int_equal(memtrace_reader_info(reader)->start_us, 1586965711174340);
	assert_true(memtrace_reader_info(reader)->sample_rate == 2e-5);
	while ((more = memtrace_reader_next(reader, &event)) > 0) {
		const struct memtrace_location *locations;

		cnts[event.kind]++;
		if (event.kind != MEMTRACE_ALLOC)
			continue;
		frames += event.frame_cnt;
		common += event.common_prefix;
		deepest = event.frame_cnt > deepest ? event.frame_cnt : deepest;
		for (size_t i = 0; i < event.frame_cnt; i++)
			assert_true(memtrace_reader_locations(reader, event.frames[i], &locations) >= 0);
	}
	assert_ok(more);
	assert_int_equal(cnts[MEMTRACE_ALLOC], 1676);
	assert_int_equal(cnts[MEMTRACE_PROMOTE], 257);
	assert_int_equal(cnts[MEMTRACE_COLLECT], 1566);
	assert_int_equal(deepest, 547);
	assert_int_equal(frames, 194241);
	assert_int_equal((common + 838) / 1676, 92);
	memtrace_reader_close(reader);
}

TEST_MAIN(NULL, NULL)
