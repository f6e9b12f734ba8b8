/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include <stdatomic.h>

#include "base/parallel.h"

enum { JOBS = 1000 };

static atomic_int done[JOBS];

static int count(void *ctx, size_t i)
{
	(void)ctx;
	atomic_fetch_add(&done[i], 1);
	return 0;
}

static int fail_some(void *ctx, size_t i)
{
	(void)ctx;
	return i >= 10 ? fail(-EIO, "job %zu", i) : 0;
}

TEST(test_each_once)
{
	assert_int_equal(parallel_for(0, 4, count, NULL), 0);
	for (unsigned int threads = 0; threads < 5; threads++) {
		memset(done, 0, sizeof(done));
		assert_int_equal(parallel_for(JOBS, threads, count, NULL), 0);
		for (size_t i = 0; i < JOBS; i++)
			assert_int_equal(done[i], 1);
	}
}

/* The sentence of a worker's failure reaches the caller. */
TEST(test_failure)
{
	assert_int_equal(parallel_for(JOBS, 4, fail_some, NULL), -EIO);
	assert_int_equal(strncmp(fail_message(-EIO), "job ", 4), 0);
	assert_int_equal(parallel_for(JOBS, 1, fail_some, NULL), -EIO);
	assert_string_equal(fail_message(-EIO), "job 10");
}

TEST_MAIN(NULL, NULL)
