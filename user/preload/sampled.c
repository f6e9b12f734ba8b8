/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/sampled.h"

typedef _Atomic(uintptr_t) slot_t;

atomic_uchar sampled_taken[SAMPLED_GROUPS];
static slot_t slots[SAMPLED_GROUPS][SAMPLED_GROUP_SLOTS] __attribute__((aligned(64)));

static slot_t *find(size_t group, uintptr_t address)
{
	for (int i = 0; i < SAMPLED_GROUP_SLOTS; i++)
		if (atomic_load_explicit(&slots[group][i], memory_order_relaxed) == address)
			return &slots[group][i];
	return NULL;
}

/* It is counted first: who looks for it must not be told that there is nothing. */
bool sampled_add(const void *address)
{
	size_t group = sampled_group(address);

	if (find(group, (uintptr_t)address))
		return false;
	atomic_fetch_add_explicit(&sampled_taken[group], 1, memory_order_relaxed);
	for (int i = 0; i < SAMPLED_GROUP_SLOTS; i++) {
		uintptr_t none = 0;

		if (atomic_compare_exchange_strong(&slots[group][i], &none, (uintptr_t)address))
			return true;
	}
	atomic_fetch_sub_explicit(&sampled_taken[group], 1, memory_order_relaxed);
	return false;
}

bool sampled_take(const void *address)
{
	size_t group = sampled_group(address);
	slot_t *slot = address ? find(group, (uintptr_t)address) : NULL;

	if (!slot)
		return false;
	atomic_store(slot, 0);
	atomic_fetch_sub_explicit(&sampled_taken[group], 1, memory_order_relaxed);
	return true;
}
