/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays that may outgrow memory. The large ones of a process share an amount of memory; what needs more lies
 * in a file without a name in $TMPDIR (or /var/tmp), which is mapped: to its users it is memory like any
 * other, and the kernel writes it out when others need the room. Where no such file can be had, it stays in
 * memory.
 *
 * Like arrays (base/array.h), but to be freed with spill_free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

enum { SPILL_MEMORY = 256 << 20 };

/*
 * How many bytes of memory all large arrays may take together; SPILL_MEMORY if not called. What there is
 * already stays where it is.
 */
void spill_set_memory(size_t bytes);
size_t spill_memory(void);

/* Whether large arrays take half of that, so that their owner should think of something better. */
bool spill_is_tight(void);

/* As array_reserve(). */
int spill_reserve(void *items_ptr, size_t *cap, size_t want, size_t size);

/* cnt items of `size` bytes, all 0. NULL: no memory. */
void *spill_calloc(size_t cnt, size_t size);

void spill_free(void *items);

/* These bytes of the array will not be looked at soon, and need not be in memory. */
void spill_let_go(void *items, size_t from, size_t to);

/* For loops over something: now and then, what lies before index `before` of the array. */
#define SPILL_PASS_TO(items, i, before)                                                \
	do {                                                                           \
		if (!((i) & ((1u << 18) - 1)))                                         \
			spill_let_go((void *)(items), 0, (before) * sizeof(*(items))); \
	} while (0)

#define SPILL_PASS(items, i) SPILL_PASS_TO(items, i, i)

#define SPILL_PUSH(items, cnt, cap, value)                                               \
	({                                                                               \
		int _err = spill_reserve(&(items), &(cap), (cnt) + 1, sizeof(*(items))); \
		if (!_err)                                                               \
			(items)[(cnt)++] = (value);                                      \
		_err;                                                                    \
	})
