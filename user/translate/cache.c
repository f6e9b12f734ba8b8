/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory for code, and which blocks there are by their pages. A program and its
 * libraries lie further apart than a 32-bit displacement reaches, so that the cache has regions near each of
 * them: some hundred megabytes below the code, where neither the heap nor new mappings come so soon.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "translate/emit.h"
#include "translate/runtime.h"
#include "translate/slot.h"

enum { ROOM = 64 << 10, PAGE_SHIFT = 12 };

#define REACH	   0x60000000ull
#define LIBRARIES  (1ull << 46) /* they, and the stack, are above; programs and their heaps below, mostly */
#define STACK_ROOM (1ull << 30)
#define REGION_AT  0x20000000ull /* distances from the code that are tried */

/* ---- which blocks a page has ---- */

static uint32_t *page_head(uint64_t page)
{
	return (uint32_t *)(ARENA_BASE + ARENA_PAGES) + page % PAGES_SIZE;
}

/* Behind a block in the list of the page: its first page, or else its last. */
static uint32_t *page_next(struct block *block, uint64_t page)
{
	return &block->page_next[(block->guest >> PAGE_SHIFT) % PAGES_SIZE != page % PAGES_SIZE];
}

static void add_to_pages(struct block *block)
{
	uint64_t last = (block->guest_end - 1) >> PAGE_SHIFT;

	for (uint64_t page = block->guest >> PAGE_SHIFT; page <= last; page++) {
		*page_next(block, page) = *page_head(page);
		*page_head(page) = block_number(block) + 1;
	}
}

/* ---- blocks that cease to be ---- */

/* With the next epoch, which the caller begins. */
static void end_block(struct block *block, uint64_t tsc)
{
	block->died = shared()->epoch + 1;
	if (block->is_kept)
		*ended_at(block) = tsc;
	shared()->trace_has_died |= block->is_traced;
	known_remove(block);
	block_unlink(block);
}

static bool overlaps(const struct block *block, uint64_t start, uint64_t end)
{
	return block->guest < end && block->guest_end > start;
}

static void begin_epoch(void)
{
	shared()->epoch++;
	if (shared()->trace_has_died)
		traces_end();
}

/* Whether both have the same code where they overlap. */
static bool agrees(const struct block *block, const struct block *other)
{
	uint64_t start = block->guest > other->guest ? block->guest : other->guest;
	uint64_t end = block->guest_end < other->guest_end ? block->guest_end : other->guest_end;

	for (uint64_t at = start; at < end; at++)
		if (code_of(block)[at - block->guest] != code_of(other)[at - other->guest])
			return false;
	return true;
}

/*
 * Blocks of a page that are in the range end, but for those that agree with `but`, if that is not NULL. Those
 * that have ended leave the list.
 */
static bool end_in_page(uint64_t page, uint64_t start, uint64_t end, const struct block *but)
{
	uint32_t *link = page_head(page);
	bool any = false;

	while (*link) {
		struct block *block = block_at(*link - 1);

		if (!block->died && overlaps(block, start, end) &&
		    !(but && (!block->is_kept || agrees(block, but)))) {
			end_block(block, __builtin_ia32_rdtsc());
			any = true;
		}
		if (block->died)
			*link = *page_next(block, page);
		else
			link = page_next(block, page);
	}
	return any;
}

static bool end_in_range(uint64_t start, uint64_t end, const struct block *but)
{
	uint64_t first = start >> PAGE_SHIFT, cnt = ((end - 1) >> PAGE_SHIFT) - first + 1;
	bool any = false;

	for (uint64_t i = 0; i < cnt && i < PAGES_SIZE; i++)
		any |= end_in_page(first + i, start, end, but);
	if (any)
		begin_epoch();
	return any;
}

bool cache_holds(uint64_t start, uint64_t end)
{
	uint64_t first = start >> PAGE_SHIFT, cnt = ((end - 1) >> PAGE_SHIFT) - first + 1;

	for (uint64_t i = 0; start < end && i < cnt && i < PAGES_SIZE; i++)
		if (*page_head(first + i))
			return true;
	return false;
}

void cache_forget(uint64_t start, uint64_t end)
{
	if (start >= end || !end_in_range(start, end, NULL))
		return;
	for (uint32_t i = 0; i < NOPS_MAX; i++)
		if (*guest_of(i) - start < end - start)
			*guest_of(i) = 0;
}

void cache_end(struct block *block)
{
	if (block->died)
		return;
	end_block(block, __builtin_ia32_rdtsc());
	begin_epoch();
}

void cache_add(struct block *block)
{
	/* Of those that are found to have changed, others find out when they execute them. */
	if (block->is_kept)
		end_in_range(block->guest, block->guest_end, block);
	block->born = shared()->epoch;
	known_add(block);
	add_to_pages(block);
}

/* ---- flushing ---- */

