/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include "timeline/estimate.h"

enum { MS = 1000000 };

/*
 * Wilson's interval of 0 of 10, 1 of 10, 50 of 100, 10 of 10: statsmodels, proportion_confint(k, n,
 * method="wilson").
 */
TEST(test_known_values)
{
	struct interval interval = estimate_interval(0, 10ull * MS, MS);

	assert_int_equal(interval.low_ns, 0);
	assert_in_range(interval.high_ns, 2775327, 2775329);
	interval = estimate_interval(MS, 10ull * MS, MS);
	assert_in_range(interval.low_ns, 178761, 178763);
	assert_in_range(interval.high_ns, 4041499, 4041501);
	interval = estimate_interval(50ull * MS, 100ull * MS, MS);
	assert_in_range(interval.low_ns, 40383152, 40383154);
	assert_in_range(interval.high_ns, 59616846, 59616848);
	interval = estimate_interval(10ull * MS, 10ull * MS, MS);
	assert_in_range(interval.low_ns, 7224671, 7224673);
	assert_int_equal(interval.high_ns, 10 * MS);
}

TEST(test_exact_times)
{
	struct interval interval = estimate_interval(123, 1000, 0);

	assert_int_equal(interval.low_ns, 123);
	assert_int_equal(interval.high_ns, 123);
	interval = estimate_interval(0, 0, MS);
	assert_int_equal(interval.high_ns, 0);
}

/*
 * A function takes a share of the time and is sampled at random moments: how often the interval holds the
 * truth.
 */
TEST(test_as_often_as_it_says)
{
	static const uint64_t shares[] = {1, 5, 20, 50, 90};
	uint64_t seed = 1;

	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		int within = 0;

		for (int round = 0; round < 2000; round++) {
			uint64_t seen = 0, truth = shares[i] * 10 * MS;
			struct interval interval;

			for (int sample = 0; sample < 1000; sample++) {
				seed ^= seed << 13;
				seed ^= seed >> 7;
				seed ^= seed << 17;
				seen += seed % 100 < shares[i];
			}
			interval = estimate_interval(seen * MS, 1000ull * MS, MS);
			within += interval.low_ns <= truth && truth <= interval.high_ns;
		}
		assert_in_range(within, 1860, 1960);
	}
}

TEST_MAIN(NULL, NULL)
