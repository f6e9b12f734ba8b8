/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * n samples of which k showed the function are n draws of a coin whose chance is its share of the time. So
 * the interval is that of a binomial proportion. A time is not measured by the edges of its slices: what ran
 * unseen between two samples would not count.
 */
#include "timeline/estimate.h"

#include <math.h>

/* The 97.5th percentile of the normal distribution. */
static const double z = 1.959964;

static uint64_t limited(double ns, uint64_t max)
{
	if (ns <= 0)
		return 0;
	return ns >= (double)max ? max : (uint64_t)(ns + 0.5);
}

struct interval estimate_interval(uint64_t part_ns, uint64_t whole_ns, uint64_t period_ns)
{
	double n, p, middle, half;

	if (!period_ns || !whole_ns)
		return (struct interval){part_ns, part_ns};
	n = (double)whole_ns / (double)period_ns;
	p = part_ns < whole_ns ? (double)part_ns / (double)whole_ns : 1;
	middle = (p + z * z / (2 * n)) / (1 + z * z / n);
	half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
	return (struct interval){limited((middle - half) * (double)whole_ns, part_ns),
				 limited((middle + half) * (double)whole_ns, whole_ns)};
}
