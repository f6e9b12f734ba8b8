/* SPDX-License-Identifier: BSD-2-Clause */
/* New bytes overwrite the oldest: there is no tail. The ring is read while the writer is stopped. */
#include "source/aux_ring.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"

int aux_ring_init(struct aux_ring *ring, size_t size)
{
	/*
	 * An anonymous mapping: pages that are never written cost no memory, so a large ring per thread is
	 * cheap.
	 */
	void *bytes =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (bytes == MAP_FAILED)
		return fail_errno(-ENOMEM, "cannot get a trace ring of %zu bytes", size);
	*ring = (struct aux_ring){.bytes = bytes, .size = size};
	return 0;
}

void aux_ring_release(struct aux_ring *ring)
{
	if (ring->bytes)
		munmap(ring->bytes, ring->size);
	*ring = (struct aux_ring){0};
}

void aux_ring_write(struct aux_ring *ring, const void *bytes, size_t size)
{
	size_t at = ring->head & (ring->size - 1);
	size_t first = ring->size - at < size ? ring->size - at : size;

	memcpy(ring->bytes + at, bytes, first);
	memcpy(ring->bytes, (const uint8_t *)bytes + first, size - first);
	ring->head += size;
}

size_t aux_ring_held(const struct aux_ring *ring)
{
	uint64_t fresh = ring->head - ring->taken;

	return fresh < ring->size ? fresh : ring->size;
}

/* The oldest of the newest `held` bytes, and how many of them stand before the ring's end. */
static const uint8_t *oldest_of(const struct aux_ring *ring, size_t held, size_t *ret_cnt)
{
	size_t at = (ring->head - held) & (ring->size - 1);

	*ret_cnt = ring->size - at < held ? ring->size - at : held;
	return ring->bytes + at;
}

void aux_ring_append(struct aux_ring *ring, const struct aux_ring *more)
{
	size_t held = aux_ring_held(more), first;
	const uint8_t *oldest = oldest_of(more, held, &first);

	ring->head += more->head - held; /* they would be overwritten */
	aux_ring_write(ring, oldest, first);
	aux_ring_write(ring, more->bytes, held - first);
}

void aux_ring_take(struct aux_ring *ring)
{
	ring->taken = ring->head;
}

int aux_ring_linearise(const struct aux_ring *ring, uint8_t **ret_bytes, size_t *ret_size,
		       uint64_t *ret_offset)
{
	size_t held = aux_ring_held(ring), first;
	const uint8_t *oldest = oldest_of(ring, held, &first);
	uint8_t *bytes = malloc(held ? held : 1);

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, oldest, first);
	memcpy(bytes + first, ring->bytes, held - first);
	*ret_bytes = bytes;
	*ret_size = held;
	*ret_offset = ring->head - held;
	return 0;
}
