/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of code that was made while the program ran, put together from the blocks that there were of them. */
#include "assertions.h"

#include <string.h>
#include <sys/mman.h>

#include "source/translate/made_code.h"

static const struct tsc_clock tsc_clock = {.tsc = 5000, .ns = 1000000, .ns_per_tick = 1};

struct fixture {
	struct arena *arena;
	struct snapshot *snapshot;
	struct maps maps;
};

static void fixture_init(struct fixture *fixture)
{
	*fixture = (struct fixture){0};
	assert_ok(arena_new(&fixture->arena, memfd_create("arena", MFD_CLOEXEC), SLOTS_MIN, RING_SIZE_MIN));
	assert_ok(snapshot_new(&fixture->snapshot));
}

static void fixture_release(struct fixture *fixture)
{
	arena_free(fixture->arena);
	snapshot_free(fixture->snapshot);
}

/* Some bytes of code that there were from an epoch on, up to another one, which began at that time. */
static void add(const struct fixture *fixture, uint64_t guest, const char *code, uint32_t born, uint32_t died,
		uint64_t ended)
{
	struct shared *all = (struct shared *)fixture->arena->bytes;
	struct block *block = (struct block *)(fixture->arena->bytes + ARENA_BLOCKS) + all->block_cnt++;
	uint8_t *bytes = fixture->arena->bytes + ARENA_BYTES + all->byte_cnt;

	*block = (struct block){.guest = guest,
				.guest_end = guest + strlen(code),
				.born = born,
				.died = died,
				.is_kept = 1,
				.first_byte = all->byte_cnt};
	memcpy(bytes, &ended, sizeof(ended));
	memcpy(bytes + sizeof(ended), code, strlen(code));
	all->byte_cnt += 64;
}

/* So many copies are made. */
static void take(struct fixture *fixture, size_t cnt)
{
	assert_ok(made_code_add(fixture->arena, 7, &fixture->maps, &tsc_clock, fixture->snapshot));
	assert_int_equal(fixture->snapshot->copy_cnt, cnt);
}

static void check_copy(const struct fixture *fixture, size_t i, uint64_t addr, uint64_t from_ns, size_t off,
		       const char *code)
{
	const struct code_copy *copy = &fixture->snapshot->copies[i];

	assert_int_equal(copy->pid, 7);
	assert_string_equal(copy->name, "//anon");
	assert_int_equal(copy->addr, addr);
	assert_int_equal(copy->size, 4096);
	assert_int_equal(copy->from_ns, from_ns);
	assert_memory_equal(copy->bytes + off, code, strlen(code));
}

TEST(one_version_of_two_pages)
{
	struct fixture fixture;

	fixture_init(&fixture);
	add(&fixture, 0x1ffe, "abcd", 0, 0, 0);
	add(&fixture, 0x1000, "efg", 3, 0, 0);
	take(&fixture, 2);
	check_copy(&fixture, 0, 0x1000, 0, 0, "efg");
	check_copy(&fixture, 0, 0x1000, 0, 0xffe, "ab");
	check_copy(&fixture, 1, 0x2000, 0, 0, "cd");
	fixture_release(&fixture);
}

/* What stays is in both versions; what ends without another one in its place makes none. */
TEST(changed)
{
	struct fixture fixture;

	fixture_init(&fixture);
	add(&fixture, 0x1000, "stays", 0, 0, 0);
	add(&fixture, 0x1100, "gone", 0, 1, 5100);
	add(&fixture, 0x1200, "first", 1, 2, 5200);
	add(&fixture, 0x1202, "other", 2, 0, 0);
	take(&fixture, 2);
	check_copy(&fixture, 0, 0x1000, 0, 0, "stays");
	check_copy(&fixture, 0, 0x1000, 0, 0x100, "gone");
	check_copy(&fixture, 0, 0x1000, 0, 0x200, "first");
	check_copy(&fixture, 1, 0x1000, 1000200, 0, "stays");
	check_copy(&fixture, 1, 0x1000, 1000200, 0x202, "other");
	fixture_release(&fixture);
}

/* Too many versions: the oldest are dropped. */
TEST(changed_often)
{
	struct fixture fixture;

	fixture_init(&fixture);
	for (uint32_t i = 0; i < 300; i++)
		add(&fixture, 0x1000, i % 2 ? "odd" : "even", i, i + 1, 5000 + i);
	take(&fixture, 256);
	check_copy(&fixture, 0, 0x1000, 1000043, 0, "even");
	check_copy(&fixture, 255, 0x1000, 1000298, 0, "odd");
	fixture_release(&fixture);
}

TEST_MAIN(NULL, NULL)
