/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The addresses of live sampled allocations: a lock-free set of fixed size, which each free() queries. Slots
 * are in groups; a byte for each group counts the slots in use, so most queries are one load from a small
 * array:
 *
 *	taken	| 0 | 1 | 0 | 2 | ...
 *	slots	| - - - | - p - | - - - | q - r | ...
 *
 * Only the owner of an allocation adds or removes its address, so no two threads change the same address at
 * once.
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

/* Adds an address. False: its group is full, or it is there already. */
bool sampled_add(const void *address);

/* Removes an address. False: it was not there. */
bool sampled_take(const void *address);
