/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The layout is the kernel's (kernel/bpf/ringbuf.c, user ABI). Positions only grow; a record that runs past
 * the end of the data goes on in its second mapping, so it is always in one piece:
 *
 *	map offset 0	| consumer position |	one page, writable
 *	page		| producer position |	one page
 *	2 * page	| data | data again |
 *
 *	record at position & (size - 1):	| length and flags: u32 | u32 | payload | padding to 8 |
 *
 * libbpf's reader would do, but the version we build with cannot tell whether anything waits without a system
 * call; between two single steps of a thread there is no time for one.
 */
#include "trigger/hit_ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

int hit_ring_init(struct hit_ring *ret_ring, int map_fd, size_t size)
{
	struct hit_ring ring = {.size = size, .page = (size_t)sysconf(_SC_PAGESIZE)};
	void *map = mmap(NULL, ring.page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	ring.consumer = map;
	map = mmap(NULL, ring.page + 2 * size, PROT_READ, MAP_SHARED, map_fd, (off_t)ring.page);
	if (map == MAP_FAILED) {
		int err = -errno;

		hit_ring_release(&ring);
		return err;
	}
	ring.producer = map;
	*ret_ring = ring;
	return 0;
}

void hit_ring_release(struct hit_ring *ring)
{
	if (ring->consumer)
		munmap(ring->consumer, ring->page);
	if (ring->producer)
		munmap((void *)ring->producer, ring->page + 2 * ring->size);
	*ring = (struct hit_ring){0};
}

bool hit_ring_pending(const struct hit_ring *ring)
{
	return __atomic_load_n(ring->consumer, __ATOMIC_RELAXED) !=
	       __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
}

static const uint8_t *record_at(const struct hit_ring *ring, uint64_t position)
{
	return (const uint8_t *)ring->producer + ring->page + (position & (ring->size - 1));
}

static uint64_t record_bytes(uint32_t head)
{
	uint64_t payload = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

	return (BPF_RINGBUF_HDR_SZ + payload + 7) & ~7ull;
}

int hit_ring_read(struct hit_ring *ring, int (*fn)(void *ctx, const void *record), void *ctx)
{
	uint64_t position = __atomic_load_n(ring->consumer, __ATOMIC_RELAXED);
	uint64_t end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	int cnt = 0, err = 0;

	while (position < end && !err) {
		const uint8_t *record = record_at(ring, position);
		uint32_t head = __atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE);

		/* Still being filled in on another processor; those behind it must wait, too. */
		if (head & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(head & BPF_RINGBUF_DISCARD_BIT)) {
			err = fn(ctx, record + BPF_RINGBUF_HDR_SZ);
			cnt++;
		}
		position += record_bytes(head);
		__atomic_store_n(ring->consumer, position, __ATOMIC_RELEASE);
	}
	return err ? err : cnt;
}
