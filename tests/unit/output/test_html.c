/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data in the page, read back from what output/html.h says of it: out of the script element, base64,
 * gzip, JSON (as text), columns.
 */
#include "assertions.h"
#include "base/array.h"

#include <stdlib.h>
#include <unistd.h>

#include <zlib.h>

#include "base/spill.h"
#include "output/html.h"

/* ---- reader ---- */

enum { DATA_MAX = 1 << 22, SLICES_MAX = 4096 };

struct reader {
	char *page;
	uint8_t *data;
	size_t size, at;
};

struct read_slice {
	uint64_t start, end, depth, symbol, flags;
};

static char *write_page(const struct timeline *timeline, size_t max)
{
	CLEANUP(freep) char *page = calloc(1, DATA_MAX);
	struct output *output;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/trailcam-html-%d.html", (int)getpid());
	assert_ok(output_open(&output, path));
	assert_ok(html_write(timeline, NULL, output, max));
	assert_ok(output_close(output));
	file = fopen(path, "r");
	assert_non_null(file);
	assert_in_range(fread(page, 1, DATA_MAX, file), 1, DATA_MAX - 1);
	fclose(file);
	unlink(path);
	return TAKE_PTR(page);
}

static size_t decode_base64(const char *text, uint8_t *bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = 0;
	size_t size = 0, cnt = 0;

	for (; *text && strchr(digits, *text); text++) {
		bits = bits << 6 | (uint32_t)(strchr(digits, *text) - digits);
		if (cnt++ % 4)
			bytes[size++] = (uint8_t)(bits >> (6 - 2 * ((cnt - 1) % 4)));
	}
	return size;
}

static struct reader read_page(const struct timeline *timeline, size_t max)
{
	struct reader reader = {.page = write_page(timeline, max), .data = malloc(DATA_MAX)};
	CLEANUP(freep) uint8_t *packed = malloc(DATA_MAX);
	const char *begin = strstr(reader.page, "base64\">");
	z_stream stream = {0};

	assert_non_null(begin);
	stream.avail_in = (unsigned int)decode_base64(begin + strlen("base64\">"), packed);
	stream.next_in = packed;
	stream.next_out = reader.data;
	stream.avail_out = DATA_MAX;
	assert_int_equal(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	inflateEnd(&stream);
	reader.size = stream.total_out;
	reader.at = strlen((char *)reader.data) + 1;
	return reader;
}

static uint64_t read_number(struct reader *reader)
{
	uint64_t number = 0;

	for (unsigned int shift = 0;; shift += 7) {
		assert_true(reader->at < reader->size);
		number |= (uint64_t)(reader->data[reader->at] & 0x7f) << shift;
		if (!(reader->data[reader->at++] & 0x80))
			return number;
	}
}

static void read_slices(struct reader *reader, struct read_slice *slices, size_t cnt)
{
	assert_in_range(cnt, 0, SLICES_MAX);
	for (size_t i = 0; i < cnt; i++)
		slices[i].start = read_number(reader) + (i ? slices[i - 1].start : 0);
	for (size_t i = 0; i < cnt; i++)
		slices[i].end = slices[i].start + read_number(reader);
	for (size_t i = 0; i < cnt; i++)
		slices[i].depth = (i ? slices[i - 1].depth + 1 : 0) - read_number(reader);
	for (size_t i = 0; i < cnt; i++)
		slices[i].symbol = read_number(reader);
	for (size_t i = 0; i < cnt; i++)
		slices[i].flags = read_number(reader);
}

static void assert_json(const struct reader *reader, const char *text)
{
	if (!strstr((char *)reader->data, text))
		fail_msg("no %s in %s", text, reader->data);
}

static void reader_release(struct reader *reader)
{
	free(reader->page);
	free(reader->data);
}

/* ---- timelines ---- */

static struct timeline *make_timeline(size_t thread_cnt)
{
	struct timeline *timeline;

