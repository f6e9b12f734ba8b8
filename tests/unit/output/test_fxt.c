/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the FXT sink writes, read back by a reader of its own below, written from the format's description and
 * sharing nothing with the writer: tables of strings and threads as a viewer keeps them, slices put together
 * from begin and end, or complete.
 */
#include "timelines.h"

#include <zlib.h>

/* ---- reader ---- */

enum { STRINGS = 32768, THREADS = 256, OPEN_MAX = 600 };

struct read_slice {
	uint64_t pid, tid, start, end;
	unsigned int depth;
	char *name;
};

struct reader {
	uint64_t *words;
	size_t word_cnt;
	char *strings[STRINGS];
	uint64_t threads[THREADS][2];
	struct read_slice *slices;
	size_t slice_cnt, slice_cap, complete_cnt, instant_cnt, max_depth, string_records;
	struct {
		uint64_t pid, tid;
		size_t open[OPEN_MAX];
		size_t cnt;
		uint64_t until; /* the end of the last complete event */
	} * stacks;
	size_t stack_cnt, stack_cap;
};

static void read_file(struct reader *reader, const char *path)
{
	gzFile file = gzopen(path, "rb");
	size_t cap = 1 << 26, size = 0;
	int got;

	assert_non_null(file);
	reader->words = malloc(cap);
	while ((got = gzread(file, (char *)reader->words + size, (unsigned int)(cap - size))) > 0)
		size += (size_t)got;
	assert_int_equal(got, 0);
	gzclose(file);
	assert_int_equal(size % 8, 0);
	reader->word_cnt = size / 8;
}

static uint64_t bits(uint64_t word, unsigned int low, unsigned int high)
{
	return word >> low & ((1ull << (high - low + 1)) - 1);
}

static void *stack_of(struct reader *reader, uint64_t pid, uint64_t tid)
{
	for (size_t i = 0; i < reader->stack_cnt; i++)
		if (reader->stacks[i].pid == pid && reader->stacks[i].tid == tid)
			return &reader->stacks[i];
	assert_int_equal(array_reserve(&reader->stacks, &reader->stack_cap, reader->stack_cnt + 1,
				       sizeof(*reader->stacks)),
			 0);
	reader->stacks[reader->stack_cnt].pid = pid;
	reader->stacks[reader->stack_cnt].tid = tid;
	reader->stacks[reader->stack_cnt].cnt = 0;
	reader->stacks[reader->stack_cnt].until = 0;
	return &reader->stacks[reader->stack_cnt++];
}

static void check_args(const struct reader *reader, const uint64_t *record, size_t at, size_t size,
		       size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		size_t arg_size = bits(record[at], 4, 15);

		assert_true(arg_size >= 1 && at + arg_size <= size);
		assert_non_null(reader->strings[bits(record[at], 16, 31)]);
		if (bits(record[at], 0, 3) == 6)
			assert_true(!bits(record[at], 32, 47) || reader->strings[bits(record[at], 32, 47)]);
		at += arg_size;
	}
	assert_int_equal(at, size);
}

static void read_event(struct reader *reader, const uint64_t *record, size_t size)
{
	uint64_t type = bits(record[0], 16, 19), thread = bits(record[0], 24, 31),
		 name = bits(record[0], 48, 63);
	uint64_t pid = reader->threads[thread][0], tid = reader->threads[thread][1];
	typeof(reader->stacks) stack = stack_of(reader, pid, tid);
	struct read_slice slice = {pid, tid, record[1], 0, (unsigned int)stack->cnt, NULL};

	assert_true(thread > 0 && tid > 0 && name < STRINGS);
	check_args(reader, record, 2, size - (type == 4), bits(record[0], 20, 23));
	if (type == 0) {
		reader->instant_cnt++;
		return;
	}
	/* Nothing is in a complete event, which readers would end at the wrong place. */
	assert_true(record[1] >= stack->until);
	if (type == 2 || type == 4) {
		assert_non_null(reader->strings[name]);
		assert_true(stack->cnt < 512);
		slice.name = strdup(reader->strings[name]);
		slice.end = type == 4 ? record[size - 1] : 0;
		stack->open[stack->cnt++] = reader->slice_cnt;
		reader->max_depth = stack->cnt > reader->max_depth ? stack->cnt : reader->max_depth;
		assert_int_equal(ARRAY_PUSH(reader->slices, reader->slice_cnt, reader->slice_cap, slice), 0);
	}
	if (type == 4) {
		assert_true(slice.end > slice.start);
		stack->until = slice.end;
		stack->cnt--;
		reader->complete_cnt++;
	} else if (type != 2) {
		assert_int_equal(type, 3);
		assert_true(stack->cnt > 0);
		reader->slices[stack->open[--stack->cnt]].end = record[1];
	}
}

