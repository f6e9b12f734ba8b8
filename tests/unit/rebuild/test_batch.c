/* SPDX-License-Identifier: BSD-2-Clause */
/* What a new source takes that delivers calls: a resolver, and batches. Here both are a list. */
#include "rebuild/batch.h"

#include "assertions.h"
#include "base/array.h"
#include "rebuild/decode.h"

enum { TID = 7, READ = 0x1000, PARSE = 0x2000, SERVE = 0x3000 };

static const struct symbol functions[] = {
	{.name = "read", .object = "toy", .start = READ, .end = READ + 0x100},
	{.name = "parse", .object = "toy", .start = PARSE, .end = PARSE + 0x100},
	{.name = "serve", .object = "toy", .start = SERVE, .end = SERVE + 0x100},
};

static const struct symbol *symbol_at(void *ctx, uint64_t ip, uint64_t tsc)
{
	(void)ctx;
	(void)tsc;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (symbol_owns(&functions[i], ip))
			return &functions[i];
	return NULL;
}

static uint64_t time_ns(void *ctx, uint64_t tsc)
{
	(void)ctx;
	return tsc;
}

static struct timeline *play(const struct call_edge_at *calls, size_t cnt)
{
	const struct batch batch = {.pid = TID,
				    .tid = TID,
				    .name = "toy",
				    .resolver = {.symbol_at = symbol_at, .time_ns = time_ns},
				    .kind = BATCH_CALLS,
				    .calls = {calls, cnt}};
	struct timeline *timeline;

	assert_ok(timeline_new(&timeline));
	assert_ok(batch_add(timeline, &batch));
	assert_int_equal(timeline->thread_cnt, 1);
	assert_true(timeline_is_valid(timeline));
	return timeline;
}

static void assert_slice(const struct timeline *timeline, size_t i, const char *name, uint32_t depth,
			 uint64_t start_ns, uint64_t end_ns, uint8_t flags)
{
	const struct slice *slice = &timeline->threads[0].slices[i];

	assert_string_equal(slice_name(slice), name);
	assert_int_equal(slice->depth, depth);
	assert_int_equal(slice->start_ns, start_ns);
	assert_int_equal(slice->end_ns, end_ns);
	assert_int_equal(slice->flags, flags);
}

TEST(test_calls_nest)
{
	static const struct call_edge_at calls[] = {
		{100, SERVE, false}, {200, READ, false}, {300, READ, true},
		{400, PARSE, false}, {500, PARSE, true}, {600, SERVE, true},
	};
	struct timeline *timeline = play(calls, ARRAY_SIZE(calls));

	assert_int_equal(timeline->threads[0].slice_cnt, 3);
	assert_slice(timeline, 0, "serve", 0, 100, 600, 0);
	assert_slice(timeline, 1, "read", 1, 200, 300, 0);
	assert_slice(timeline, 2, "parse", 1, 400, 500, 0);
	timeline_free(timeline);
}

/* The first one's begin was before all; the end of the second was lost; the last one has none yet. */
TEST(test_ends_and_begins_that_are_missing)
{
	static const struct call_edge_at calls[] = {
		{100, READ, false},  {200, READ, true},	 {300, SERVE, true}, {400, SERVE, false},
		{500, PARSE, false}, {600, SERVE, true}, {700, READ, false},
	};
	struct timeline *timeline = play(calls, ARRAY_SIZE(calls));

	assert_int_equal(timeline->threads[0].slice_cnt, 5);
	assert_slice(timeline, 0, "serve", 0, 100, 300, SLICE_INFERRED_START);
	assert_slice(timeline, 1, "read", 1, 100, 200, 0);
	assert_slice(timeline, 2, "serve", 0, 400, 600, 0);
	assert_slice(timeline, 3, "parse", 1, 500, 600, 0);
	assert_slice(timeline, 4, "read", 0, 700, 700, SLICE_OPEN_END);
	timeline_free(timeline);
}

/* An end within another call whose begin nobody saw is a gap, and ends nothing. */
TEST(test_an_end_alone_is_a_gap)
{
	static const struct call_edge_at calls[] = {
		{100, SERVE, false}, {200, PARSE, true}, {300, SERVE, true}};
	struct timeline *timeline = play(calls, ARRAY_SIZE(calls));

	assert_int_equal(timeline->threads[0].slice_cnt, 1);
	assert_slice(timeline, 0, "serve", 0, 100, 300, 0);
	assert_int_equal(timeline_thread_gaps(&timeline->threads[0]), 1);
	assert_int_equal(timeline->threads[0].instants[0].time_ns, 200);
	timeline_free(timeline);
}

/*
 * In a snapshot the calls of all threads stand together, and those of another processor's buffer may come
 * late.
 */
TEST(test_calls_of_a_snapshot)
{
	static const struct call calls[] = {
		{.time_ns = 1000, .ip = SERVE, .pid = 1, .tid = 1},
		{.time_ns = 5000, .ip = SERVE, .pid = 1, .tid = 1, .edge = CALL_END},
		{.time_ns = 3000, .ip = READ, .pid = 1, .tid = 2, .edge = CALL_END},
		{.time_ns = 2000, .ip = READ, .pid = 1, .tid = 2},
	};
	struct snapshot *snapshot;
	struct decoded *decoded;
	const struct timeline *timeline;

	assert_ok(snapshot_new(&snapshot));
	snapshot->command = strdup("toy");
	snapshot->clock.mult = 1;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		assert_ok(ARRAY_PUSH(snapshot->calls, snapshot->call_cnt, snapshot->call_cap, calls[i]));
	assert_ok(decode_snapshot(&decoded, snapshot, &(struct decode_config){0}));
	timeline = decoded_timeline(decoded);
	assert_int_equal(timeline->thread_cnt, 2);
	assert_int_equal(timeline->base_ns, 1000);
	assert_int_equal(timeline->threads[0].tid, 1);
	assert_int_equal(timeline->threads[0].slices[0].start_ns, 0);
	assert_int_equal(timeline->threads[0].slices[0].end_ns, 4000);
	assert_int_equal(timeline->threads[1].slice_cnt, 1);
	assert_int_equal(timeline->threads[1].slices[0].start_ns, 1000);
	assert_int_equal(timeline->threads[1].slices[0].end_ns, 2000);
	decoded_free(decoded);
	snapshot_free(snapshot);
}

TEST_MAIN(NULL, NULL)