	assert_ok(timeline_new(&timeline));
	timeline->command = strdup("prog");
	timeline->threads = calloc(thread_cnt, sizeof(*timeline->threads));
	timeline->thread_cnt = thread_cnt;
	for (size_t i = 0; i < thread_cnt; i++)
		timeline->threads[i] = (struct timeline_thread){
			.pid = 100, .tid = 100 + (int32_t)i, .name = strdup("thread")};
	return timeline;
}

static void add_slice(struct timeline_thread *thread, struct slice slice)
{
	assert_ok(SPILL_PUSH(thread->slices, thread->slice_cnt, thread->slice_cap, slice));
}

static const struct symbol f = {.name = "f<\"x\\y\">\n", .object = "/bin/prog", .start = 0x1000, .line = 7},
			   g = {.name = "g",
				.object = "/bin/prog",
				.start = 0x2000,
				.file = "g.c",
				.line = 9};

/* An outermost call of f with `cnt` calls of g in it, one each nanosecond. */
static void add_calls(struct timeline_thread *thread, size_t cnt)
{
	add_slice(thread, (struct slice){.end_ns = cnt, .symbol = &f});
	for (size_t i = 0; i < cnt; i++)
		add_slice(thread, (struct slice){.start_ns = i, .end_ns = i + 1, .symbol = &g, .depth = 1});
}

/* ---- tests ---- */

TEST(test_slices)
{
	const struct slice given[] = {
		{.start_ns = 5, .end_ns = 1ull << 40, .symbol = &f, .flags = SLICE_INFERRED_START},
		{.start_ns = 5, .end_ns = 5, .symbol = &g, .depth = 1},
		{.start_ns = 300, .end_ns = 70000, .symbol = &f, .depth = 1, .flags = SLICE_INLINED},
		{.start_ns = 300, .end_ns = 400, .kind = SLICE_OFF_CPU, .depth = 2},
		{.start_ns = 1ull << 40, .end_ns = 1ull << 41, .symbol = &g, .flags = SLICE_OPEN_END},
	};
	const uint64_t symbols[] = {5, 6, 5, 2, 6};
	struct timeline *timeline = make_timeline(2);
	struct read_slice slices[SLICES_MAX];
	struct reader reader;

	for (size_t i = 0; i < 5; i++)
		add_slice(&timeline->threads[1], given[i]);
	reader = read_page(timeline, 100);
	read_slices(&reader, slices, 5);
	assert_int_equal(reader.at, reader.size);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(slices[i].start, given[i].start_ns);
		assert_int_equal(slices[i].end, given[i].end_ns);
		assert_int_equal(slices[i].depth, given[i].depth);
		assert_int_equal(slices[i].symbol, symbols[i]);
		assert_int_equal(slices[i].flags, given[i].flags);
	}
	assert_json(&reader, "[\"[off-cpu]\",\"\",null,0,\"0\"]");
	assert_json(&reader, "[\"f<\\u0022x\\u005cy\\u0022>\\u000a\",\"/bin/prog\",null,7,\"1000\"]");
	assert_json(&reader, "[\"g\",\"/bin/prog\",\"g.c\",9,\"2000\"]");
	assert_json(
		&reader,
		"{\"pid\":100,\"tid\":101,\"slices\":5,\"name\":\"thread\",\"instants\":[],\"details\":[]}");
	assert_null(strstr(reader.page, "f<"));
	reader_release(&reader);
	timeline_free(timeline);
}

/* A file of so many numbered lines; returns its name, which is to be freed. */
static char *write_source(const char *suffix, int cnt)
{
	char *path = NULL;
	FILE *file;

	assert_int_not_equal(asprintf(&path, "/tmp/trailcam-source-%d%s", (int)getpid(), suffix), -1);
	file = fopen(path, "w");
	assert_non_null(file);
	for (int i = 1; i <= cnt; i++)
		fprintf(file, "line \"%d\"\n", i);
	fclose(file);
	return path;
}

TEST(test_sources)
{
	CLEANUP(freep) char *source = write_source(".c", 200);
	CLEANUP(freep) char *other = write_source(".key", 200);
	const struct symbol symbols[] = {
		{.name = "a", .object = "", .file = source, .line = 5},
		{.name = "b", .object = "", .file = source + 5, .file_dir = "/tmp", .line = 100},
		{.name = "c", .object = "", .file = source, .line = 20},
		{.name = "d", .object = "", .file = other, .line = 3},
		{.name = "e", .object = "", .file = source + 5, .line = 3},
	};
	struct timeline *timeline = make_timeline(1);
	struct reader reader;

	for (uint64_t i = 0; i < ARRAY_SIZE(symbols); i++)
		add_slice(&timeline->threads[0],
			  (struct slice){.start_ns = i, .end_ns = i + 1, .symbol = &symbols[i]});
	reader = read_page(timeline, 100);
	assert_json(&reader, "[[2,[\"line \\u00222\\u0022\",\"line \\u00223\\u0022\",");
	assert_json(&reader, "\"line \\u002250\\u0022\"]]]"); /* one block for a and c */
	assert_json(&reader, "[[97,[\"line \\u002297\\u0022\",");
	assert_json(&reader, "\"line \\u0022130\\u0022\"]]]");
	assert_null(strstr((char *)reader.data, "line \\u002251\\u0022"));
	assert_null(strstr((char *)reader.data, ".key\":["));
	reader_release(&reader);
	timeline_free(timeline);
	unlink(source);
	unlink(other);
}

