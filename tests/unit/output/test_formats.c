/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same timelines through every format that has slices: each is read back, and must give what was put in.
 * (FXT: test_fxt.c)
 */
#include "read_json.h"
#include "read_pftrace.h"
#include "read_text.h"

static const struct format {
	const struct sink *sink;
	struct read_trace *(*read)(char *bytes, size_t size);
	uint32_t depth_max; /* 0: none */
	bool has_moments, has_objects, has_threads, has_counters;
} formats[] = {
	{&sink_csv, read_csv, 0, true, true, false, false},
	{&sink_tree, read_tree, 0, true, true, true, false},
	{&sink_json, read_chrome, 512, true, true, true, true},
	{&sink_pftrace, read_pftrace, 512, true, true, true, true},
	{&sink_speedscope, read_speedscope, 512, false, false, true, false},
};

static struct read_trace *write_and_read(const struct format *format, const struct timeline *timeline)
{
	size_t size;
	char *bytes = written(format->sink, timeline, &size);
	struct read_trace *trace = format->read(bytes, size);

	free(bytes);
	return trace;
}

static void expect_slice(const struct format *format, const struct read_slice *read,
			 const struct slice *slice, int32_t tid)
{
	assert_string_equal(read->name, slice_name(slice));
	assert_int_equal(read->tid, tid);
	assert_int_equal(read->start, slice->start_ns);
	assert_int_equal(read->end, slice->end_ns);
	assert_int_equal(read->depth, slice->depth);
	if (!slice->symbol)
		return;
	if (format->has_objects)
		assert_string_equal(read->object, slice->symbol->object);
	assert_string_equal(read->file, slice->symbol->file);
	assert_int_equal(read->line, slice->symbol->line);
}

/* All slices up to the format's depth, in order. */
static void expect_slices(const struct format *format, const struct read_trace *trace,
			  const struct timeline *timeline)
{
	size_t cnt = 0;

	for (size_t i = 0; i < timeline->thread_cnt; i++) {
		const struct timeline_thread *thread = &timeline->threads[i];

		for (size_t j = 0; j < thread->slice_cnt; j++) {
			if (format->depth_max && thread->slices[j].depth >= format->depth_max)
				continue;
			assert_true(cnt < trace->slice_cnt);
			expect_slice(format, &trace->slices[cnt++], &thread->slices[j], thread->tid);
		}
	}
	assert_int_equal(trace->slice_cnt, cnt);
}

/* Writes and reads it in each format; then it is gone. */
static void expect_everywhere(struct timeline *timeline)
{
	assert_true(timeline_is_valid(timeline));
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct read_trace *trace = write_and_read(&formats[i], timeline);

		print_message("# %s\n", formats[i].sink->name);
		expect_slices(&formats[i], trace, timeline);
		if (formats[i].has_threads)
			assert_int_equal(trace->thread_cnt, timeline->thread_cnt);
		read_trace_free(trace);
	}
	timeline_free(timeline);
}

TEST(test_nesting)
{
	struct symbol f = make_symbol("operator\"\"_x"), g = make_symbol("std::pair<int, \"g\"> g()");
	struct timeline *timeline = make_timeline(2);
	struct timeline_thread *thread = &timeline->threads[0];

	add_slice(thread, &f, 0, 100, 0);
	add_slice(thread, &g, 0, 0, 1); /* equal times, no length */
	add_slice(thread, &f, 0, 50, 1);
	add_slice(thread, &g, 50, 100, 1);
	add_slice(thread, &g, 50, 100, 2);
	add_slice(thread, &f, 100, 100, 0);
	add_slice(thread, &f, 100, 100, 0);
	for (uint8_t kind = SLICE_SYSCALL; kind < SLICE_KIND_CNT; kind++) {
		add_slice(thread, NULL, 100, 200, kind - 1u);
		thread->slices[thread->slice_cnt - 1].kind = kind;
	}
	add_slice(&timeline->threads[1], &f, 0, 1, 0);
	expect_everywhere(timeline);
}

