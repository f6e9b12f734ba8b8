/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/spill.h"
#include "model/slice_cursor.h"
#include "stacks/off_cpu.h"

static struct timeline_thread make(const struct slice *slices, size_t cnt)
{
	struct timeline_thread thread = {.slice_cnt = cnt};

	assert_int_equal(spill_reserve(&thread.slices, &thread.slice_cap, cnt, sizeof(*slices)), 0);
	memcpy(thread.slices, slices, cnt * sizeof(*slices));
	return thread;
}

static void assert_slice(const struct slice *slice, uint64_t start, uint64_t end, uint32_t depth,
			 enum slice_kind kind)
{
	assert_int_equal(slice->start_ns, start);
	assert_int_equal(slice->end_ns, end);
	assert_int_equal(slice->depth, depth);
	assert_int_equal(slice->kind, kind);
}

TEST(test_within_pauses)
{
	const struct slice slices[] = {
		{.start_ns = 0, .end_ns = 100, .kind = SLICE_CALL},
		{.start_ns = 10, .end_ns = 20, .depth = 1, .kind = SLICE_SYSCALL},
		{.start_ns = 30, .end_ns = 40, .depth = 1, .kind = SLICE_CALL},
		{.start_ns = 32, .end_ns = 36, .depth = 2, .kind = SLICE_UNTRACED},
		{.start_ns = 50, .end_ns = 60, .depth = 1, .kind = SLICE_SYSCALL},
		{.start_ns = 90, .end_ns = 100, .depth = 1, .kind = SLICE_UNTRACED, .flags = SLICE_OPEN_END},
	};
	/*
	 * Clocks disagree a little: the second begins before its pause; the third is in none. Two are in one.
	 * The last has no end.
	 */
	const struct off_cpu times[] = {{12, 18}, {31, 35}, {45, 47}, {51, 53}, {55, 65}, {95, UINT64_MAX}};
	struct timeline_thread thread = make(slices, ARRAY_SIZE(slices));

	assert_ok(off_cpu_add(&thread, times, ARRAY_SIZE(times)));
	assert_int_equal(thread.slice_cnt, 11);
	assert_slice(&thread.slices[2], 12, 18, 2, SLICE_OFF_CPU);
	assert_slice(&thread.slices[5], 32, 35, 3, SLICE_OFF_CPU);
	assert_slice(&thread.slices[7], 51, 53, 2, SLICE_OFF_CPU);
	assert_slice(&thread.slices[8], 55, 60, 2, SLICE_OFF_CPU);
	assert_slice(&thread.slices[10], 95, 100, 2, SLICE_OFF_CPU);
	assert_int_equal(thread.slices[10].flags, SLICE_OPEN_END);
	assert_true(timeline_is_valid(&(struct timeline){.threads = &thread, .thread_cnt = 1}));
	assert_string_equal(slice_name(&thread.slices[2]), "[off-cpu]");
	timeline_thread_release(&thread);
}

/* A pause without a switch stays as it is; one absence may span several pauses. */
TEST(test_several_pauses)
{
	const struct slice slices[] = {
		{.start_ns = 0, .end_ns = 10, .kind = SLICE_UNTRACED},
		{.start_ns = 10, .end_ns = 20, .kind = SLICE_SYSCALL},
		{.start_ns = 30, .end_ns = 40, .kind = SLICE_SYSCALL},
	};
	const struct off_cpu times[] = {{5, 15}};
	struct timeline_thread thread = make(slices, ARRAY_SIZE(slices));

	assert_ok(off_cpu_add(&thread, times, ARRAY_SIZE(times)));
	assert_int_equal(thread.slice_cnt, 5);
	assert_slice(&thread.slices[1], 5, 10, 1, SLICE_OFF_CPU);
	assert_slice(&thread.slices[3], 10, 15, 1, SLICE_OFF_CPU);
	timeline_thread_release(&thread);
}

/* ---- where slices are stored ---- */

/* The slices of a thread in an array, as if they were elsewhere. */
struct elsewhere {
	struct stored_slices slices;
	struct timeline_thread thread;
};

static int begin(const struct stored_slices *slices, void **ret_pass)
{
	struct slice_cursor *cursor = calloc(1, sizeof(*cursor));

	assert_non_null(cursor);
	assert_ok(slice_cursor_begin(cursor, &((const struct elsewhere *)slices)->thread));
	*ret_pass = cursor;
	return 0;
}

static const struct slice *next(void *pass, int *ret_err)
{
	(void)ret_err;
	return slice_cursor_next(pass);
}

static void end(void *pass)
{
	assert_ok(slice_cursor_end(pass, 0));
	free(pass);
}

static void release(struct stored_slices *slices)
{
	timeline_thread_release(&((struct elsewhere *)slices)->thread);
	free(slices);
}

static struct timeline_thread make_stored(const struct slice *slices, size_t cnt)
{
	static const struct stored_ops ops = {.begin = begin, .next = next, .end = end, .free = release};
	struct elsewhere *elsewhere = calloc(1, sizeof(*elsewhere));

	assert_non_null(elsewhere);
	elsewhere->slices = (struct stored_slices){.cnt = cnt, .ops = &ops};
	elsewhere->thread = make(slices, cnt);
	return (struct timeline_thread){.stored = &elsewhere->slices};
}

/* They stay so until they become an array, and have the same slices among them. */
TEST(test_stored)
{
	const struct slice slices[] = {
		{.start_ns = 0, .end_ns = 100},
		{.start_ns = 10, .end_ns = 20, .depth = 1, .kind = SLICE_SYSCALL},
		{.start_ns = 30, .end_ns = 50, .depth = 1},
		{.start_ns = 30, .end_ns = 40, .depth = 2, .kind = SLICE_UNTRACED},
	};
	const struct off_cpu times[] = {{12, 14}, {15, 35}, {90, UINT64_MAX}};
	struct timeline_thread array = make(slices, ARRAY_SIZE(slices));
	struct timeline_thread stored = make_stored(slices, ARRAY_SIZE(slices));

	assert_ok(off_cpu_add(&array, times, ARRAY_SIZE(times)));
	assert_ok(off_cpu_add(&stored, times, ARRAY_SIZE(times)));
	assert_int_equal(array.slice_cnt, 7);
	assert_non_null(stored.stored);
	assert_int_equal(timeline_thread_slice_cnt(&stored), array.slice_cnt);
	assert_ok(timeline_thread_load(&stored));
	assert_null(stored.stored);
	assert_int_equal(timeline_thread_slice_cnt(&stored), array.slice_cnt);
	assert_memory_equal(stored.slices, array.slices, array.slice_cnt * sizeof(*array.slices));
	timeline_thread_release(&array);
	timeline_thread_release(&stored);
}

TEST_MAIN(NULL, NULL)
