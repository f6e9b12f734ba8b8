/* SPDX-License-Identifier: BSD-2-Clause */
/* How far times that come from samples can be trusted. */
#pragma once

#include <stdint.h>

struct interval {
	uint64_t low_ns, high_ns;
};

/*
 * Samples, one each `period_ns`, found `part_ns` of `whole_ns`. In 95 of 100 cases the truth lies within
 * the interval. It is Wilson's (E. B. Wilson 1927, "Probable inference", equation 6 without its correction),
 * which is right for few samples, too. period_ns 0: both ends are part_ns.
 */
struct interval estimate_interval(uint64_t part_ns, uint64_t whole_ns, uint64_t period_ns);
