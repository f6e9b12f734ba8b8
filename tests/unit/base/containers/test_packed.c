/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/containers/packed.h"

#include "assertions.h"
#include "base/array.h"
#include "base/containers/arena.h"

static const uint64_t words[] = {0x1234, 0, 0x7f, UINT64_MAX, 0x7fff12345678};

TEST(test_layout)
{
	static const uint8_t expected[] = {0x02, 0x01, 0x34, 0x12, 0x7f};
	uint8_t bytes[PACKED_MAX(3)];

	assert_int_equal(packed_put(bytes, words, 3), sizeof(expected));
	assert_memory_equal(bytes, expected, sizeof(expected));
}

TEST(test_round_trip)
{
	uint8_t bytes[PACKED_MAX(ARRAY_SIZE(words))];
	uint64_t got[ARRAY_SIZE(words)];
	size_t size = packed_put(bytes, words, ARRAY_SIZE(words));

	assert_int_equal(packed_size(bytes, size, ARRAY_SIZE(words)), size);
	packed_get(bytes, got, ARRAY_SIZE(words));
	assert_memory_equal(got, words, sizeof(words));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		assert_int_equal(packed_nth(bytes, ARRAY_SIZE(words), i), words[i]);
}

TEST(test_damaged)
{
	uint8_t bytes[PACKED_MAX(ARRAY_SIZE(words))];
	size_t size = packed_put(bytes, words, ARRAY_SIZE(words));

	for (size_t room = 0; room < size; room++)
		assert_int_equal(packed_size(bytes, room, ARRAY_SIZE(words)), 0);
	bytes[1] = 0x09;
	assert_int_equal(packed_size(bytes, sizeof(bytes), ARRAY_SIZE(words)), 0);
}

TEST(test_pool)
{
	struct word_pool pool = {0};
	const uint64_t *first = word_pool_keep(&pool, words, 3), *other = word_pool_keep(&pool, words, 2);

	assert_non_null(first);
	assert_memory_equal(first, words, 3 * sizeof(*words));
	assert_ptr_equal(word_pool_keep(&pool, words, 3), first);
	assert_ptr_not_equal(other, first);
	assert_non_null(word_pool_keep(&pool, words, 0));
	for (uint64_t i = 0; i < 1 << 18; i++)
		assert_non_null(word_pool_keep(&pool, &i, 1));
	assert_memory_equal(first, words, 3 * sizeof(*words));
	word_pool_release(&pool);
}

TEST_MAIN(NULL, NULL)
