/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include "base/spill.h"
#include "stacks/moments.h"

static uint64_t twice(void *ctx, uint64_t tsc)
{
	(void)ctx;
	return 2 * tsc;
}

static uint64_t *to_ns(const struct moments *moments, const uint64_t *begins, size_t cnt, uint64_t end)
{
	uint8_t *uses = spill_calloc(64, 1);
	uint64_t *ns;

	assert_non_null(uses);
	for (size_t i = 0; i < cnt; i++)
		uses[begins[i]] = MOMENT_USED | MOMENT_TAKES;
	uses[end] |= MOMENT_USED;
	assert_ok(moments_to_ns(moments, uses, twice, NULL, &ns));
	spill_free(uses);
	return ns;
}

/*
 * 100 ns among three, of which an integer part each; a stamp at which nothing happens does not end the
 * sharing.
 */
static void test_sharing(void **state)
{
	struct moments moments = {0};
	uint64_t begins[3], *ns, end;

	(void)state;
	moments_see(&moments, 50);
	for (int i = 0; i < 3; i++)
		begins[i] = moments_reserve(&moments);
	moments_see(&moments, 70);
	moments_reserve(&moments);
	moments_see(&moments, 100);
	end = moments_now(&moments);
	ns = to_ns(&moments, begins, 3, end);
	assert_int_equal(ns[begins[0]], 100);
	assert_int_equal(ns[begins[1]], 133);
	assert_int_equal(ns[begins[2]], 166);
	assert_int_equal(ns[end], 200);
	spill_free(ns);
	moments_release(&moments);
}

/* What came before a barrier has no share of the time behind it. */
static void test_barrier(void **state)
{
	struct moments moments = {0};
	uint64_t begins[2], *ns, barrier, end;

	(void)state;
	moments_see(&moments, 50);
	begins[0] = moments_reserve(&moments);
	barrier = moments_barrier(&moments);
	begins[1] = moments_reserve(&moments);
	moments_see(&moments, 60);
	end = moments_now(&moments);
	ns = to_ns(&moments, begins, 2, end);
	assert_int_equal(ns[begins[0]], 100);
	assert_int_equal(ns[barrier], 100);
	assert_int_equal(ns[begins[1]], 100);
	assert_int_equal(ns[end], 120);
	spill_free(ns);
	moments_release(&moments);
}

/* Times that run back stand still, also from one part to the next, and a stamp may go on there. */
static void test_append(void **state)
{
	struct moments moments = {0}, later = {0};
	struct stamp_reader stamps;
	uint64_t begins[3], offset, *ns, end;

	(void)state;
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
	ns = to_ns(&moments, begins, 3, end);
	assert_int_equal(ns[begins[0]], 100);
	assert_int_equal(ns[begins[1]], 120);
	assert_int_equal(ns[begins[2]], 140);
	assert_int_equal(ns[end], 160);
	spill_free(ns);
	moments_release(&moments);
	moments_release(&later);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sharing),
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_append),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
