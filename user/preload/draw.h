/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which allocations are sampled: points lie on the bytes that are allocated, one after the other, as a
 * Poisson process does, and an allocation is sampled if there is one on it. An allocation of `size` bytes is,
 * with probability 1 - exp(-size / interval), and then stands for size / probability bytes.
 */
#pragma once

#include <stdint.h>

/*
 * How far it is to the next point: at least 1. 0 where the interval is 1, which is for every byte: all
 * allocations are sampled, empty ones, too.
 */
int64_t draw_distance(uint64_t *seed, uint64_t interval);

/* So many bytes does a sampled allocation stand for. */
uint64_t draw_weight(uint64_t size, uint64_t interval);

/* For threads to begin with; their numbers follow from it. */
uint64_t draw_seed(uint64_t number);
