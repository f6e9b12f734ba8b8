/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring of trace bytes with the meaning of perf's AUX area in overwrite mode (linux/perf_event.h,
 * "aux_head"): `head` counts every byte ever written, the ring holds the last `size` of them.
 *
 *	head = 11, size = 8:	[ 8  9 10 | 3  4  5  6  7 ]	oldest byte is number 3, at head % size
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct aux_ring {
	uint8_t *bytes;
	size_t size; /* a power of two */
	uint64_t head;
	uint64_t taken; /* what came before this byte belongs to an earlier snapshot */
};

/*
 * `size` is a power of two and a multiple of the page size. 0 or -ENOMEM with a sentence. Pages cost memory
 * once written.
 */
int aux_ring_init(struct aux_ring *ring, size_t size);
void aux_ring_release(struct aux_ring *ring);

void aux_ring_write(struct aux_ring *ring, const void *bytes, size_t size);

/* As if all that was written to `more`, a ring of the same size that nothing was taken of, were written. */
void aux_ring_append(struct aux_ring *ring, const struct aux_ring *more);

/* How many bytes the ring holds that were not taken. */
size_t aux_ring_held(const struct aux_ring *ring);

/* Empties the ring. */
void aux_ring_take(struct aux_ring *ring);

/* A linear copy, oldest byte first; *ret_offset is the number of the first byte. 0 or -ENOMEM. */
int aux_ring_linearise(const struct aux_ring *ring, uint8_t **ret_bytes, size_t *ret_size,
		       uint64_t *ret_offset);
