/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include <stdbool.h>

#include "base/containers/hash_index.h"

static bool has(const struct hash_index *index, uint64_t hash, size_t item)
{
	for (size_t at = 0, i; (i = hash_index_next(index, hash, &at)) != HASH_INDEX_END;)
		if (i == item)
			return true;
	return false;
}

TEST(test_empty)
{
	struct hash_index index = {0};
	size_t at = 0;

	assert_true(hash_index_next(&index, 0, &at) == HASH_INDEX_END);
	hash_index_release(&index);
}

/* Many items, each found under its own hash only; those of one hash all. */
TEST(test_many)
{
	enum { ITEMS = 10000, HASHES = 1000 };
	struct hash_index index = {0};

	for (size_t i = 0; i < ITEMS; i++)
		assert_ok(hash_index_add(&index, hash_number(0, i % HASHES), i));
	for (size_t hash = 0; hash < HASHES; hash++) {
		size_t at = 0, cnt = 0;

		for (size_t i; (i = hash_index_next(&index, hash_number(0, hash), &at)) != HASH_INDEX_END;
		     cnt++)
			assert_int_equal(i % HASHES, hash);
		assert_int_equal(cnt, ITEMS / HASHES);
	}
	assert_true(has(&index, hash_number(0, 7), 1007));
	assert_false(has(&index, hash_number(0, 7), 1008));
	assert_false(has(&index, hash_number(0, HASHES), 0));
	assert_ok(hash_index_reserve(&index, 10 * ITEMS));
	hash_index_prefetch(&index, hash_number(0, 7));
	assert_true(has(&index, hash_number(0, 7), 1007));
	hash_index_clear(&index);
	assert_false(has(&index, hash_number(0, 7), 1007));
	assert_ok(hash_index_add(&index, hash_number(0, 7), 3));
	assert_true(has(&index, hash_number(0, 7), 3));
	hash_index_release(&index);
}

TEST(test_hashes)
{
	assert_true(hash_text(0, "f") == hash_text(0, "f"));
	assert_true(hash_text(0, "f") != hash_text(0, "g"));
	assert_true(hash_text(hash_text(0, "a"), "b") != hash_text(hash_text(0, "b"), "a"));
	assert_true(hash_number(0, 0) != hash_number(0, 1));
}

TEST_MAIN(NULL, NULL)
