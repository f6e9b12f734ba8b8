/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds items of an array by a hash of what they are called. The array is the owner's; this holds hashes and
 * indices.
 *
 *	for (size_t at = 0, i; (i = hash_index_next(&index, hash, &at)) != HASH_INDEX_END;)
 *		if (!strcmp(items[i].name, name))
 *			return &items[i];
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HASH_INDEX_END SIZE_MAX

/* All zero at the beginning. */
struct hash_index {
	struct hash_index_slot {
		uint64_t hash;
		size_t item; /* one more than its index; 0: free */
	} * slots;
	size_t cnt, cap;
};

/* A place for the address in a table of 2^bits, in which the newest one takes it. */
static inline size_t hash_place(const void *address, unsigned int bits)
{
	return (uintptr_t)address * 0x9e3779b97f4a7c15 >> (64 - bits);
}

/*
 * The next item with this hash, HASH_INDEX_END after the last. Set *at to 0 before the first call; leave it
 * alone afterwards.
 */
size_t hash_index_next(const struct hash_index *index, uint64_t hash, size_t *at);

/* That hash will soon be looked for or added: its place comes into the processor's cache meanwhile. */
static inline void hash_index_prefetch(const struct hash_index *index, uint64_t hash)
{
	if (index->cap)
		__builtin_prefetch(&index->slots[hash & (index->cap - 1)]);
}

/* So many can be added at once, as fast as can be. 0 or -ENOMEM. */
int hash_index_reserve(struct hash_index *index, size_t cnt);

/* 0, or -ENOMEM with nothing added. */
int hash_index_add(struct hash_index *index, uint64_t hash, size_t item);

/* Removes all; as many can be added again without an error. */
void hash_index_clear(struct hash_index *index);

void hash_index_release(struct hash_index *index);

/* Add a text or a number to `hash`, which is 0 at first. No two numbers have the same hash alone. */
uint64_t hash_text(uint64_t hash, const char *text);
uint64_t hash_number(uint64_t hash, uint64_t number);