static void read_record(struct reader *reader, const uint64_t *record, size_t size)
{
	switch (bits(record[0], 0, 3)) {
	case 1:
		assert_int_equal(record[1], 1000000000);
		break;
	case 2: {
		uint64_t index = bits(record[0], 16, 30), len = bits(record[0], 32, 46);

		assert_true(index > 0 && len <= 32000 && (len + 7) / 8 + 1 == size);
		free(reader->strings[index]);
		reader->strings[index] = strndup((const char *)(record + 1), len);
		reader->string_records++;
		break;
	}
	case 3:
		reader->threads[bits(record[0], 16, 23)][0] = record[1];
		reader->threads[bits(record[0], 16, 23)][1] = record[2];
		break;
	case 4:
		read_event(reader, record, size);
		break;
	case 7:
		assert_non_null(reader->strings[bits(record[0], 24, 39)]);
		break;
	default:
		fail_msg("record of type %d", (int)bits(record[0], 0, 3));
	}
}

static struct reader *read_trace(const char *path)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	read_file(reader, path);
	assert_true(reader->words[0] == 0x0016547846040010ull);
	for (size_t at = 1; at < reader->word_cnt;) {
		size_t size = bits(reader->words[at], 4, 15);

		assert_true(size > 0 && at + size <= reader->word_cnt);
		read_record(reader, reader->words + at, size);
		at += size;
	}
	for (size_t i = 0; i < reader->stack_cnt; i++)
		assert_int_equal(reader->stacks[i].cnt, 0);
	return reader;
}

static void reader_free(struct reader *reader)
{
	for (size_t i = 0; i < reader->slice_cnt; i++)
		free(reader->slices[i].name);
	for (size_t i = 0; i < STRINGS; i++)
		free(reader->strings[i]);
	free(reader->slices);
	free(reader->stacks);
	free(reader->words);
	free(reader);
}

/* ---- timelines ---- */

static struct reader *write_and_read(const struct timeline *timeline, const char *suffix)
{
	char path[64];
	struct output *output;
	struct reader *reader;

	snprintf(path, sizeof(path), "/tmp/trailcam-fxt-%d%s", (int)getpid(), suffix);
	assert_ok(output_open(&output, path));
	assert_ok(sink_fxt.write(timeline, output));
	assert_ok(output_close(output));
	reader = read_trace(path);
	unlink(path);
	return reader;
}

TEST(test_nesting)
{
	const char *suffixes[] = {".fxt", ".fxt.gz"};
	struct symbol f = make_symbol("f"), g = make_symbol("g");

	for (size_t i = 0; i < 2; i++) {
		struct timeline *timeline = make_timeline(1);
		struct reader *reader;

		add_slice(&timeline->threads[0], &f, 0, 100, 0);
		add_slice(&timeline->threads[0], &g, 0, 0, 1); /* equal times, no length */
		add_slice(&timeline->threads[0], &f, 0, 50, 1);
		add_slice(&timeline->threads[0], &g, 50, 100, 1);
		reader = write_and_read(timeline, suffixes[i]);
		assert_int_equal(reader->slice_cnt, 4);
		assert_int_equal(reader->complete_cnt, 2);
		for (size_t j = 0; j < 4; j++) {
			const struct slice *slice = &timeline->threads[0].slices[j];

			assert_string_equal(reader->slices[j].name, slice->symbol->name);
			assert_int_equal(reader->slices[j].start, slice->start_ns);
			assert_int_equal(reader->slices[j].end, slice->end_ns);
			assert_int_equal(reader->slices[j].depth, slice->depth);
		}
		reader_free(reader);
		timeline_free(timeline);
	}
}

/* A call that makes none is one record, unless something happens within. */
TEST(test_instants_in_leaves)
{
	struct symbol f = make_symbol("f");
	struct timeline *timeline = make_timeline(1);
	struct reader *reader;

	for (uint64_t i = 0; i < 4; i++)
		add_slice(&timeline->threads[0], &f, 10 * i, 10 * i + 5, 0);
	add_gap(&timeline->threads[0], 10, "at the begin");
	add_gap(&timeline->threads[0], 22, "within");
	add_gap(&timeline->threads[0], 35, "at the end");
	reader = write_and_read(timeline, ".fxt");
	assert_int_equal(reader->slice_cnt, 4);
	assert_int_equal(reader->complete_cnt, 3);
	assert_int_equal(reader->instant_cnt, 4); /* with the beginning of the trace */
	assert_int_equal(reader->slices[2].end, 25);
	reader_free(reader);
	timeline_free(timeline);
}

/* More names than a reader's table holds: entries are replaced, every slice keeps its own name. */
TEST(test_many_names)
{
	enum { NAMES = 60000 };
	struct symbol *symbols = calloc(NAMES, sizeof(*symbols));
	struct timeline *timeline = make_timeline(1);
	struct reader *reader;

	for (size_t i = 0; i < NAMES; i++) {
		char *name;

		assert_true(asprintf(&name, "function_%zu", i) > 0);
		symbols[i] = make_symbol(name);
	}
	for (size_t round = 0; round < 2; round++)
		for (size_t i = 0; i < NAMES; i++)
			add_slice(&timeline->threads[0], &symbols[i], round * NAMES + i,
				  round * NAMES + i + 1, 0);
	reader = write_and_read(timeline, ".fxt");
	assert_int_equal(reader->slice_cnt, 2 * NAMES);
	for (size_t i = 0; i < 2 * NAMES; i++)
		assert_string_equal(reader->slices[i].name, symbols[i % NAMES].name);
	reader_free(reader);
	timeline_free(timeline);
	for (size_t i = 0; i < NAMES; i++)
		free((char *)symbols[i].name);
	free(symbols);
}

