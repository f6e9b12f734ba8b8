/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory for many small items that live and die together. Items come from large blocks and are freed only all
 * at once. An item never moves. A word pool keeps equal runs of words once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/containers/hash_index.h"

/* All zero at the beginning. */
struct arena {
	struct arena_block *blocks; /* the newest first */
};

/* `size` bytes, aligned as uint64_t, not cleared; owned by the arena. NULL: out of memory. */
void *arena_take(struct arena *arena, size_t size);
void arena_release(struct arena *arena);

/* Runs of words, each kept once. All zero at the beginning. */
struct word_pool {
	struct arena arena;
	struct hash_index index;
	struct word_run {
		const uint64_t *words;
		size_t cnt;
	} * runs; /* in the order in which they were first added */
	size_t cnt, cap;
};

/* *ret_nth is the index of the run; equal words have the same. 0 or -ENOMEM. */
int word_pool_add(struct word_pool *pool, const uint64_t *words, size_t cnt, size_t *ret_nth);

/* The pool's copy of the `cnt` words; equal words give the same pointer. NULL: out of memory. */
const uint64_t *word_pool_keep(struct word_pool *pool, const uint64_t *words, size_t cnt);
void word_pool_release(struct word_pool *pool);

/* One that is allocated by itself, or NULL. */
void word_pool_free(struct word_pool *pool);
