/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory for code, and which blocks there are. A program and its libraries lie further apart than a 32-bit
 * displacement reaches, so that the cache has regions near each of them: some hundred megabytes below the
 * code, where neither the heap nor new mappings come so soon.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "translate/emit.h"
#include "translate/runtime.h"

enum { ROOM = 32 << 10, PAGE_SHIFT = 12 };

#define REACH	  0x60000000ull
#define REGION_AT 0x20000000ull /* distances from the code that are tried */

static struct known_block *hash_table(void)
{
	return (struct known_block *)(ARENA_BASE + ARENA_HASH);
}

static uint8_t *page_bits(void)
{
	return (uint8_t *)(ARENA_BASE + ARENA_PAGES);
}

/* What is near in the program is near in a table: a miss of the processor's caches costs more than all else. */
static uint64_t hash_of(uint64_t guest, unsigned int for_each_page)
{
	uint64_t page = ((guest >> PAGE_SHIFT) * 0x9e3779b97f4a7c15ull) >> 32;

	return page * for_each_page + (guest & ((1u << PAGE_SHIFT) - 1)) * for_each_page / (1u << PAGE_SHIFT);
}

static uint32_t hash_at(uint64_t guest)
{
	return (uint32_t)hash_of(guest, 64) & (HASH_SIZE - 1);
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

struct block *cache_find(uint64_t guest)
{
	const struct known_block *table = hash_table();

	if (!(*starts_of(guest) >> (guest & 31) & 1))
		return NULL;
	for (uint32_t i = hash_at(guest); table[i].number; i = (i + 1) & (HASH_SIZE - 1))
		if (table[i].guest_low == (uint32_t)guest && block_at(table[i].number - 1)->guest == guest)
			return block_at(table[i].number - 1);
	return NULL;
}

void cache_add(struct block *block, uint64_t end)
{
	struct known_block *table = hash_table();
	uint32_t i = hash_at(block->guest);

	while (table[i].number)
		i = (i + 1) & (HASH_SIZE - 1);
	table[i] = (struct known_block){(uint32_t)(block - block_at(0)) + 1, (uint32_t)block->guest};
	*starts_of(block->guest) |= 1u << (block->guest & 31);
	for (uint64_t page = block->guest >> PAGE_SHIFT; page <= (end - 1) >> PAGE_SHIFT; page++)
		page_bits()[page % PAGE_BITS / 8] |= (uint8_t)(1 << page % 8);
}

bool cache_holds(uint64_t start, uint64_t size)
{
	uint64_t first = start >> PAGE_SHIFT, cnt = ((start + size - 1) >> PAGE_SHIFT) - first + 1;

	for (uint64_t i = 0; size && i < cnt && i < PAGE_BITS; i++)
		if (page_bits()[(first + i) % PAGE_BITS / 8] >> (first + i) % 8 & 1)
			return true;
	return false;
}

void cache_drop(void)
{
	struct shared *all = shared();
	struct known_block *table = hash_table();

	for (uint32_t i = 0; i < HASH_SIZE; i++)
		if (table[i].number)
			table[i].number = 0;
	__builtin_memset((void *)(ARENA_BASE + ARENA_STARTS), 0, STARTS_SIZE);
	__builtin_memset(head_of(0), 0, TARGETS * sizeof(uint64_t));
	for (unsigned int i = 0; i < SLOTS_MAX; i++) {
		struct context *context =
			(struct context *)(ARENA_BASE + ARENA_SLOTS + (uint64_t)i * SLOT_SIZE);

		for (unsigned int j = 0; context->tid && j < TARGETS; j++)
			targets_of(context)[j] = all->runtime + header()->miss_first;
	}
	for (uint32_t i = 0; i < PAGE_BITS / 8; i++)
		page_bits()[i] = 0;
	for (uint32_t i = 0; i < NOPS_MAX; i++)
		*guest_of(i) = 0;
	all->generation++;
}

/* ---- regions ---- */

static bool in_reach(const struct region *region, uint64_t guest)
{
	return guest < region->start + REACH && region->end < guest + REACH;
}

/* mmap(2), at that address or nowhere */
static bool map_at(uint64_t addr)
{
	register long r10 __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	register long r8 __asm__("r8") = -1, r9 __asm__("r9") = 0;
	uint64_t result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_mmap), "D"(addr), "S"((long)REGION_SIZE),
			   "d"((long)(PROT_READ | PROT_WRITE | PROT_EXEC)), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result == addr;
}

/* Each begins with what jumps that are not linked yet lead to. */
static struct region *new_region(uint64_t start)
{
	struct shared *all = shared();
	struct region *region = &all->regions[all->region_cnt++];
	struct emitter emitter = {.at = (uint8_t *)start};

	emit_leave(&emitter, CTX_LINK);
	*region = (struct region){.start = start, .at = start + 64, .end = start + REGION_SIZE};
	return region;
}

struct region *cache_region(uint64_t guest)
{
	struct shared *all = shared();
	uint64_t base = guest & ~(uint64_t)(REGION_SIZE - 1);

	for (uint32_t i = all->region_cnt; i--;)
		if (in_reach(&all->regions[i], guest) && all->regions[i].end - all->regions[i].at > ROOM)
			return &all->regions[i];
	if (all->region_cnt == REGIONS_MAX)
		return NULL;
	for (uint64_t away = REGION_AT; away < REACH - REGION_SIZE; away += REGION_SIZE) {
		if (base > away + (1 << 20) && map_at(base - away))
			return new_region(base - away);
		if (base + away < 1ull << 46 && map_at(base + away))
			return new_region(base + away);
	}
	return NULL;
}
