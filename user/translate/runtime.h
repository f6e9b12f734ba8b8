/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the runtime share. There are no variables: all state is in the arena
 * (translate/layout.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "translate/layout.h"

static inline struct shared *shared(void)
{
	return (struct shared *)ARENA_BASE;
}

static inline const struct runtime_header *header(void)
{
	return (const struct runtime_header *)(ARENA_BASE + ARENA_CODE);
}

static inline struct block *block_at(uint32_t number)
{
	return (struct block *)(ARENA_BASE + ARENA_BLOCKS) + number;
}

static inline struct site *site_at(uint32_t number)
{
	return (struct site *)(ARENA_BASE + ARENA_SITES) + number;
}

static inline struct length *length_at(uint32_t number)
{
	return (struct length *)(ARENA_BASE + ARENA_LENGTHS) + number;
}

static inline uint64_t *resume_of(uint64_t probe)
{
	return (uint64_t *)(ARENA_BASE + ARENA_RESUMES) + probe;
}

static inline uint64_t *guest_of(uint64_t probe)
{
	return (uint64_t *)(ARENA_BASE + ARENA_PROBES) + probe;
}

static inline uint64_t *targets_of(struct context *context)
{
	return (uint64_t *)(context->self + SLOT_TARGETS);
}

/* The entry of the newest block whose address has these low bits; 0: there is none. */
static inline uint64_t *head_of(uint64_t guest)
{
	return (uint64_t *)(ARENA_BASE + ARENA_HEADS) + (guest & (TARGETS - 1));
}

/* ---- cache.c ---- */

/* The block that begins at `guest`, or NULL. */
struct block *cache_find(uint64_t guest);

/* Makes a block known, and where its code came from: up to `end`. */
void cache_add(struct block *block, uint64_t end);

/*
 * A region with room for a block, from which `guest` can be reached with 32-bit displacements. NULL: there is
 * no memory.
 */
struct region *cache_region(uint64_t guest);

/* Whether anything was translated from there. */
bool cache_holds(uint64_t start, uint64_t size);

/* Forgets all blocks. Nothing of the cache is used for others, so that threads can go on in it for now. */
void cache_drop(void);

/* ---- block.c ---- */

/*
 * Translates the code at `guest`. *ret_block is known to the cache. 0, or why it cannot be done (enum
 * give_back).
 */
enum give_back block_translate(struct context *context, uint64_t guest, struct block **ret_block);

/* Makes the block's entry for indirect branches, if there is none. False: there is no memory. */
bool block_make_entry(struct block *block);

/* Makes the site's jump lead to the block, if it is in reach. */
void site_link(struct site *site, const struct block *block);

/* ---- runtime.c ---- */

/*
 * What the program has where memory has a breakpoint goes to context.original. False: nobody is there to ask.
 */
bool ask_original(struct context *context, uint64_t guest);

/* Called by entry.S where something is asked of the thread. Returns the host address to go on at. */
uint64_t runtime_answer(struct context *context);

/* Called by entry.S. Returns the host address to go on at with the registers that the context has. */
uint64_t runtime_enter(struct context *context, unsigned int why);
