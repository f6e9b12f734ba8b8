/* SPDX-License-Identifier: BSD-2-Clause */
/* Host addresses, in blocks and in traces, belong to the guest's instructions. */
#include "assertions.h"

#include <string.h>
#include <sys/mman.h>

#include "source/translate/arena.h"

enum { HOST = 0x70000000 };

/*
 *	1000: jmp 2000 (5 bytes)
 *	2000: 3 bytes; ret
 *	a trace of both, and of the first one again
 */
static const struct block blocks[] = {
	{.guest = 0x1000, .guest_end = 0x1005, .host = HOST, .host_end = HOST + 30, .length_cnt = 1},
	{.guest = 0x2000,
	 .guest_end = 0x2004,
	 .host = HOST + 100,
	 .host_end = HOST + 150,
	 .first_length = 1,
	 .length_cnt = 2},
	{.guest = 0x1000,
	 .host = HOST + 200,
	 .host_end = HOST + 300,
	 .first_length = 3,
	 .length_cnt = 7,
	 .is_trace = 1,
	 .step_cnt = 3},
};
static const struct length lengths[] = {{5, 8}, {3, 3},	 {1, 40}, {5, 0}, {0, 0},
					{3, 3}, {1, 40}, {0, 0},  {5, 9}, {0, 0}};
static const struct trace_step steps[] = {{0, NO_WORD}, {1, BLOCK_WORD | 0}, {0, 7}};

static struct arena *arena_with_code(void)
{
	struct arena *arena;
	struct shared *all;

	assert_ok(arena_new(&arena, memfd_create("arena", MFD_CLOEXEC), SLOTS_MIN, RING_SIZE_MIN));
	memcpy(arena->bytes + ARENA_BLOCKS, blocks, sizeof(blocks));
	memcpy(arena->bytes + ARENA_LENGTHS, lengths, sizeof(lengths));
	memcpy(arena->bytes + ARENA_BYTES, steps, sizeof(steps));
	all = (struct shared *)arena->bytes;
	all->block_cnt = sizeof(blocks) / sizeof(*blocks);
	all->length_cnt = sizeof(lengths) / sizeof(*lengths);
	all->byte_cnt = sizeof(steps);
	return arena;
}

static void assert_guest(const struct arena *arena, uint64_t host, uint64_t guest, bool is_exact)
{
	struct host_place place;

	assert_true(arena_find_place(arena, host, &place));
	assert_int_equal(place.guest, guest);
	assert_int_equal(place.is_exact, is_exact);
}

TEST(in_blocks)
{
	CLEANUP(arena_freep) struct arena *arena = arena_with_code();
	struct host_place place;

	assert_guest(arena, HOST, 0x1000, true);
	assert_guest(arena, HOST + 2, 0x1000, false);
	assert_guest(arena, HOST + 103, 0x2003, true);
	assert_guest(arena, HOST + 104, 0x2003, false);
	/* In a stub, and in nobody's code. */
	assert_false(arena_find_place(arena, HOST + 20, &place));
	assert_false(arena_find_place(arena, HOST + 40, &place));
	assert_true(arena_find_place(arena, HOST, &place));
	assert_ptr_equal(place.block, arena_block(arena, 0));
}

/* What has become of no code at all is done where the next instruction begins. */
TEST(in_a_trace)
{
	CLEANUP(arena_freep) struct arena *arena = arena_with_code();
	struct host_place place;

	assert_guest(arena, HOST + 200, 0x2000, true);
	assert_true(arena_find_place(arena, HOST + 200, &place));
	assert_ptr_equal(place.block, arena_block(arena, 2));
	assert_int_equal(place.step, 1);
	assert_guest(arena, HOST + 203, 0x2003, true);
	assert_guest(arena, HOST + 230, 0x2003, false);
	assert_true(arena_find_place(arena, HOST + 230, &place));
	assert_ptr_equal(place.block, arena_block(arena, 2));
	assert_int_equal(place.step, 1);
}

/* Words of what is done: that of the second step is, of the first one there is none. */
TEST(steps_are_appended)
{
	CLEANUP(arena_freep) struct arena *arena = arena_with_code();
	int slot = arena_take_slot(arena, 1, 1);
	CLEANUP(ring_copy_release) struct ring_copy copy = {0};
	struct host_place place;

	assert_true(arena_find_place(arena, HOST + 203, &place));
	arena_append_steps(arena, slot, &place);
	assert_int_equal(arena_written(arena, slot), 0);
	assert_true(arena_find_place(arena, HOST + 245, &place));
	arena_append_steps(arena, slot, &place);
	assert_ok(arena_read_ring(arena, slot, 0, &copy));
	assert_int_equal(copy.cnt, 1);
	assert_int_equal(copy.words[0], BLOCK_WORD | 0);
}

/* Many blocks of one address, each over when the next one begins, and one of another address. */
TEST(versions)
{
	enum { CNT = 5000, GUEST = 0x1000 };
	CLEANUP(arena_freep) struct arena *arena = NULL;
	struct shared *all;

	assert_ok(arena_new(&arena, memfd_create("arena", MFD_CLOEXEC), SLOTS_MIN, RING_SIZE_MIN));
	all = (struct shared *)arena->bytes;
	for (uint32_t i = 0; i <= CNT; i++) {
		struct block *block = (struct block *)(arena->bytes + ARENA_BLOCKS) + i;

		*block = (struct block){.guest = GUEST, .born = 2 * i, .died = i < CNT ? 2 * i + 2 : 0};
		/* Some are known before others come. */
		all->block_cnt = i + 1;
		assert_ok(arena_index(arena));
		assert_ptr_equal(arena_block_at(arena, GUEST, 2 * i), block);
	}
	((struct block *)(arena->bytes + ARENA_BLOCKS))[CNT + 1] =
		(struct block){.guest = 2 * GUEST, .born = 4, .died = 6};
	all->block_cnt = CNT + 2;
	assert_ok(arena_index(arena));
	for (uint32_t i = 0; i <= CNT; i++) {
		assert_ptr_equal(arena_block_at(arena, GUEST, 2 * i), arena_block(arena, i));
		assert_ptr_equal(arena_block_at(arena, GUEST, 2 * i + 1), arena_block(arena, i));
	}
	/* What came later, and what is over. */
	assert_ptr_equal(arena_block_at(arena, 2 * GUEST, 0), arena_block(arena, CNT + 1));
	assert_null(arena_block_at(arena, 2 * GUEST, 6));
	assert_null(arena_block_at(arena, 3 * GUEST, 0));
}

TEST_MAIN(NULL, NULL)