static struct context *slot_context(unsigned int slot)
{
	return (struct context *)slot_address(shared()->ring_size, slot);
}

/* Whether the thread may execute code of a generation before this one, or be on its way back to it. */
static bool is_behind(const struct context *context)
{
	if (!context->tid || context->why || __atomic_load_n(&context->in_runtime, __ATOMIC_SEQ_CST) ||
	    __atomic_load_n(&context->in_call, __ATOMIC_SEQ_CST))
		return false;
	return (uint32_t)~context->not_generation != shared()->generation;
}

/* What has been translated leads to the runtime at its end; what is not executed by then is never again. */
static void unlink_all(void)
{
	struct shared *all = shared();

	for (uint32_t i = all->first_site; i != all->site_cnt; i++)
		site_unlink(site_at(i));
	for (uint32_t i = all->first_block; i != all->block_cnt; i++) {
		struct block *block = block_at(i);

		if (block->died)
			continue;
		block->died = all->epoch + 1;
		if (block->is_kept)
			*ended_at(block) = __builtin_ia32_rdtsc();
	}
	for (unsigned int i = 0; i < all->slot_cnt; i++) {
		struct context *context = slot_context(i);

		for (unsigned int j = 0; context->tid && j < TARGETS; j++)
			targets_of(context)[j] = all->runtime + header()->miss;
	}
}

static void forget_all(void)
{
	known_forget_all();
	__builtin_memset(head_of(0), 0, TARGETS * sizeof(uint64_t));
	__builtin_memset(page_head(0), 0, PAGES_SIZE * sizeof(uint32_t));
	__builtin_memset(guest_of(0), 0, NOPS_MAX * sizeof(uint64_t));
}

/* Those that are late are given some time. */
static bool all_have_left(void)
{
	enum { TURNS = 2000 };

	for (unsigned int turn = 0, slot = 0; turn < TURNS; turn++) {
		while (slot < shared()->slot_cnt && !is_behind(slot_context(slot)))
			slot++;
		if (slot == shared()->slot_cnt)
			return true;
		call(SYS_sched_yield, 0, 0, 0, 0);
	}
	return false;
}

/*
 * Begins a generation, in the memory of the one before this one, which threads had the time of a whole
 * generation to leave. False: one has not. A thread that is in a call looks at the
 * generation when it is back.
 */
static bool flush(void)
{
	struct shared *all = shared();

	if (!all_have_left())
		return false;
	unlink_all();
	forget_all();
	all->epoch++;
	all->first_block = all->block_cnt;
	all->first_site = all->site_cnt;
	all->first_length = all->length_cnt;
	all->first_byte = all->byte_cnt;
	all->newest_trace = 0;
	__atomic_add_fetch(&all->generation, 1, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < all->region_cnt; i++) {
		struct region *region = &all->regions[i];

		if (region->generation + 1 >= all->generation)
			continue;
		region->is_free = 1;
		region->at = region->start + REGION_CODE;
		region->end = region->start + REGION_SIZE;
	}
	return true;
}

/* ---- regions ---- */

static bool in_reach(const struct region *region, uint64_t guest)
{
	return guest < region->start + REACH && region->start + REGION_SIZE < guest + REACH;
}

/*
 * At that address or nowhere. In huge pages, if the kernel has some: a large program executes code on more
 * small pages than the processor keeps translations of.
 */
static bool map_at(uint64_t addr)
{
	const uint64_t flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
		       all = PROT_READ | PROT_WRITE | PROT_EXEC;
	bool unlocks = shared()->locks_new;

	/* None of it is brought there before it is unlocked. */
	if ((uint64_t)call6(SYS_mmap, addr, REGION_SIZE, unlocks ? PROT_NONE : all, flags, (uint64_t)-1, 0) !=
	    addr)
		return false;
	if (unlocks)
		call(SYS_munlock, addr, REGION_SIZE, 0, 0);
	call(SYS_madvise, addr, REGION_SIZE, MADV_HUGEPAGE, 0);
	call(SYS_madvise, addr, REGION_SIZE, MADV_DONTDUMP, 0);
	return !unlocks || !call(SYS_mprotect, addr, REGION_SIZE, all, 0);
}

static struct region *new_region(uint64_t start)
{
	struct shared *all = shared();
	struct region *region = &all->regions[all->region_cnt];
	struct emitter emitter = {.at = (uint8_t *)start};

	emit_leave(&emitter, CTX_LINK);
	emitter.at = (uint8_t *)start + REGION_TAKEN;
	emit_leave(&emitter, CTX_TAKEN);
	emitter.at = (uint8_t *)start + REGION_LINK_ON;
	emit_leave(&emitter, CTX_LINK_ON);
	*region = (struct region){.start = start,
				  .at = start + REGION_CODE,
				  .end = start + REGION_SIZE,
				  .generation = all->generation};
	/* Who reads them from outside has all of it. */
	__atomic_store_n(&all->region_cnt, all->region_cnt + 1, __ATOMIC_RELEASE);
	return region;
}

