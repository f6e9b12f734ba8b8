/* SPDX-License-Identifier: BSD-2-Clause */
/* The reading end of the BPF ring buffer that hits come through, as records of whatever kind. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hit_ring {
	uint64_t *consumer;	  /* page of our own position, which the kernel reads */
	const uint64_t *producer; /* page of the kernel's position, and behind it the data, mapped twice */
	size_t size;		  /* of the data: a power of two */
	size_t page;
};

/* Maps the ring buffer map `map_fd` of `size` bytes. A negative errno of mmap(2). */
int hit_ring_init(struct hit_ring *ret_ring, int map_fd, size_t size);
void hit_ring_release(struct hit_ring *ring);

/* True if the kernel has put something in that was not read yet; two loads. */
bool hit_ring_pending(const struct hit_ring *ring);

/*
 * Hands the records that wait now to fn, oldest first; each counts as read when fn returns. How many, or fn's
 * first non-zero return.
 */
int hit_ring_read(struct hit_ring *ring, int (*fn)(void *ctx, const void *record), void *ctx);
