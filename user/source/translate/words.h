/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of a ring (translate/layout.h) as Intel PT packets. A word says that one branch was taken; the
 * blocks say which conditional jumps were passed on the way there.
 */
#pragma once

#include "source/encoder.h"
#include "source/translate/arena.h"
#include "source/tsc.h"

/* When the code of a process changed, in order: CLOCK_MONOTONIC, nanoseconds. */
struct code_changes {
	uint64_t *times;
	size_t cnt, cap;
};

/*
 * After arena_index(): writes what was read of a ring. The trace ends with the last branch of it. It gets a
 * PSB behind each of the changes, since decoding can change images only there. 0 or -ENOMEM.
 */
int words_encode(const struct arena *arena, const struct ring_copy *copy, const struct tsc_clock *clock,
		 const struct code_changes *changes, struct encoder *encoder);
