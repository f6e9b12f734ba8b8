/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader of the BPF ring buffer of hits; records are opaque here. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hit_ring {
	uint64_t *consumer;	  /* page with our position, which the kernel reads */
	const uint64_t *producer; /* page with the kernel's position; the data follows, mapped twice */
	size_t size;		  /* of the data, a power of two */
	size_t page;
};

/* Maps the ring buffer map `map_fd` of `size` bytes. A negative errno of mmap(2). */
int hit_ring_init(struct hit_ring *ret_ring, int map_fd, size_t size);
void hit_ring_release(struct hit_ring *ring);

/* True if there are unread records; two loads. */
bool hit_ring_pending(const struct hit_ring *ring);

/*
 * Calls fn for each unread record, oldest first; a record counts as read when fn returns. Returns how many,
 * or fn's first non-zero return.
 */
int hit_ring_read(struct hit_ring *ring, int (*fn)(void *ctx, const void *record), void *ctx);