struct region *region_of(uint64_t host)
{
	struct shared *all = shared();
	uint32_t i = 0;

	while (host - all->regions[i].start >= REGION_SIZE)
		i++;
	return &all->regions[i];
}

/* One of this generation, or one that no generation has. */
static struct region *known_region(uint64_t guest)
{
	struct shared *all = shared();

	for (uint32_t i = all->region_cnt; i--;) {
		struct region *region = &all->regions[i];

		if (!in_reach(region, guest) || region->end - region->at <= ROOM ||
		    (region->generation != all->generation && !region->is_free))
			continue;
		region->generation = all->generation;
		region->is_free = 0;
		return region;
	}
	return NULL;
}

static uint32_t regions_in_use(void)
{
	uint32_t cnt = 0;

	for (uint32_t i = 0; i < shared()->region_cnt; i++)
		cnt += !shared()->regions[i].is_free &&
		       shared()->regions[i].generation == shared()->generation;
	return cnt;
}

/* Above the libraries is the stack, which grows down. */
static bool is_far_below_stack(uint64_t addr)
{
	const uint64_t flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	uint64_t found;

	if (addr < LIBRARIES)
		return true;
	found = (uint64_t)call6(SYS_mmap, addr, STACK_ROOM, PROT_NONE, flags, (uint64_t)-1, 0);
	if (found == addr)
		call6(SYS_munmap, addr, STACK_ROOM, 0, 0, 0, 0);
	return found == addr;
}

/* Maps a region at a distance from `from` on; 0: there is no room up to `to`. Below the code if it can be. */
static uint64_t find_room(uint64_t base, uint64_t from, uint64_t to)
{
	const uint64_t heap = (uint64_t)call(SYS_brk, 0, 0, 0, 0);

	for (uint64_t away = from; away < to; away += REGION_SIZE)
		if (base > away + (1 << 20) && map_at(base - away))
			return base - away;
	/* Between a program that is linked to low addresses and its heap, or above as much heap as can be. */
	for (uint64_t away = REGION_SIZE; away < to && base + away + REGION_SIZE <= heap; away += REGION_SIZE)
		if (base + away < LIBRARIES && map_at(base + away))
			return base + away;
	for (uint64_t away = to - REGION_SIZE; away >= from; away -= REGION_SIZE)
		if (base + away < LIBRARIES && map_at(base + away))
			return base + away;
	/* A JVM reserves all that lies below its libraries. */
	for (uint64_t away = from; base >= LIBRARIES && away < to; away += REGION_SIZE)
		if (is_far_below_stack(base + away) && map_at(base + away))
			return base + away;
	return 0;
}

struct region *cache_region(uint64_t guest)
{
	struct shared *all = shared();
	struct region *known = known_region(guest);
	uint64_t base = guest & ~(uint64_t)(REGION_SIZE - 1), start;

	if (known || all->region_cnt == REGIONS_MAX || regions_in_use() == REGIONS_MAX / 2)
		return known;
	limits_make_room(REGION_SIZE);
	/* Some way off at first: a program's heap and its libraries grow beside its code. */
	start = find_room(base, REGION_AT, REACH - REGION_SIZE);
	if (!start)
		start = find_room(base, REGION_SIZE, REGION_AT);
	if (!start)
		limits_make_room(-REGION_SIZE);
	return start ? new_region(start) : NULL;
}

/* Whether each table has room for a block in its half. */
static bool tables_have_room(void)
{
	enum { SPARE = 1024 };
	struct shared *all = shared();

	/* The code of a block is in one piece. */
	if ((all->byte_cnt & (BYTES_MAX - 1)) > BYTES_MAX - SPARE)
		all->byte_cnt = (all->byte_cnt | (BYTES_MAX - 1)) + 1;
	return all->block_cnt - all->first_block < BLOCKS_MAX / 2 - 1 &&
	       all->site_cnt - all->first_site < SITES_MAX / 2 - SPARE &&
	       all->length_cnt - all->first_length < LENGTHS_MAX / 2 - SPARE &&
	       all->byte_cnt - all->first_byte < BYTES_MAX / 2 - 2 * SPARE;
}

struct region *cache_spare_room(uint64_t guest)
{
	return tables_have_room() ? cache_region(guest) : NULL;
}

struct region *cache_room(uint64_t guest)
{
	struct region *region = cache_spare_room(guest);

	if (region)
		return region;
	if (shared()->site_cnt > NUMBERS_MAX - SITES_MAX || shared()->block_cnt > NUMBERS_MAX - BLOCKS_MAX)
		return NULL;
	return flush() ? cache_region(guest) : NULL;
}
