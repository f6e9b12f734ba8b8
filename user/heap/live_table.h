/* SPDX-License-Identifier: BSD-2-Clause */
/* The live recorded allocations, by address. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct live_alloc {
	uint64_t address; /* never 0 */
	uint64_t began_ns;
	uint64_t id; /* in the trace */
};

/* All 0 at the beginning. */
struct live_table {
	struct live_alloc *slots;
	size_t cnt, cap;
};

/* The allocation at `address`, valid until the table changes; NULL: none. */
const struct live_alloc *live_table_find(const struct live_table *table, uint64_t address);

/* Adds an allocation, whose address is not in the table. 0 or -ENOMEM. */
int live_table_add(struct live_table *table, const struct live_alloc *alloc);

/* Removes the address, if it is there. */
void live_table_remove(struct live_table *table, uint64_t address);
void live_table_release(struct live_table *table);
