/* SPDX-License-Identifier: BSD-2-Clause */
/* What benches measure with. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

enum bound_kind { AT_LEAST, AT_MOST };

/*
 * One line that says whether the median reaches a goal; with $BENCH_HISTORY, one more of that file. Sorts the
 * figures.
 */
static inline void tell_goal(const char *what, double *figures, size_t cnt, enum bound_kind kind,
			     double bound)
{
	const char *path = getenv("BENCH_HISTORY");
	double middle = median_of(figures, cnt);
	bool met = kind == AT_LEAST ? middle >= bound : middle <= bound;
	FILE *file = path ? fopen(path, "ae") : NULL;

	printf("goal %-8s %8.2f  (%.2f to %.2f), %s %-4g  %s\n", met ? "met" : "not met", middle, figures[0],
	       figures[cnt - 1], kind == AT_LEAST ? "at least" : "at most", bound, what);
	if (!file)
		return;
	fprintf(file, "%ld\tgoal\t%s\t%.6f\t%.6f\t%.6f\n", (long)time(NULL), what, middle, figures[0],
		figures[cnt - 1]);
	fclose(file);
}
