/* SPDX-License-Identifier: BSD-2-Clause */
/* Open addressing, at most two thirds full; items are never removed. */
#include "base/containers/hash_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CAP_FIRST = 64 };

size_t hash_index_next(const struct hash_index *index, uint64_t hash, size_t *at)
{
	while (index->cap) {
		const struct hash_index_slot *slot = &index->slots[(hash + (*at)++) & (index->cap - 1)];

		if (!slot->item)
			break;
		if (slot->hash == hash)
			return slot->item - 1;
	}
	return HASH_INDEX_END;
}

static void put(struct hash_index *index, struct hash_index_slot slot)
{
	size_t at = slot.hash & (index->cap - 1);

	while (index->slots[at].item)
		at = (at + 1) & (index->cap - 1);
	index->slots[at] = slot;
}

static int grow_to(struct hash_index *index, size_t cap)
{
	struct hash_index grown = {.cnt = index->cnt, .cap = cap};

	grown.slots = calloc(grown.cap, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < index->cap; i++)
		if (index->slots[i].item)
			put(&grown, index->slots[i]);
	free(index->slots);
	*index = grown;
	return 0;
}

int hash_index_reserve(struct hash_index *index, size_t cnt)
{
	size_t cap = index->cap ? index->cap : CAP_FIRST;

	while (3 * cnt > 2 * cap)
		cap *= 2;
	return cap > index->cap ? grow_to(index, cap) : 0;
}

int hash_index_add(struct hash_index *index, uint64_t hash, size_t item)
{
	int err = hash_index_reserve(index, index->cnt + 1);

	if (err)
		return err;
	put(index, (struct hash_index_slot){hash, item + 1});
	index->cnt++;
	return 0;
}

void hash_index_clear(struct hash_index *index)
{
	if (index->cap)
		memset(index->slots, 0, index->cap * sizeof(*index->slots));
	index->cnt = 0;
}

void hash_index_release(struct hash_index *index)
{
	free(index->slots);
	*index = (struct hash_index){0};
}

uint64_t hash_number(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32;
}

uint64_t hash_text(uint64_t hash, const char *text)
{
	while (*text)
		hash = (hash ^ (unsigned char)*text++) * 0x100000001b3;
	return hash_number(hash, 0);
}
