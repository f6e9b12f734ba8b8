/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses the sampled allocations. Sampling points lie on the sequence of allocated bytes as a Poisson
 * process with mean distance `interval`. An allocation with a point in it is sampled: for `size` bytes that
 * has the probability 1 - exp(-size / interval), and the sample then stands for size / probability bytes.
 */
#pragma once

#include <stdint.h>

/*
 * The distance to the next point in bytes, at least 1. 0 if the interval is 1: every allocation is sampled,
 * empty ones, too.
 */
int64_t draw_distance(uint64_t *seed, uint64_t interval);

/* The number of bytes that a sampled allocation of `size` bytes stands for. */
uint64_t draw_weight(uint64_t size, uint64_t interval);

/* The first seed of a thread with this number. */
uint64_t draw_seed(uint64_t number);
