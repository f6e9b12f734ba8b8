/* SPDX-License-Identifier: BSD-2-Clause */
/* Where control was in inlined calls, and the slices that this gives. */
#pragma once

#include <stdbool.h>

#include "model/inlines.h"
#include "stacks/lists/slice_list.h"

struct inlined_event {
	uint64_t moment;
	const struct inline_chain *chain;
	const struct symbol *function; /* that they are inlined into */
	uint64_t ip;
};

/* Kept as slices are (lists/slice_list.h): by moment, with packed ones in front of the array. */
struct inlined {
	struct pack_store *store; /* its own; NULL: none is packed */
	struct inlined_block {
		struct packed packed;
		size_t cnt;
	} * blocks;
	size_t block_cnt, block_cap;
	struct inlined_event *items;
	size_t cnt, cap;
	bool no_memory; /* sticks */
};

void inlined_release(struct inlined *inlined);

/* From this moment on control is at ip, in these calls. */
void inlined_see(struct inlined *inlined, const struct inline_chain *chain, uint64_t ip,
		 const struct symbol *function, uint64_t moment);

/* Puts `later`, of which none is packed, behind, its moments `offset` higher. 0 or -ENOMEM. */
int inlined_append(struct inlined *inlined, const struct inlined *later, uint64_t offset);

/* Puts slices for them among those of a thread, whose times are moments. 0 or -ENOMEM. */
int inlined_insert(const struct inlined *inlined, struct slice_list *slices);