/* An arrow has two ends, of one number. */
TEST(test_flows)
{
	struct symbol f = make_symbol("f");
	struct timeline *timeline = make_timeline(2);
	struct read_trace *trace;
	char *text;

	for (size_t i = 0; i < 2; i++)
		add_slice(&timeline->threads[i], &f, 0, 100, 0);
	assert_ok(ARRAY_PUSH(timeline->flows, timeline->flow_cnt, timeline->flow_cap,
			     ((struct flow){10, 20, 100, 100, 100, 101})));
	text = written(&sink_json, timeline, NULL);
	assert_non_null(strstr(text, "{\"ph\":\"s\",\"pid\":100,\"tid\":100,\"ts\":0.010,\"id\":1,\"cat\":"
				     "\"wake-up\",\"name\":\"wake-up\"},\n"
				     "{\"ph\":\"f\",\"pid\":100,\"tid\":101,\"ts\":0.020,\"id\":1,\"cat\":"
				     "\"wake-up\",\"name\":\"wake-up\",\"bp\":\"e\"}"));
	free(text);
	trace = write_and_read(&formats[3], timeline);
	assert_int_equal(trace->moment_cnt, 2);
	assert_string_equal(trace->moments[0].name, "[wakes]");
	assert_string_equal(trace->moments[1].name, "[woken]");
	assert_int_equal(trace->moments[1].time, 20);
	read_trace_free(trace);
	timeline_free(timeline);
}

TEST(test_empty)
{
	struct symbol f = make_symbol("f");
	struct timeline *timeline = make_timeline(3);

	expect_everywhere(make_timeline(0));
	add_slice(&timeline->threads[1], &f, 3, 4, 0); /* the others have none */
	expect_everywhere(timeline);
}

TEST(test_many_names)
{
	enum { NAMES = 60000 };
	struct symbol *symbols = calloc(NAMES, sizeof(*symbols));
	struct timeline *timeline = make_timeline(1);

	for (size_t i = 0; i < NAMES; i++) {
		char *name;

		assert_true(asprintf(&name, "function_%zu", i) > 0);
		symbols[i] = make_symbol(name);
	}
	for (size_t i = 0; i < 2 * NAMES; i++)
		add_slice(&timeline->threads[0], &symbols[i % NAMES], i, i + 1, 0);
	expect_everywhere(timeline);
	for (size_t i = 0; i < NAMES; i++)
		free((char *)symbols[i].name);
	free(symbols);
}

TEST(test_deep)
{
	struct symbol f = make_symbol("f");
	struct timeline *timeline = make_timeline(1);

	for (uint32_t depth = 0; depth < 600; depth++)
		add_slice(&timeline->threads[0], &f, depth, 2000 - depth, depth);
	add_slice(&timeline->threads[0], &f, 2000, 2001, 0);
	expect_everywhere(timeline);
}

TEST(test_many_threads)
{
	struct symbol f = make_symbol("f");
	struct timeline *timeline = make_timeline(1000);

	for (size_t i = 0; i < 1000; i++)
		add_slice(&timeline->threads[i], &f, i, i + 5, 0);
	expect_everywhere(timeline);
}

/* A day, to the nanosecond. */
TEST(test_long)
{
	const uint64_t day = 24 * 3600ull * 1000000000;
	struct symbol f = make_symbol("f");
	struct timeline *timeline = make_timeline(1);

	add_slice(&timeline->threads[0], &f, 1, day + 1, 0);
	add_slice(&timeline->threads[0], &f, day - 1, day, 1);
	expect_everywhere(timeline);
}

