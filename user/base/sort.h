/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorting by a number, where items of equal numbers stay as they came; qsort(3) alone does not promise that. */
#pragma once

#include <stdint.h>

/* The first member of what is sorted. */
struct sort_key {
	uint64_t value;
	uint64_t nth; /* counted as they come */
};

/* For qsort(3). */
static inline int sort_by_key(const void *a, const void *b)
{
	const struct sort_key *left = a, *right = b;

	if (left->value != right->value)
		return left->value < right->value ? -1 : 1;
	return left->nth < right->nth ? -1 : left->nth > right->nth;
}
