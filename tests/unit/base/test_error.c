/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

TEST(test_sentences)
{
	fail_reset();
	assert_string_equal(fail_message(-ENOENT), strerror(ENOENT));
	assert_int_equal(fail(-EINVAL, "bad %s", "thing"), -EINVAL);
	assert_string_equal(fail_message(-EINVAL), "bad thing");
	assert_int_equal(fail_errno(-ENOSPC, "cannot write %s", "x"), -ENOSPC);
	assert_string_equal(fail_message(-ENOSPC), "cannot write x: No space left on device");
}

/* The arguments of a new sentence may be the old one. */
TEST(test_prefix)
{
	fail(-EINVAL, "inner");
	assert_int_equal(fail_prefix(-EINVAL, "outer %d", 7), -EINVAL);
	assert_string_equal(fail_message(-EINVAL), "outer 7: inner");
	fail(-EINVAL, "again: %s", fail_message(-EINVAL));
	assert_string_equal(fail_message(-EINVAL), "again: outer 7: inner");
}

TEST(test_long_sentence_is_cut)
{
	char text[5000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	fail(-EINVAL, "%s", text);
	assert_int_equal(strlen(fail_message(-EINVAL)), 2047);
	fail_prefix(-EINVAL, "%s", text);
	assert_int_equal(strlen(fail_message(-EINVAL)), 2047);
}

TEST_MAIN(NULL, NULL)
