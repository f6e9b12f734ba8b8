/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of a ring (translate/layout.h) as Intel PT packets. A word says that one branch was taken; the
 * blocks say which conditional jumps were passed on the way there.
 */
#pragma once

#include "source/encoder.h"
#include "source/translate/arena.h"
#include "source/tsc.h"

struct word_sharing;

/* When the code of a process changed, in order: CLOCK_MONOTONIC, nanoseconds. */
struct code_changes {
	uint64_t *times;
	size_t cnt, cap;
};

/* Where a thread's trace has ended. All 0: that is not known. */
struct words_end {
	uint64_t at;	   /* where the next one goes on ... */
	uint64_t word_ip;  /* ... from where the last word had led, ... */
	uint32_t cond_cnt; /* ... behind so many conditional jumps; or ... */
	uint64_t next;	   /* ... behind a system call */
};

/*
 * After arena_index(): writes what was read of a ring. The trace ends with the last branch of it, or at a
 * probe: *end is that of the copy before, and becomes this one's. It gets a PSB behind each of the changes,
 * since decoding can change images only there. Once that is wanted, several processors share the rest
 * (entries.h). 0 or -ENOMEM.
 */
int words_encode(const struct arena *arena, const struct ring_copy *copy, const struct tsc_clock *clock,
		 const struct code_changes *changes, const struct word_sharing *sharing,
		 struct words_end *end, struct encoder *encoder);
