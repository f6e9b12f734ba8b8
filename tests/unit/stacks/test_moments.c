/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include "base/array.h"
#include "stacks/stacks_internal.h"

static uint64_t twice(void *ctx, uint64_t tsc)
{
	(void)ctx;
	return 2 * tsc;
}

/* Slices that begin at these moments, all of which end at `end`, and an instant, if any, get their times. */
static void to_ns(const struct moments *moments, uint64_t *begins, size_t cnt, uint64_t *end,
		  uint64_t *instant)
{
	const struct stacks_config config = {.time_ns = twice};
	struct timeline_thread thread = {0};
	struct slice_list slices = {0};

	for (size_t i = 0; i < cnt; i++) {
		const struct slice slice = {.start_ns = begins[i], .end_ns = *end, .depth = (uint32_t)i};

		assert_ok(slice_list_push(&slices, &slice));
	}
	if (instant)
		assert_ok(ARRAY_PUSH(thread.instants, thread.instant_cnt, thread.instant_cap,
				     ((struct instant){.time_ns = *instant})));
	assert_ok(thread_finish(&thread, &slices, moments, &config));
	for (size_t i = 0; i < cnt; i++) {
		begins[i] = thread.slices[i].start_ns;
		*end = thread.slices[i].end_ns;
	}
	if (instant)
		*instant = thread.instants[0].time_ns;
	timeline_thread_release(&thread);
}

/*
 * 100 ns among three, of which an integer part each; a stamp at which nothing happens does not end the
 * sharing.
 */
TEST(test_sharing)
{
	struct moments moments = {0};
	uint64_t begins[3], end;

	moments_see(&moments, 50);
	for (int i = 0; i < 3; i++)
		begins[i] = moments_reserve(&moments);
	moments_see(&moments, 70);
	moments_reserve(&moments);
	moments_see(&moments, 100);
	end = moments_now(&moments);
	to_ns(&moments, begins, 3, &end, NULL);
	assert_int_equal(begins[0], 100);
	assert_int_equal(begins[1], 133);
	assert_int_equal(begins[2], 166);
	assert_int_equal(end, 200);
	moments_release(&moments);
}

/* What came before a barrier has no share of the time behind it. */
TEST(test_barrier)
{
	struct moments moments = {0};
	uint64_t begins[2], barrier, end;

	moments_see(&moments, 50);
	begins[0] = moments_reserve(&moments);
	barrier = moments_barrier(&moments);
	begins[1] = moments_reserve(&moments);
	moments_see(&moments, 60);
	end = moments_now(&moments);
	to_ns(&moments, begins, 2, &end, &barrier);
	assert_int_equal(begins[0], 100);
	assert_int_equal(barrier, 100);
	assert_int_equal(begins[1], 100);
	assert_int_equal(end, 120);
	moments_release(&moments);
}

/* Times that run back stand still, also from one part to the next, and a stamp may go on there. */
TEST(test_append)
{
	struct moments moments = {0}, later = {0};
	struct stamp_reader stamps;
	uint64_t begins[3], offset, end;

	moments_see(&moments, 50);
	moments_see(&moments, 40);
	begins[0] = moments_reserve(&moments);
	moments_see(&later, 45);
	begins[1] = moments_reserve(&later);
	moments_see(&later, 50);
	begins[2] = moments_reserve(&later);
	moments_see(&later, 80);
	end = moments_now(&later);
	assert_ok(moments_append(&moments, &later, &offset));
	begins[1] += offset;
	begins[2] += offset;
	end += offset;
	assert_ok(stamp_reader_begin(&stamps, &moments.stamps));
	assert_int_equal(moments_tsc(&moments, &stamps, begins[2]), 50);
	assert_int_equal(moments_tsc(&moments, &stamps, end), 80);
	stamp_reader_end(&stamps);
	to_ns(&moments, begins, 3, &end, NULL);
	assert_int_equal(begins[0], 100);
	assert_int_equal(begins[1], 120);
	assert_int_equal(begins[2], 140);
	assert_int_equal(end, 160);
	moments_release(&moments);
	moments_release(&later);
}

TEST_MAIN(NULL, NULL)
