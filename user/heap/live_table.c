/* SPDX-License-Identifier: BSD-2-Clause */
/* Open addressing, at most half full. A removal leaves no mark: later items that it had displaced move up. */
#include "heap/live_table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/containers/hash_index.h"

enum { CAP_FIRST = 1024 };

static size_t place_of(const struct live_table *table, uint64_t address)
{
	return hash_number(0, address) & (table->cap - 1);
}

/* Where it is, or the free slot where it would be. */
static size_t seek(const struct live_table *table, uint64_t address)
{
	size_t at = place_of(table, address);

	while (table->slots[at].address && table->slots[at].address != address)
		at = (at + 1) & (table->cap - 1);
	return at;
}

const struct live_alloc *live_table_find(const struct live_table *table, uint64_t address)
{
	const struct live_alloc *found = table->cap ? &table->slots[seek(table, address)] : NULL;

	return found && found->address ? found : NULL;
}

static int grow(struct live_table *table)
{
	struct live_table grown = {.cnt = table->cnt, .cap = table->cap ? 2 * table->cap : CAP_FIRST};

	grown.slots = calloc(grown.cap, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < table->cap; i++)
		if (table->slots[i].address)
			grown.slots[seek(&grown, table->slots[i].address)] = table->slots[i];
	free(table->slots);
	*table = grown;
	return 0;
}

int live_table_add(struct live_table *table, const struct live_alloc *alloc)
{
	int err = 2 * table->cnt >= table->cap ? grow(table) : 0;

	if (err)
		return err;
	table->slots[seek(table, alloc->address)] = *alloc;
	table->cnt++;
	return 0;
}

void live_table_remove(struct live_table *table, uint64_t address)
{
	size_t mask = table->cap - 1, hole;

	if (!live_table_find(table, address))
		return;
	hole = seek(table, address);
	for (size_t at = (hole + 1) & mask; table->slots[at].address; at = (at + 1) & mask) {
		size_t wanted = place_of(table, table->slots[at].address);

		if (((at - wanted) & mask) < ((at - hole) & mask))
			continue;
		table->slots[hole] = table->slots[at];
		hole = at;
	}
	table->slots[hole] = (struct live_alloc){0};
	table->cnt--;
}

void live_table_release(struct live_table *table)
{
	free(table->slots);
	*table = (struct live_table){0};
}
