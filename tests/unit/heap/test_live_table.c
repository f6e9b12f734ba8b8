/* SPDX-License-Identifier: BSD-2-Clause */
/* Against an array that holds the same. */
#include "heap/live_table.h"

#include <stdbool.h>

#include "assertions.h"

enum { ADDRESSES = 5000, STEPS = 200000 };

TEST(test_random)
{
	static bool there[ADDRESSES];
	struct live_table table = {0};
	uint32_t number = 1;
	size_t cnt = 0;

	assert_null(live_table_find(&table, 16));
	live_table_remove(&table, 16);
	for (int i = 0; i < STEPS; i++) {
		uint64_t nth, address;
		const struct live_alloc *found;

		number = number * 1664525 + 1013904223;
		nth = (number >> 8) % ADDRESSES;
		address = 0x7f0000000000 + 16 * nth;
		found = live_table_find(&table, address);
		assert_int_equal(found != NULL, there[nth]);
		if (found) {
			assert_int_equal(found->id, nth);
			assert_int_equal(found->began_ns, 2 * nth);
			live_table_remove(&table, address);
		} else {
			assert_ok(live_table_add(&table, &(struct live_alloc){address, 2 * nth, nth}));
		}
		there[nth] = !there[nth];
		cnt += there[nth] ? 1 : (size_t)-1;
		assert_int_equal(table.cnt, cnt);
	}
	for (uint64_t nth = 0; nth < ADDRESSES; nth++)
		assert_int_equal(live_table_find(&table, 0x7f0000000000 + 16 * nth) != NULL, there[nth]);
	live_table_release(&table);
}

TEST_MAIN(NULL, NULL)
