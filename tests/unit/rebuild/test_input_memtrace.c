/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An allocation trace is an input as recordings are, and becomes the timeline that
 * heap/heap_timeline.h makes of it.
 */
#include "unit/heap/random_traces.h"

#include "heap/heap_timeline.h"
#include "rebuild/decode.h"

enum { SEEDS = 3 };

static void assert_same(const struct timeline *a, const struct timeline *b)
{
	assert_int_equal(a->thread_cnt, b->thread_cnt);
	assert_string_equal(a->source, b->source);
	assert_int_equal(a->base_realtime_ns, b->base_realtime_ns);
	assert_int_equal(a->counter_cnt, b->counter_cnt);
	for (size_t i = 0; i < a->thread_cnt; i++) {
		const struct timeline_thread *left = &a->threads[i], *right = &b->threads[i];

		assert_int_equal(left->slice_cnt, right->slice_cnt);
		assert_int_equal(left->instant_cnt, right->instant_cnt);
		for (size_t j = 0; j < left->slice_cnt; j++) {
			assert_string_equal(slice_name(&left->slices[j]), slice_name(&right->slices[j]));
			assert_int_equal(left->slices[j].start_ns, right->slices[j].start_ns);
			assert_int_equal(left->slices[j].end_ns, right->slices[j].end_ns);
		}
	}
}

TEST(test_random)
{
	static const struct decode_config config = {.stored = true};

	for (unsigned int seed = 0; seed < SEEDS; seed++) {
		struct memtrace_shown *shown;
		struct decoded *decoded;
		struct memtrace *trace;
		struct made made;

		make_trace(&made, 700 + seed);
		assert_ok(memtrace_load(&trace, made.path, NULL));
		assert_ok(memtrace_show(&shown, trace));
		assert_ok(decode_file(&decoded, made.path, &config));
		assert_true(decoded_slice_cnt(decoded) > 0);
		assert_same(decoded_timeline(decoded), memtrace_shown_timeline(shown));
		decoded_free(decoded);
		memtrace_shown_free(shown);
		memtrace_free(trace);
		unlink(made.path);
	}
}

TEST(test_damaged)
{
	static const uint8_t zeros[64];
	static const struct decode_config config = {0};
	struct decoded *decoded;
	struct made made;
	FILE *file;

	make_trace(&made, 1);
	file = fopen(made.path, "r+");
	assert_non_null(file);
	assert_int_equal(fseek(file, 8, SEEK_SET), 0);
	assert_int_equal(fwrite(zeros, sizeof(zeros), 1, file), 1);
	fclose(file);
	assert_err(decode_file(&decoded, made.path, &config), -EBADMSG, made.path);
	unlink(made.path);
}

TEST_MAIN(NULL, NULL)
