/* SPDX-License-Identifier: BSD-2-Clause */
/* One row of the table is enough: each cell needs the one above, the one before, and the one above that. */
#include "base/edit_distance.h"

#include <string.h>

enum { COMPARED_MAX = 64 };

size_t edit_distance(const char *a, const char *b)
{
	size_t row[COMPARED_MAX + 1], a_len = strnlen(a, COMPARED_MAX), b_len = strnlen(b, COMPARED_MAX);

	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t above = row[j], best = diagonal + (a[i - 1] != b[j - 1]);

			if (above + 1 < best)
				best = above + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diagonal = above;
			row[j] = best;
		}
	}
	return row[b_len];
}
