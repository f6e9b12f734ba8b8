/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the trace has told about codes. A code is told again when writers have forgotten that they told it,
 * and must stand for the same then.
 */
#pragma once

#include "base/hash_index.h"
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
	/* Locations stay where they are; the last block has room for block_left more. */
	struct memtrace_location **blocks;
	size_t block_cnt, block_cap, block_left;
};

/* The locations are copied, their texts are not. -EEXIST: it stands for something else. -ENOMEM. */
int code_table_add(struct code_table *table, uint64_t code, const struct memtrace_location *locations,
		   size_t cnt);

/* NULL: nothing was told. */
const struct known_code *code_table_find(const struct code_table *table, uint64_t code);

void code_table_release(struct code_table *table);
