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

/*
 * For comparison functions: -1, 0 or 1 by two numbers, the smaller or the greater one first. In a chain the
 * first that is not 0 decides: ORDER_UP(a->pid, b->pid) ?: ORDER_UP(a->tid, b->tid).
 */
#define ORDER_UP(a, b)	 (((a) > (b)) - ((a) < (b)))
#define ORDER_DOWN(a, b) ORDER_UP(b, a)

/* For sort_array() and bsearch(3) of numbers, or of items whose first member is the number. */
static inline int sort_by_number(const void *a, const void *b)
{
	return ORDER_UP(*(const uint64_t *)a, *(const uint64_t *)b);
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

	return ORDER_UP(left->value, right->value) ?: ORDER_UP(left->nth, right->nth);
}