TEST(test_strange_strings)
{
	char *huge = malloc(100001);
	struct symbol long_one = make_symbol(huge), bad = make_symbol("a\xff\xc0\x80z\xe2\x82\xac\\");

	memset(huge, 'x', 100000);
	huge[100000] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct timeline *timeline = make_timeline(1);
		struct read_trace *trace;

		add_slice(&timeline->threads[0], &long_one, 0, 1, 0);
		add_slice(&timeline->threads[0], &bad, 1, 2, 0);
		trace = write_and_read(&formats[i], timeline);
		assert_string_equal(trace->slices[0].name, huge);
		assert_string_equal(trace->slices[1].name,
				    formats[i].sink == &sink_csv || formats[i].sink == &sink_tree
					    ? "a\\xff\\xc0\\x80z\xe2\x82\xac\\"
					    : "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\xe2\x82\xac\\");
		read_trace_free(trace);
		timeline_free(timeline);
	}
	free(huge);
}

/* Lines and fields end only where they do. */
TEST(test_controls)
{
	struct symbol f = make_symbol("a\nb\r,\"\x01\t;c");
	struct timeline *timeline = make_timeline(1);
	char *text;

	free(timeline->threads[0].name);
	timeline->threads[0].name = strdup("my;thread");
	add_slice(&timeline->threads[0], &f, 0, 9, 0);
	text = written(&sink_tree, timeline, NULL);
	assert_non_null(strstr(text, "  a\\nb\\x0d,\"\\x01\\t;c (/bin/prog, prog.c:7)\n"));
	free(text);
	text = written(&sink_json, timeline, NULL);
	assert_non_null(strstr(text, "\"a\\u000ab\\u000d,\\\"\\u0001\\u0009;c\""));
	free(text);
	text = written(&sink_csv, timeline, NULL);
	assert_non_null(strstr(text, ",\"a\\nb\\x0d,\"\"\\x01\\t;c\","));
	free(text);
	text = written(&sink_folded, timeline, NULL);
	assert_string_equal(text, "my:thread;a b ,\"\\x01\\t:c 9\n");
	free(text);
	timeline_free(timeline);
}

/*
 * Hits and gaps: on their threads, between the slices where they were; those of threads that have nothing
 * else, too.
 */
TEST(test_moments)
{
	struct symbol f = make_symbol("f");

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct timeline *timeline = make_timeline(2);
		struct read_trace *trace;
		const struct read_moment *moments;

		if (!formats[i].has_moments) {
			timeline_free(timeline);
			continue;
		}
		add_slice(&timeline->threads[0], &f, 0, 10, 0);
		add_slice(&timeline->threads[1], &f, 5, 20, 0);
		add_gap(&timeline->threads[1], 20, "[gap: overflow]");
		add_hit(timeline, 101, 12, &f);
		add_hit(timeline, 777, 3, NULL);
		add_hit(timeline, 101, 5, &f); /* not in order, since it was moved into its slice */
		trace = write_and_read(&formats[i], timeline);
		moments = trace->moments;
		assert_int_equal(trace->slice_cnt, 2);
		assert_int_equal(trace->moment_cnt, 4);
		for (size_t j = 0; j < 4; j++) {
			static const struct read_moment expected[] = {{101, 5, true, NULL},
								      {101, 12, true, NULL},
								      {101, 20, false, NULL},
								      {777, 3, true, NULL}};

			assert_int_equal(moments[j].tid, expected[j].tid);
			assert_int_equal(moments[j].time, expected[j].time);
			assert_int_equal(moments[j].is_hit, expected[j].is_hit);
			assert_string_equal(moments[j].name,
					    expected[j].is_hit ? "my trigger" : "[gap: overflow]");
		}
		read_trace_free(trace);
		timeline_free(timeline);
	}
}

/* Inside the call that was hit, also where times are equal. */
TEST(test_hit_at_the_edge)
{
	struct symbol f = make_symbol("f"), g = make_symbol("g");
	struct timeline *timeline = make_timeline(1);
	char *text, *hit;

	add_slice(&timeline->threads[0], &f, 0, 10, 0);
	add_slice(&timeline->threads[0], &g, 5, 5, 1);
	add_slice(&timeline->threads[0], &f, 5, 10, 1);
	add_hit(timeline, 100, 5, &g);
	text = written(&sink_tree, timeline, NULL);
	hit = strstr(text, "      * hit my trigger");
	assert_non_null(hit);
	assert_true(strstr(text, " g (") < hit && hit < strstr(strstr(text, " g ("), " f ("));
	free(text);
	timeline_free(timeline);
}

