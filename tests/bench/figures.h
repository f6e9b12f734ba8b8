/* SPDX-License-Identifier: BSD-2-Clause */
/* What benches measure with. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"

static inline double clock_seconds(clockid_t clock)
{
	return (double)clock_ns(clock) / 1e9;
}

static inline void die(const char *what, int err)
{
	fprintf(stderr, "bench: %s: %s\n", what, fail_message(err));
	exit(1);
}

static inline int compare_figures(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sorts them: the first is then the least. */
static inline double median_of(double *figures, size_t cnt)
{
	qsort(figures, cnt, sizeof(*figures), compare_figures);
	return cnt ? figures[cnt / 2] : 0;
}
