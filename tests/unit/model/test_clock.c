/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include "model/trace_params.h"

/* There and back: several ticks may have one time, the first of them is found. */
static void assert_there_and_back(const struct trace_clock *clock, uint64_t tsc)
{
	uint64_t ns = trace_clock_ns(clock, tsc), found = trace_clock_tsc(clock, ns);

	assert_in_range(found, tsc < 3 ? 0 : tsc - 3, tsc);
	assert_true(trace_clock_ns(clock, found) == ns);
}

TEST(test_clock_began_first)
{
	const struct trace_clock clock = {.mult = 827186803, .shift = 31, .zero = 6278117734};

	for (uint64_t tsc = 1; tsc < 1ull << 55; tsc += tsc / 3 + 1)
		assert_there_and_back(&clock, tsc);
}

/* The counter has run for 15 s, as it does while firmware starts: `zero` is negative. */
TEST(test_counter_began_first)
{
	const struct trace_clock clock = {.mult = 827186803, .shift = 31, .zero = 0 - 15126213667ull};

	for (uint64_t tsc = 39270000000; tsc < 1ull << 55; tsc += tsc / 3)
		assert_there_and_back(&clock, tsc);
}

TEST_MAIN(NULL, NULL)
