/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growable array is three fields of its owner: `T *items; size_t cnt, cap;`. These helpers keep them
 * consistent.
 */
#pragma once

#include <errno.h>
#include <stdlib.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Makes room for `want` items of `size` bytes in *items (by doubling). *items is not NULL afterwards, even if
 * `want` is 0. Returns 0, or -ENOMEM with the array unchanged.
 */
static inline int array_reserve(void *items_ptr, size_t *cap, size_t want, size_t size)
{
	void **items = items_ptr;
	size_t grown = *cap ? *cap : 16;
	void *moved;

	if (want <= *cap && *items)
		return 0;
	while (grown < want)
		if (__builtin_mul_overflow(grown, (size_t)2, &grown))
			return -ENOMEM;
	moved = reallocarray(*items, grown, size);
	if (!moved)
		return -ENOMEM;
	*items = moved;
	*cap = grown;
	return 0;
}

/* Appends `value` to items/cnt/cap. 0, or -ENOMEM with the array unchanged. */
#define ARRAY_PUSH(items, cnt, cap, value)                                               \
	({                                                                               \
		int _err = array_reserve(&(items), &(cap), (cnt) + 1, sizeof(*(items))); \
		if (!_err)                                                               \
			(items)[(cnt)++] = (value);                                      \
		_err;                                                                    \
	})

/*
 * The same for a pointer to memory that belongs to the array from then on. -ENOMEM also if it is NULL; on
 * failure the memory is freed.
 */
#define ARRAY_TAKE(items, cnt, cap, owned)                                            \
	({                                                                            \
		__auto_type _owned = (owned);                                         \
		int _failed = _owned ? ARRAY_PUSH(items, cnt, cap, _owned) : -ENOMEM; \
		if (_failed)                                                          \
			free(_owned);                                                 \
		_failed;                                                              \
	})
