/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays that may outgrow memory. All large arrays of a process share one memory budget. An array that
 * exceeds it lies in an unlinked file in $TMPDIR (or /var/tmp) that is mapped: users see ordinary memory, and
 * the kernel writes it out under pressure. If no file can be made, the array stays in memory.
 *
 * Use as base/array.h, but free with spill_free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

enum { SPILL_MEMORY = 384 << 20 };

/* Sets the memory budget of all large arrays (default SPILL_MEMORY). Existing arrays do not move. */
void spill_set_memory(size_t bytes);
size_t spill_memory(void);

/* Whether large arrays take three quarters of that: their owner should think of something better. */
bool spill_is_tight(void);

/* Whether they would, if a large one of so many bytes came. */
bool spill_is_tight_with(size_t bytes);

/* As array_reserve(). */
int spill_reserve(void *items_ptr, size_t *cap, size_t want, size_t size);

/* The array without its first `drop` items of *cnt, in less memory. 0, or -ENOMEM: it is as it was. */
int spill_drop(void *items_ptr, size_t *cnt, size_t *cap, size_t drop, size_t size);

void spill_free(void *items);

/* The bytes [from, to) of the array are not needed soon: drop them from memory. */
void spill_let_go(void *items, size_t from, size_t to);

/* For loops: every 2^18 items, drops what lies before index `before` of the array from memory. */
#define SPILL_PASS_TO(items, i, before)                                                \
	do {                                                                           \
		if (!((i) & ((1u << 18) - 1)))                                         \
			spill_let_go((void *)(items), 0, (before) * sizeof(*(items))); \
	} while (0)

#define SPILL_PASS(items, i) SPILL_PASS_TO(items, i, i)

#define SPILL_PUSH(items, cnt, cap, value)                                                   \
	({                                                                                   \
		int _err = 0;                                                                \
		if ((cnt) >= (cap))                                                          \
			_err = spill_reserve(&(items), &(cap), (cnt) + 1, sizeof(*(items))); \
		if (!_err)                                                                   \
			(items)[(cnt)++] = (value);                                          \
		_err;                                                                        \
	})
