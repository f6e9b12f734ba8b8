/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the trace has told so far about codes. Writers may repeat a code; it must then have the same
 * locations.
 */
#pragma once

#include "base/containers/hash_index.h"
#include "ctf/event.h"

/* All zero at the beginning. */
struct code_table {
	struct known_code {
		uint64_t code;
		const struct memtrace_location *locations;
		size_t location_cnt;
	} * codes;
	size_t cnt, cap;
	struct hash_index index;
	/* Locations do not move; the last block has room for block_left more. */
	struct memtrace_location **blocks;
	size_t block_cnt, block_cap, block_left;
};

/* Adds a code. Copies the locations, not their texts. 0; -EEXIST: the code has other locations; -ENOMEM. */
int code_table_add(struct code_table *table, uint64_t code, const struct memtrace_location *locations,
		   size_t cnt);

/* NULL: the trace has not told this code. */
const struct known_code *code_table_find(const struct code_table *table, uint64_t code);

void code_table_release(struct code_table *table);
