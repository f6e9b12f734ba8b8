/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring is a memory file laid out as the kernel's map; what the kernel maps twice is written twice. */
#include "trigger/hit_ring.h"

#include <linux/bpf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "assertions.h"
#include "bpf/hit.h"

enum { PAGE = 4096, SIZE = PAGE, RECORD = BPF_RINGBUF_HDR_SZ + sizeof(struct hit_record) };

struct world {
	struct hit_ring ring;
	int fd;
	uint64_t producer;
	uint32_t seen[64];
	size_t seen_cnt;
	int stop_at; /* the callback fails at this trigger number */
};

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	world->fd = memfd_create("ring", MFD_CLOEXEC);
	world->stop_at = -1;
	if (ftruncate(world->fd, 2 * PAGE + 2 * SIZE) || hit_ring_init(&world->ring, world->fd, SIZE))
		return -1;
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	hit_ring_release(&world->ring);
	close(world->fd);
	free(world);
	return 0;
}

static void write_twice(struct world *world, uint64_t position, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		uint64_t at = (position + i) & (SIZE - 1);

		assert_int_equal(pwrite(world->fd, (const char *)bytes + i, 1, (off_t)(2 * PAGE + at)), 1);
		assert_int_equal(pwrite(world->fd, (const char *)bytes + i, 1, (off_t)(2 * PAGE + SIZE + at)),
				 1);
	}
}

/* Puts a record in as the kernel does; returns where. */
static uint64_t produce(struct world *world, uint32_t trigger, uint32_t flags)
{
	struct hit_record hit = {.trigger = trigger};
	uint32_t head[2] = {sizeof(hit) | flags};
	uint64_t position = world->producer;

	write_twice(world, position, head, sizeof(head));
	write_twice(world, position + sizeof(head), &hit, sizeof(hit));
	world->producer += RECORD;
	assert_int_equal(pwrite(world->fd, &world->producer, 8, PAGE), 8);
	return position;
}

static int see(void *ctx, const void *record)
{
	const struct hit_record *hit = record;
	struct world *world = ctx;

	world->seen[world->seen_cnt++] = hit->trigger;
	return (int)hit->trigger == world->stop_at ? -EINTR : 0;
}

static int read_all(struct world *world)
{
	world->seen_cnt = 0;
	return hit_ring_read(&world->ring, see, world);
}

TEST_WITH(test_order_and_pending, setup, teardown)
{
	struct world *world = *state;

	assert_false(hit_ring_pending(&world->ring));
	assert_int_equal(read_all(world), 0);
	produce(world, 7, 0);
	produce(world, 8, 0);
	assert_true(hit_ring_pending(&world->ring));
	assert_int_equal(read_all(world), 2);
	assert_int_equal(world->seen[0], 7);
	assert_int_equal(world->seen[1], 8);
	assert_false(hit_ring_pending(&world->ring));
	assert_int_equal(read_all(world), 0);
}

/* Positions grow past the size; records cross the end of the data. */
TEST_WITH(test_wrap, setup, teardown)
{
	struct world *world = *state;

	assert_true(SIZE % RECORD);
	for (uint32_t i = 0; i < 80; i++) {
		produce(world, i, 0);
		assert_int_equal(read_all(world), 1);
		assert_int_equal(world->seen[0], i);
	}
	assert_true(world->producer > 5 * SIZE);
}

TEST_WITH(test_busy_and_discarded, setup, teardown)
{
	struct world *world = *state;
	uint32_t head = sizeof(struct hit_record);
	uint64_t busy;

	produce(world, 1, 0);
	produce(world, 2, BPF_RINGBUF_DISCARD_BIT);
	busy = produce(world, 3, BPF_RINGBUF_BUSY_BIT);
	produce(world, 4, 0);
	assert_int_equal(read_all(world), 1);
	assert_int_equal(world->seen[0], 1);
	assert_true(hit_ring_pending(&world->ring));
	assert_int_equal(read_all(world), 0);
	write_twice(world, busy, &head, sizeof(head));
	assert_int_equal(read_all(world), 2);
	assert_int_equal(world->seen[0], 3);
	assert_int_equal(world->seen[1], 4);
}

/* The hit at which the callback failed is read; those after it are not. */
TEST_WITH(test_callback_fails, setup, teardown)
{
	struct world *world = *state;

	for (uint32_t i = 0; i < 3; i++)
		produce(world, i, 0);
	world->stop_at = 1;
	assert_int_equal(read_all(world), -EINTR);
	assert_int_equal(world->seen_cnt, 2);
	world->stop_at = -1;
	assert_int_equal(read_all(world), 1);
	assert_int_equal(world->seen[0], 2);
}

TEST(test_not_a_map)
{
	struct hit_ring ring = {.size = 5};
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_true(hit_ring_init(&ring, fds[0], SIZE) < 0);
	assert_int_equal(ring.size, 5);
	close(fds[0]);
	close(fds[1]);
}

TEST_MAIN(NULL, NULL)
