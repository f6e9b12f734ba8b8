/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A single malloc() costs a header, rounding, and time to free. So items share blocks of BLOCK bytes. A
 * larger item gets a block of its own, linked after the newest one, so that the rest of the newest is still
 * used.
 */
#include "base/containers/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { BLOCK = 1 << 20 };

struct arena_block {
	struct arena_block *older;
	size_t used, size;
	uint64_t words[];
};

static struct arena_block *new_block(struct arena *arena, size_t size)
{
	struct arena_block *block, **at = &arena->blocks;

	if (size > SIZE_MAX - sizeof(*block))
		return NULL;
	block = malloc(sizeof(*block) + (size > BLOCK ? size : BLOCK));
	if (!block)
		return NULL;
	if (size > BLOCK && *at)
		at = &(*at)->older;
	*block = (struct arena_block){.older = *at, .size = size > BLOCK ? size : BLOCK};
	*at = block;
	return block;
}

void *arena_take(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->blocks;
	char *at;

	if (size > SIZE_MAX - sizeof(uint64_t))
		return NULL;
	size = (size + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
	if (!block || size > block->size - block->used)
		block = new_block(arena, size);
	if (!block)
		return NULL;
	at = (char *)block->words + block->used;
	block->used += size;
	return at;
}

void arena_release(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *block = arena->blocks;

		arena->blocks = block->older;
		free(block);
	}
}

/* ---- words ---- */

int word_pool_add(struct word_pool *pool, const uint64_t *words, size_t cnt, size_t *ret_nth)
{
	struct word_run run = {.cnt = cnt};
	uint64_t hash = cnt, *copy;

	for (size_t i = 0; i < cnt; i++)
		hash = hash_number(hash, words[i]);
	for (size_t at = 0; (*ret_nth = hash_index_next(&pool->index, hash, &at)) != HASH_INDEX_END;)
		if (pool->runs[*ret_nth].cnt == cnt &&
		    !memcmp(pool->runs[*ret_nth].words, words, cnt * sizeof(*words)))
			return 0;
	copy = arena_take(&pool->arena, cnt * sizeof(*words));
	if (!copy)
		return -ENOMEM;
	memcpy(copy, words, cnt * sizeof(*words));
	run.words = copy;
	*ret_nth = pool->cnt;
	if (ARRAY_PUSH(pool->runs, pool->cnt, pool->cap, run))
		return -ENOMEM;
	if (hash_index_add(&pool->index, hash, *ret_nth)) {
		pool->cnt--;
		return -ENOMEM;
	}
	return 0;
}

const uint64_t *word_pool_keep(struct word_pool *pool, const uint64_t *words, size_t cnt)
{
	size_t nth;

	return word_pool_add(pool, words, cnt, &nth) ? NULL : pool->runs[nth].words;
}

void word_pool_release(struct word_pool *pool)
{
	arena_release(&pool->arena);
	hash_index_release(&pool->index);
	free(pool->runs);
	*pool = (struct word_pool){0};
}

void word_pool_free(struct word_pool *pool)
{
	if (pool)
		word_pool_release(pool);
	free(pool);
}