/* What is known of a wait, and who ended it. */
TEST(test_waits)
{
	const struct slice_detail detail = {.name = "[off-cpu] futex",
					    .title = strdup("[off-cpu] futex, woken by worker after 2.1 ms"),
					    .woken_by = strdup("worker (tid 101)"),
					    .behind = strdup("hog"),
					    .result = -11,
					    .has_result = true};
	struct slice slice = {
		.start_ns = 5, .end_ns = 9, .kind = SLICE_OFF_CPU, .flags = SLICE_DETAILED | SLICE_SAMPLED};
	struct timeline *timeline = make_timeline(2);
	struct read_slice read;
	struct reader reader;

	assert_ok(timeline_add_detail(timeline, &detail, &slice.detail));
	add_slice(&timeline->threads[0], slice);
	assert_ok(ARRAY_PUSH(timeline->flows, timeline->flow_cnt, timeline->flow_cap,
			     ((struct flow){8, 9, 100, 101, 100, 100})));
	assert_ok(ARRAY_PUSH(timeline->flows, timeline->flow_cnt, timeline->flow_cap,
			     ((struct flow){8, 9, 1, 1, 100, 100})));
	reader = read_page(timeline, 100);
	read_slices(&reader, &read, 1);
	assert_int_equal(read.flags, SLICE_SAMPLED);
	assert_int_equal(read.symbol, 2);
	assert_json(&reader,
		    "\"details\":[[0,\"[off-cpu] futex\",\"[off-cpu] futex, woken by worker after 2.1 "
		    "ms\",\"\",\"worker (tid 101)\",\"hog\",\"-11\"]]");
	assert_json(&reader, "\"flows\":[[1,8,0,9]]");
	reader_release(&reader);
	timeline_free(timeline);
}

/*
 * The hit is in the middle: three quarters of what is kept lie before it, and the call that is open there is
 * kept, too.
 */
TEST(test_too_many)
{
	struct timeline *timeline = make_timeline(1);
	struct read_slice slices[SLICES_MAX];
	struct reader reader;

	add_calls(&timeline->threads[0], 1000);
	timeline->hits = calloc(1, sizeof(*timeline->hits));
	timeline->hit_cnt = 1;
	timeline->hits[0].time_ns = 500;
	assert_ok(hit_list_new(&timeline->hit_list));
	assert_ok(hit_list_add(timeline->hit_list, &(struct caught_hit){0}));
	timeline->hits[0].hit = timeline->hit_list->hits[0];
	reader = read_page(timeline, 100);
	assert_json(&reader, "\"slices\":101");
	assert_json(&reader,
		    "\"instants\":[[425,\"[425 calls left out]\",0],[525,\"[475 calls left out]\",0]]");
	read_slices(&reader, slices, 101);
	assert_int_equal(reader.at, reader.size);
	assert_int_equal(slices[0].depth, 0);
	assert_int_equal(slices[0].end, 1000);
	for (size_t i = 1; i < 101; i++) {
		assert_int_equal(slices[i].start, 424 + i);
		assert_int_equal(slices[i].depth, 1);
	}
	reader_release(&reader);
	timeline_free(timeline);
}

/* What short threads do not need is the others'; without a hit the last calls are kept. */
TEST(test_shares)
{
	struct timeline *timeline = make_timeline(3);
	struct read_slice slices[SLICES_MAX];
	struct reader reader;

	add_calls(&timeline->threads[0], 999);
	add_calls(&timeline->threads[1], 9);
	add_calls(&timeline->threads[2], 999);
	reader = read_page(timeline, 111);
	assert_json(&reader, "\"tid\":100,\"slices\":51");
	assert_json(&reader, "\"tid\":101,\"slices\":10,\"name\":\"thread\",\"instants\":[]");
	assert_json(&reader, "\"tid\":102,\"slices\":51");
	read_slices(&reader, slices, 51);
	assert_int_equal(slices[1].start, 949);
	assert_int_equal(slices[50].end, 999);
	reader_release(&reader);
	timeline_free(timeline);
}

TEST(test_counters)
{
	struct timeline *timeline = make_timeline(1);
	struct counter_point points[] = {{5, 0}, {70, UINT64_MAX}};
	struct reader reader;

	timeline->counters = calloc(1, sizeof(*timeline->counters));
	timeline->counter_cnt = 1;
	timeline->counters[0] = (struct counter){.name = strdup("\"x\""), .pid = 7, .point_cnt = 2};
	timeline->counters[0].points = malloc(sizeof(points));
	memcpy(timeline->counters[0].points, points, sizeof(points));
	reader = read_page(timeline, 100);
	assert_json(&reader, "\"counters\":[{\"pid\":7,\"name\":\"\\u0022x\\u0022\",\"points\":[[5,0],[70,"
			     "18446744073709551615]]}]}");
	reader_release(&reader);
	timeline_free(timeline);
}

TEST_MAIN(NULL, NULL)
