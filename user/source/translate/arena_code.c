/* SPDX-License-Identifier: BSD-2-Clause */
/* What the program's code has become: its blocks, by guest address and by host address. */
#include "source/translate/arena.h"

bool arena_has_block(const struct arena *arena, uint32_t number)
{
	uint32_t cnt = arena_shared(arena)->block_cnt;

	return number < cnt && cnt - number <= BLOCKS_MAX;
}

bool arena_has_site(const struct arena *arena, uint32_t number)
{
	uint32_t cnt = arena_shared(arena)->site_cnt;

	return number < cnt && cnt - number <= SITES_MAX;
}

uint32_t arena_first_block(const struct arena *arena)
{
	uint32_t cnt = arena_shared(arena)->block_cnt;

	return cnt > BLOCKS_MAX ? cnt - BLOCKS_MAX : 0;
}

enum { BYTES_SPARE = 1024 }; /* as they are being written */

const uint64_t *arena_ended_at(const struct arena *arena, const struct block *block)
{
	uint32_t at = block->first_byte;

	return arena_shared(arena)->byte_cnt - at > BYTES_MAX - BYTES_SPARE
		       ? NULL
		       : (const uint64_t *)(const void *)(arena->bytes + ARENA_BYTES + at % BYTES_MAX);
}

const struct step *arena_steps(const struct arena *arena, const struct block *trace)
{
	return arena_shared(arena)->byte_cnt - trace->first_byte > BYTES_MAX - BYTES_SPARE
		       ? NULL
		       : (const struct step *)(const void *)(arena->bytes + ARENA_BYTES +
							     trace->first_byte % BYTES_MAX);
}

/* It is made anew where half of what is in it has been overwritten. */
static int index_blocks(struct arena *arena)
{
	uint32_t cnt = arena_shared(arena)->block_cnt;
	int err = 0;

	if (cnt - arena->by_guest_first > 2 * BLOCKS_MAX) {
		hash_index_clear(&arena->by_guest);
		arena->by_guest_first = arena->by_guest_cnt = arena_first_block(arena);
	}
	for (; arena->by_guest_cnt < cnt && !err; arena->by_guest_cnt += !err) {
		const struct block *block = arena_block(arena, arena->by_guest_cnt);

		if (!block->is_trace)
			err = hash_index_add(&arena->by_guest, hash_number(0, block->guest),
					     arena->by_guest_cnt);
	}
	return err;
}

/* Whether the block is a better one for the epoch. */
static bool fits_better(const struct block *block, const struct block *than, uint32_t epoch)
{
	bool is_early = block->died && block->died <= epoch, than_is_early;

	if (!than)
		return !is_early;
	than_is_early = than->died && than->died <= epoch;
	return is_early == than_is_early ? block->born < than->born : !is_early;
}

const struct block *arena_block_at(struct arena *arena, uint64_t guest, uint32_t epoch)
{
	const struct block *best = NULL;
	uint64_t hash = hash_number(0, guest);

	if (index_blocks(arena))
		return NULL;
	for (size_t at = 0, i; (i = hash_index_next(&arena->by_guest, hash, &at)) != HASH_INDEX_END;) {
		const struct block *block = arena_block(arena, (uint32_t)i);

		if (arena_has_block(arena, (uint32_t)i) && block->guest == guest && !block->is_trace &&
		    fits_better(block, best, epoch))
			best = block;
	}
	return best;
}

/* The newest: the memory may have had code of others before. */
static const struct block *block_of_host(const struct arena *arena, uint64_t host)
{
	for (uint32_t i = arena_shared(arena)->block_cnt, first = arena_first_block(arena); i-- > first;) {
		const struct block *block = arena_block(arena, i);

		/* What is older is not executed any more, and its memory may have other code. */
		if (block->generation + 1 < arena_shared(arena)->generation)
			break;
		if (host >= block->host - block->check_off && host < block->host_end)
			return block;
	}
	return NULL;
}

bool arena_find_place(const struct arena *arena, uint64_t host, struct host_place *ret_place)
{
	const struct length *lengths = (const struct length *)(arena->bytes + ARENA_LENGTHS);
	const struct block *block = block_of_host(arena, host);
	const struct step *steps = block && block->is_trace ? arena_steps(arena, block) : NULL;
	struct host_place place = {.block = block};
	uint64_t at;

	if (!block || (block->is_trace && !steps))
		return false;
	place.guest = block->guest;
	place.is_check = block->check_off && host >= block->host;
	place.is_exact = place.is_check && host == block->host;
	at = block->host - block->check_off;
	for (uint32_t i = 0; i < block->length_cnt && !place.is_check; i++) {
		struct length length = lengths[(block->first_length + i) % LENGTHS_MAX];

		if (host < at + length.host) {
			place.is_exact = host == at;
			break;
		}
		if (i + 1u == block->length_cnt)
			return false;
		place.guest += length.guest;
		at += length.host;
		if (!length.guest)
			place.guest = arena_block(arena, steps[++place.step].block)->guest;
	}
	*ret_place = place;
	return true;
}