/* Viewers lose their place beyond 512: what is deeper is left out, begin and end. */
TEST(test_deep)
{
	struct symbol f = make_symbol("f");
	struct timeline *timeline = make_timeline(1);
	struct reader *reader;

	for (uint32_t depth = 0; depth < 600; depth++)
		add_slice(&timeline->threads[0], &f, depth, 2000 - depth, depth);
	add_slice(&timeline->threads[0], &f, 2000, 2001, 0);
	reader = write_and_read(timeline, ".fxt");
	assert_int_equal(reader->max_depth, 512);
	assert_int_equal(reader->slice_cnt, 513);
	for (size_t i = 0; i < 512; i++)
		assert_int_equal(reader->slices[i].end, 2000 - i);
	reader_free(reader);
	timeline_free(timeline);
}

TEST(test_many_threads)
{
	struct symbol f = make_symbol("f");
	struct timeline *timeline = make_timeline(1000);
	struct reader *reader;

	for (size_t i = 0; i < 1000; i++)
		add_slice(&timeline->threads[i], &f, i, i + 5, 0);
	timeline->threads[0].tid = 0; /* readers drop tid 0 */
	reader = write_and_read(timeline, ".fxt");
	assert_int_equal(reader->slice_cnt, 1000);
	for (size_t i = 1; i < 1000; i++)
		assert_int_equal(reader->slices[i].tid, 100 + i);
	assert_int_not_equal(reader->slices[0].tid, 0);
	reader_free(reader);
	timeline_free(timeline);
}

TEST(test_strange_strings)
{
	char *huge = malloc(100001);
	struct symbol long_one = make_symbol(huge),
		      bad = make_symbol("a\xff\xc0\x80"
					"b\xe2\x82\xac"),
		      empty = make_symbol("");
	struct timeline *timeline = make_timeline(1);
	struct reader *reader;

	memset(huge, 'x', 100000);
	huge[100000] = '\0';
	memcpy(huge + 31998, "\xe2\x82\xac", 3); /* cut in the middle of a character */
	add_slice(&timeline->threads[0], &long_one, 0, 1, 0);
	add_slice(&timeline->threads[0], &bad, 1, 2, 0);
	timeline->threads[0].slices[1].end_ns = 3600ull * 24 * 1000000000;
	(void)empty;
	reader = write_and_read(timeline, ".fxt");
	assert_int_equal(strlen(reader->slices[0].name), 31998);
	assert_string_equal(reader->slices[1].name, "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
						    "b\xe2\x82\xac");
	assert_true(reader->slices[1].end == 3600ull * 24 * 1000000000);
	reader_free(reader);
	timeline_free(timeline);
	free(huge);
}

/*
 * The hit: a slice on its own track, with more arguments than one event holds, and an instant on its thread.
 */
TEST(test_hits)
{
	struct symbol f = make_symbol("f");
	struct timeline *timeline = make_timeline(1);
	struct reader *reader;

	add_hit(timeline, 100, 5, &f);
	add_slice(&timeline->threads[0], &f, 0, 10, 0);
	reader = write_and_read(timeline, ".fxt");
	assert_int_equal(reader->slice_cnt, 2);
	assert_string_equal(reader->slices[1].name, "my trigger");
	assert_int_equal(reader->slices[1].start, 5);
	assert_int_not_equal(reader->slices[1].pid, 100);
	assert_int_equal(reader->instant_cnt, 2); /* the beginning of the trace, and the hit */
	reader_free(reader);
	timeline_free(timeline);
}

TEST(test_find)
{
	assert_ptr_equal(sink_find("x.fxt", NULL), &sink_fxt);
	assert_ptr_equal(sink_find("dir.tsv/x.fxt.gz", NULL), &sink_fxt);
	assert_ptr_equal(sink_find("x.tsv", NULL), &sink_slices);
	assert_null(sink_find("x.mp3", NULL));
	assert_non_null(strstr(fail_message(-EINVAL), ".fxt"));
	assert_null(sink_find(".fxt", NULL));
	assert_ptr_equal(sink_find("-", NULL), &sink_fxt);
	assert_ptr_equal(sink_find("-", "tree"), &sink_tree);
	assert_ptr_equal(sink_find("trace.gz", "tree"), &sink_tree);
	assert_ptr_equal(sink_find("x.tsv", "tree"), &sink_slices);
	assert_null(sink_find("x.tsv", "mp3"));
	assert_non_null(strstr(fail_message(-EINVAL), "'mp3'"));
	assert_non_null(strstr(fail_message(-EINVAL), "tree"));
}

TEST_MAIN(NULL, NULL)
