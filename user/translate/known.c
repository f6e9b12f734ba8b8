/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which blocks there are, by their addresses. The table grows with their number, so that a small program
 * touches little memory: a page of it that is touched for the first time costs as much as some instructions
 * that are translated.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "translate/runtime.h"

enum { PAGE_SHIFT = 12, GONE = -1 };

/* Of that many entries. */
static struct known_block *table_of(uint32_t size)
{
	return (struct known_block *)(ARENA_BASE + ARENA_HASH) + size;
}

/*
 * What is near in the program is near in a table: a miss of the processor's caches costs more than all else.
 */
static uint64_t hash_of(uint64_t guest, unsigned int for_each_page)
{
	uint64_t page = ((guest >> PAGE_SHIFT) * 0x9e3779b97f4a7c15ull) >> 32;

	return page * for_each_page + (guest & ((1u << PAGE_SHIFT) - 1)) * for_each_page / (1u << PAGE_SHIFT);
}

static uint32_t hash_at(uint64_t guest, uint32_t size)
{
	return (uint32_t)hash_of(guest, 128) & (size - 1);
}

/*
 * Each instruction that is translated is looked for, and most begin no block: this tells so without the
 * table. A word has a bit for each of 32 bytes of the program.
 */
static uint32_t *starts_of(uint64_t guest)
{
	return (uint32_t *)(ARENA_BASE + ARENA_STARTS) +
	       hash_of(guest, 128) % (STARTS_SIZE / sizeof(uint32_t));
}

static uint32_t *number_in_table(uint64_t guest)
{
	uint32_t size = __atomic_load_n(&shared()->hash_size, __ATOMIC_ACQUIRE);
	struct known_block *table = table_of(size);

	for (uint32_t i = hash_at(guest, size); table[i].number; i = (i + 1) & (size - 1))
		if (table[i].guest_low == (uint32_t)guest && table[i].number != (uint32_t)GONE &&
		    block_at(table[i].number - 1)->guest == guest)
			return &table[i].number;
	return NULL;
}

struct block *known_find(uint64_t guest)
{
	const uint32_t *number = *starts_of(guest) >> (guest & 31) & 1 ? number_in_table(guest) : NULL;

	return number ? block_at(*number - 1) : NULL;
}

static void add_to_table(const struct block *block, uint32_t size)
{
	struct known_block *table = table_of(size);
	uint32_t i = hash_at(block->guest, size);

	while (table[i].number && table[i].number != (uint32_t)GONE)
		i = (i + 1) & (size - 1);
	table[i] = (struct known_block){block_number(block) + 1, (uint32_t)block->guest};
}

/* Large tables will be used: in huge pages, if there are some. */
static void grow(void)
{
	struct shared *all = shared();
	uint32_t size = all->hash_size < HASH_SIZE_LARGE ? HASH_SIZE_LARGE : HASH_SIZE_MAX;

	if (all->has_huge_pages && size == HASH_SIZE_LARGE)
		call(SYS_madvise, ARENA_BASE + ARENA_HASH, ARENA_SLOTS - ARENA_HASH, MADV_HUGEPAGE, 0);
	for (uint32_t i = all->first_block; i != all->block_cnt; i++)
		if (!block_at(i)->died && !block_at(i)->is_trace)
			add_to_table(block_at(i), size);
	__atomic_store_n(&all->hash_size, size, __ATOMIC_RELEASE);
}

void known_add(const struct block *block)
{
	struct shared *all = shared();

	if (all->hash_size < HASH_SIZE_MAX && all->block_cnt - all->first_block > all->hash_size / 4)
		grow();
	else
		add_to_table(block, all->hash_size);
	*starts_of(block->guest) |= 1u << (block->guest & 31);
}

void known_remove(const struct block *block)
{
	uint32_t *number = number_in_table(block->guest);

	if (number && block_at(*number - 1) == block)
		*number = (uint32_t)GONE;
}

void known_forget_all(void)
{
	uint32_t size = shared()->hash_size;

	__builtin_memset(table_of(size), 0, size * sizeof(struct known_block));
	__builtin_memset((void *)(ARENA_BASE + ARENA_STARTS), 0, STARTS_SIZE);
}
