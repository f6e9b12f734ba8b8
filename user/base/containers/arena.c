/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A single malloc() costs a header, rounding, and time to free. So items share blocks of BLOCK bytes. A
 * larger item gets a block of its own, linked after the newest one, so that the rest of the newest is still
 * used.
 */
#include "base/containers/arena.h"

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

struct word_run {
	const uint64_t *words;
	size_t cnt;
};

const uint64_t *word_pool_keep(struct word_pool *pool, const uint64_t *words, size_t cnt)
{
	struct word_run run = {.cnt = cnt};
	uint64_t hash = cnt, *copy;

	for (size_t i = 0; i < cnt; i++)
		hash = hash_number(hash, words[i]);
	for (size_t at = 0, i; (i = hash_index_next(&pool->index, hash, &at)) != HASH_INDEX_END;)
		if (pool->runs[i].cnt == cnt && !memcmp(pool->runs[i].words, words, cnt * sizeof(*words)))
			return pool->runs[i].words;
	copy = arena_take(&pool->arena, cnt * sizeof(*words));
	if (!copy)
		return NULL;
	memcpy(copy, words, cnt * sizeof(*words));
	run.words = copy;
	if (ARRAY_PUSH(pool->runs, pool->cnt, pool->cap, run))
		return NULL;
	if (hash_index_add(&pool->index, hash, pool->cnt - 1)) {
		pool->cnt--;
		return NULL;
	}
	return run.words;
}

void word_pool_release(struct word_pool *pool)
{
	arena_release(&pool->arena);
	hash_index_release(&pool->index);
	free(pool->runs);
	*pool = (struct word_pool){0};
}
