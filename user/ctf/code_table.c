/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctf/code_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { BLOCK_LOCATIONS = 1024 };

static bool is_same(const struct memtrace_location *a, const struct memtrace_location *b)
{
	return a->line == b->line && a->start_char == b->start_char && a->end_char == b->end_char &&
	       !strcmp(a->file, b->file) && !strcmp(a->function, b->function);
}

static int check_again(const struct known_code *code, const struct memtrace_location *locations, size_t cnt)
{
	if (code->location_cnt != cnt)
		return -EEXIST;
	for (size_t i = 0; i < cnt; i++)
		if (!is_same(&code->locations[i], &locations[i]))
			return -EEXIST;
	return 0;
}

/* A copy that stays. 0 < cnt <= BLOCK_LOCATIONS. */
static const struct memtrace_location *keep(struct code_table *table,
					    const struct memtrace_location *locations, size_t cnt)
{
	struct memtrace_location *block;

	if (cnt > table->block_left) {
		block = calloc(BLOCK_LOCATIONS, sizeof(*block));
		if (ARRAY_TAKE(table->blocks, table->block_cnt, table->block_cap, block))
			return NULL;
		table->block_left = BLOCK_LOCATIONS;
	}
	block = table->blocks[table->block_cnt - 1] + BLOCK_LOCATIONS - table->block_left;
	table->block_left -= cnt;
	return memcpy(block, locations, cnt * sizeof(*locations));
}

const struct known_code *code_table_find(const struct code_table *table, uint64_t code)
{
	uint64_t hash = hash_number(0, code);

	for (size_t at = 0, i; (i = hash_index_next(&table->index, hash, &at)) != HASH_INDEX_END;)
		if (table->codes[i].code == code)
			return &table->codes[i];
	return NULL;
}

int code_table_add(struct code_table *table, uint64_t code, const struct memtrace_location *locations,
		   size_t cnt)
{
	const struct known_code *known = code_table_find(table, code);
	struct known_code added = {.code = code, .location_cnt = cnt};
	int err;

	if (known)
		return check_again(known, locations, cnt);
	if (cnt)
		added.locations = keep(table, locations, cnt);
	if (cnt && !added.locations)
		return -ENOMEM;
	err = array_reserve(&table->codes, &table->cap, table->cnt + 1, sizeof(*table->codes));
	if (!err)
		err = hash_index_add(&table->index, hash_number(0, code), table->cnt);
	if (!err)
		table->codes[table->cnt++] = added;
	return err;
}

void code_table_release(struct code_table *table)
{
	for (size_t i = 0; i < table->block_cnt; i++)
		free(table->blocks[i]);
	free(table->blocks);
	free(table->codes);
	hash_index_release(&table->index);
	*table = (struct code_table){0};
}
