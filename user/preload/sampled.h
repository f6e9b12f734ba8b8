/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sampled allocations that are alive: a set of addresses of fixed size, without locks, which each free()
 * asks. It is in groups of a few slots, and a byte for each group says how many of them are taken, so that
 * nearly always the answer is one load from a small array:
 *
 *	taken	| 0 | 1 | 0 | 2 | ...
 *	slots	| - - - | - p - | - - - | q - r | ...
 *
 * An address belongs to whoever allocated it until it is freed, so that nobody else adds or takes it
 * meanwhile.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SAMPLED_GROUP_BITS = 14, SAMPLED_GROUPS = 1 << SAMPLED_GROUP_BITS, SAMPLED_GROUP_SLOTS = 16 };

extern atomic_uchar sampled_taken[SAMPLED_GROUPS];

static inline size_t sampled_group(const void *address)
{
	return ((uintptr_t)address >> 4) * 0x9e3779b97f4a7c15 >> (64 - SAMPLED_GROUP_BITS);
}

/* False: it is not in the set. */
static inline bool sampled_may_hold(const void *address)
{
	return atomic_load_explicit(&sampled_taken[sampled_group(address)], memory_order_relaxed);
}

/* False: there was no room, or it is in the set already. */
bool sampled_add(const void *address);

/* Whether it was in the set, in which it is no longer. */
bool sampled_take(const void *address);
