/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/translate/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "source/translate/runtime_file.h"

static struct shared *writable(const struct arena *arena)
{
	return (struct shared *)arena->bytes;
}

const struct shared *arena_shared(const struct arena *arena)
{
	return writable(arena);
}

const struct runtime_header *arena_header(const struct arena *arena)
{
	return (const struct runtime_header *)(arena->bytes + ARENA_CODE);
}

const struct block *arena_block(const struct arena *arena, uint32_t number)
{
	return (const struct block *)(arena->bytes + ARENA_BLOCKS) + number;
}

const struct site *arena_site(const struct arena *arena, uint32_t number)
{
	return (const struct site *)(arena->bytes + ARENA_SITES) + number;
}

struct context *arena_context(const struct arena *arena, int slot)
{
	return (struct context *)(arena->bytes + ARENA_SLOTS + (size_t)slot * SLOT_SIZE);
}

int arena_new(struct arena **ret_arena)
{
	CLEANUP(arena_freep) struct arena *arena = calloc(1, sizeof(*arena));

	if (!arena)
		return -ENOMEM;
	arena->fd = memfd_create("trailcam", MFD_CLOEXEC);
	if (arena->fd < 0 || ftruncate(arena->fd, ARENA_SIZE))
		return fail_errno(-errno, "cannot make memory to share with the program");
	arena->bytes =
		mmap(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, arena->fd, 0);
	if (arena->bytes == MAP_FAILED) {
		arena->bytes = NULL;
		return fail_errno(-errno, "cannot map memory to share with the program");
	}
	memcpy(arena->bytes + ARENA_CODE, runtime_file_begin,
	       (size_t)(runtime_file_end - runtime_file_begin));
	writable(arena)->runtime = ARENA_BASE + ARENA_CODE;
	*ret_arena = TAKE_PTR(arena);
	return 0;
}

void arena_free(struct arena *arena)
{
	if (arena->bytes)
		munmap(arena->bytes, ARENA_SIZE);
	closep(&arena->fd);
	free(arena->by_guest);
	free(arena->by_host);
	free(arena);
}

/* ---- slots ---- */

static void prepare_slot(struct arena *arena, int slot, pid_t pid, pid_t tid)
{
	const struct runtime_header *header = arena_header(arena);
	struct context *context = arena_context(arena, slot);
	uint64_t runtime = writable(arena)->runtime;
	uint64_t *targets = (uint64_t *)((uint8_t *)context + SLOT_TARGETS);

	*context = (struct context){
		.pos = -RING_SIZE,
		.self = ARENA_BASE + ARENA_SLOTS + (uint64_t)slot * SLOT_SIZE,
		.link = runtime + header->link,
		.link_on = runtime + header->link_on,
		.miss = runtime + header->miss,
		.wrap = runtime + header->wrap,
		.wrap_indirect = runtime + header->wrap_indirect,
		.gate = runtime + header->gate,
		.tid = tid,
		.pid = pid,
	};
	for (size_t i = 0; i < TARGETS; i++)
		targets[i] = runtime + header->miss_first;
}

int arena_take_slot(struct arena *arena, pid_t pid, pid_t tid)
{
	for (int slot = 0; slot < SLOTS_MAX; slot++)
		if (!arena_context(arena, slot)->tid) {
			prepare_slot(arena, slot, pid, tid);
			return slot;
		}
	return -1;
}

void arena_leave_slot(struct arena *arena, int slot)
{
	arena_context(arena, slot)->tid = 0;
}

static void append_word(struct context *context, uint32_t word)
{
	memcpy((uint8_t *)context + SLOT_RING_END + context->pos, &word, sizeof(word));
	context->pos += (int64_t)sizeof(word);
	if (context->pos)
		return;
	context->pos = -RING_SIZE;
	context->lapped = 1;
}

void arena_append(struct arena *arena, int slot, uint64_t addr, uint32_t tag)
{
	struct context *context = arena_context(arena, slot);

	append_word(context, (uint32_t)addr);
	append_word(context, (uint32_t)(addr >> 32));
	append_word(context, tag);
}

/* ---- blocks ---- */

static size_t hash_of(const struct arena *arena, uint64_t guest)
{
	return (size_t)((guest * 0x9e3779b97f4a7c15ull) >> 32) & (arena->by_guest_size - 1);
}

static void index_block(struct arena *arena, uint32_t number)
{
	uint64_t guest = arena_block(arena, number)->guest;
	size_t i = hash_of(arena, guest);

	while (arena->by_guest[i])
		i = (i + 1) & (arena->by_guest_size - 1);
	arena->by_guest[i] = number + 1;
}

static bool index_blocks(struct arena *arena)
{
	uint32_t cnt = arena_shared(arena)->block_cnt;

	if (!arena->by_guest) {
		arena->by_guest_size = HASH_SIZE;
		arena->by_guest = calloc(arena->by_guest_size, sizeof(*arena->by_guest));
		if (!arena->by_guest)
			return false;
	}
	while (arena->by_guest_cnt < cnt)
		index_block(arena, arena->by_guest_cnt++);
	return true;
}

const struct block *arena_block_at(struct arena *arena, uint64_t guest, uint32_t generation)
{
	if (!index_blocks(arena))
		return NULL;
	for (size_t i = hash_of(arena, guest); arena->by_guest[i]; i = (i + 1) & (arena->by_guest_size - 1)) {
		const struct block *block = arena_block(arena, arena->by_guest[i] - 1);

		if (block->guest == guest && block->generation == generation)
			return block;
	}
	return NULL;
}

bool arena_is_ours(const struct arena *arena, uint64_t addr)
{
	const struct shared *all = arena_shared(arena);

	if (addr >= ARENA_BASE && addr < ARENA_BASE + ARENA_SIZE)
		return true;
	for (uint32_t i = 0; i < all->region_cnt && i < REGIONS_MAX; i++)
		if (addr >= all->regions[i].start && addr < all->regions[i].end)
			return true;
	return false;
}

static bool guest_in(const struct arena *arena, const struct block *block, uint64_t host, uint64_t *ret_guest,
		     bool *ret_exact)
{
	const struct length *lengths =
		(const struct length *)(arena->bytes + ARENA_LENGTHS) + block->first_length;
	uint64_t guest = block->guest, at = block->host;

	for (uint32_t i = 0; i < block->length_cnt; i++) {
		if (host < at + lengths[i].host) {
			*ret_guest = guest;
			*ret_exact = host == at;
			return true;
		}
		guest += lengths[i].guest;
		at += lengths[i].host;
	}
	return false;
}

bool arena_guest(struct arena *arena, uint64_t host, uint64_t *ret_guest, bool *ret_exact)
{
	for (uint32_t i = arena_shared(arena)->block_cnt; i--;) {
		const struct block *block = arena_block(arena, i);

		if (host >= block->host && host < block->host_end)
			return guest_in(arena, block, host, ret_guest, ret_exact);
	}
	return false;
}
