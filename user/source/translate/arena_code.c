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

const struct trace_step *arena_steps(const struct arena *arena, const struct block *trace)
{
	return arena_shared(arena)->byte_cnt - trace->first_byte > BYTES_MAX - BYTES_SPARE
		       ? NULL
		       : (const struct trace_step *)(const void *)(arena->bytes + ARENA_BYTES +
								   trace->first_byte % BYTES_MAX);
}

/* ---- by guest address ---- */

/*
 * The blocks of an address are its versions, in order of time: one begins only where the one before it is
 * over. Each has its place in the index, because there may be thousands of one address.
 */
static uint64_t hash_of(uint64_t guest, uint32_t version)
{
	return hash_number(hash_number(0, guest), version);
}

enum { ALL = UINT32_MAX };

/* Whether there is such a version, and it was over in the epoch. ALL: whether there is one. */
static bool is_over(const struct arena *arena, uint64_t guest, uint32_t version, uint32_t epoch)
{
	size_t at = 0, i = hash_index_next(&arena->by_guest, hash_of(guest, version), &at);
	const struct block *block = arena_block(arena, (uint32_t)i);

	return i != HASH_INDEX_END && (epoch == ALL || !arena_has_block(arena, (uint32_t)i) ||
				       (block->died && block->died <= epoch));
}

/* How many versions were over. */
static uint32_t count_over(const struct arena *arena, uint64_t guest, uint32_t epoch)
{
	uint32_t low = 0, high = 0;

	while (is_over(arena, guest, high, epoch)) {
		low = high + 1;
		high = 2 * high + 1;
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (is_over(arena, guest, middle, epoch))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* It is made anew where half of what is in it has been overwritten. */
int arena_index(struct arena *arena)
{
	enum { AHEAD = 16 };
	uint32_t cnt = arena_shared(arena)->block_cnt;
	int err;

	if (cnt - arena->by_guest_first > 2 * BLOCKS_MAX) {
		hash_index_clear(&arena->by_guest);
		arena->by_guest_first = arena->by_guest_cnt = arena_first_block(arena);
	}
	err = hash_index_reserve(&arena->by_guest, arena->by_guest.cnt + (cnt - arena->by_guest_cnt));
	for (; arena->by_guest_cnt < cnt && !err; arena->by_guest_cnt += !err) {
		const struct block *block = arena_block(arena, arena->by_guest_cnt);
		uint64_t guest = block->guest;

		if (cnt - arena->by_guest_cnt > AHEAD)
			hash_index_prefetch(
				&arena->by_guest,
				hash_of(arena_block(arena, arena->by_guest_cnt + AHEAD)->guest, 0));
		if (!block->is_trace)
			err = hash_index_add(&arena->by_guest, hash_of(guest, count_over(arena, guest, ALL)),
					     arena->by_guest_cnt);
	}
	return err;
}

const struct block *arena_block_at(const struct arena *arena, uint64_t guest, uint32_t epoch)
{
	size_t at = 0,
	       i = hash_index_next(&arena->by_guest, hash_of(guest, count_over(arena, guest, epoch)), &at);

	return i == HASH_INDEX_END ? NULL : arena_block(arena, (uint32_t)i);
}

/* ---- by host address ---- */

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
	const struct trace_step *steps = block && block->is_trace ? arena_steps(arena, block) : NULL;
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
