/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorting of arrays that may be empty, and stable sorting by a number. */
#pragma once

#include <stdint.h>
#include <stdlib.h>

/* As qsort(3), but `items` may be NULL if `cnt` is 0. */
static inline void sort_array(void *items, size_t cnt, size_t size,
			      int (*compare)(const void *, const void *))
{
	if (cnt)
		qsort(items, cnt, size, compare);
}

/* The first member of each item to sort. qsort(3) alone is not stable. */
struct sort_key {
	uint64_t value;
	uint64_t nth; /* position before sorting */
};

/* For sort_array(). */
static inline int sort_by_key(const void *a, const void *b)
{
	const struct sort_key *left = a, *right = b;

	if (left->value != right->value)
		return left->value < right->value ? -1 : 1;
	return left->nth < right->nth ? -1 : left->nth > right->nth;
}