/* Threads without a number get one each; the wall clock is told. */
TEST(test_idle_threads_and_clock)
{
	const uint64_t now = 1700000000123456789;
	struct symbol f = make_symbol("f");

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct timeline *timeline = make_timeline(2);
		struct read_trace *trace;

		timeline->base_realtime_ns = now;
		timeline->threads[0].tid = 0;
		timeline->threads[1].tid = -2;
		add_slice(&timeline->threads[0], &f, 0, 10, 0);
		add_slice(&timeline->threads[1], &f, 5, 20, 0);
		trace = write_and_read(&formats[i], timeline);
		assert_int_equal(trace->slice_cnt, 2);
		assert_int_not_equal(trace->slices[0].tid, trace->slices[1].tid);
		if (formats[i].has_counters) {
			assert_int_not_equal(trace->slices[0].tid, 0);
			assert_int_equal(trace->realtime_ns, now);
		}
		read_trace_free(trace);
		timeline_free(timeline);
	}
}

TEST(test_counters)
{
	struct timeline *timeline = make_timeline(1);
	struct counter counter = {.name = strdup("frequency"), .pid = 100, .tid = 100};

	for (uint64_t time = 0; time < 3; time++) {
		struct counter_point point = {time, time * 10};

		assert_int_equal(ARRAY_PUSH(counter.points, counter.point_cnt, counter.point_cap, point), 0);
	}
	assert_int_equal(
		ARRAY_PUSH(timeline->counters, timeline->counter_cnt, timeline->counter_cap, counter), 0);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct read_trace *trace = write_and_read(&formats[i], timeline);

		assert_int_equal(trace->counter_cnt, formats[i].has_counters ? 3 : 0);
		read_trace_free(trace);
	}
	timeline_free(timeline);
}

/* Stacks that differ, by frame; threads of one name together; their sum is the time in calls. */
TEST(test_folded)
{
	struct symbol f = make_symbol("f"), g = make_symbol("g"), other_f = make_symbol("f");
	struct timeline *timeline = make_timeline(2);
	char *text;

	add_slice(&timeline->threads[0], &f, 10, 100, 0);
	add_slice(&timeline->threads[0], &g, 20, 30, 1);
	add_slice(&timeline->threads[0], &other_f, 30, 30, 1); /* no time */
	add_slice(&timeline->threads[0], &g, 40, 45, 1);
	add_slice(&timeline->threads[0], &f, 41, 42, 2);
	add_slice(&timeline->threads[0], NULL, 200, 300, 0);
	timeline->threads[0].slices[5].kind = SLICE_OFF_CPU;
	add_slice(&timeline->threads[1], &other_f, 0, 1000, 0);
	text = written(&sink_folded, timeline, NULL);
	assert_string_equal(text, "thread;[off-cpu] 100\nthread;f 1075\nthread;f;g 14\nthread;f;g;f 1\n");
	free(text);
	text = written(&sink_folded_total, timeline, NULL);
	assert_string_equal(
		text, "thread 1190\nthread;[off-cpu] 100\nthread;f 1090\nthread;f;g 15\nthread;f;g;f 1\n");
	free(text);
	timeline_free(timeline);
	timeline = make_timeline(1);
	text = written(&sink_folded, timeline, NULL);
	assert_string_equal(text, "");
	free(text);
	for (uint32_t depth = 0; depth < 600; depth++)
		add_slice(&timeline->threads[0], &f, depth, 2000 - depth, depth);
	text = written(&sink_folded, timeline, NULL);
	/* What is too deep is its caller's. */
	assert_string_equal(strrchr(text, ' '), " 978\n");
	free(text);
	timeline_free(timeline);
}

TEST_MAIN(NULL, NULL)
