/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory for many small things that live and die together: taken from large blocks, never given back one by
 * one. What was taken stays where it is. Words that are the same can be kept once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/hash_index.h"

/* All zero at the beginning. */
struct arena {
	struct arena_block *blocks; /* the newest first */
};

/* `size` bytes, aligned as uint64_t, not cleared; NULL: no memory. They are the arena's. */
void *arena_take(struct arena *arena, size_t size);
void arena_release(struct arena *arena);

/* Runs of words, each kept once. All zero at the beginning. */
struct word_pool {
	struct arena arena;
	struct hash_index index;
	struct word_run *runs;
	size_t cnt, cap;
};

/* The pool's copy of the `cnt` words, the same for the same words; NULL: no memory. */
const uint64_t *word_pool_keep(struct word_pool *pool, const uint64_t *words, size_t cnt);
void word_pool_release(struct word_pool *pool);
