/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorting, also of arrays without items; by a number, where items of equal numbers stay as they came. */
#pragma once

#include <stdint.h>
#include <stdlib.h>

/* As qsort(3), which must not be given NULL: what an array is that has never had an item. */
static inline void sort_array(void *items, size_t cnt, size_t size,
			      int (*compare)(const void *, const void *))
{
	if (cnt)
		qsort(items, cnt, size, compare);
}

/* The first member of what is sorted. qsort(3) alone does not promise an order of equal items. */
struct sort_key {
	uint64_t value;
	uint64_t nth; /* counted as they come */
};

/* For sort_array(). */
static inline int sort_by_key(const void *a, const void *b)
{
	const struct sort_key *left = a, *right = b;

	if (left->value != right->value)
		return left->value < right->value ? -1 : 1;
	return left->nth < right->nth ? -1 : left->nth > right->nth;
}
