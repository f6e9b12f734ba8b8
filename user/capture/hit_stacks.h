/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call stacks of hits, found while the targets run: from the registers and the copy of the stack that
 * come with each.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "model/hit.h"

/*
 * So much of the stack is enough for nearly all programs, and, where hits are many, for most: a copy takes
 * the program about 0.1 us per KiB.
 */
enum { HIT_STACKS_BYTES = 16 << 10, HIT_STACKS_BYTES_MANY = 4 << 10 };

struct hit_stacks;
struct sideband_mapping;

int hit_stacks_new(struct hit_stacks **ret_stacks);
void hit_stacks_free(struct hit_stacks *stacks);

/* Code of the process, whatever was mapped there before. 0 or -ENOMEM. */
int hit_stacks_map(struct hit_stacks *stacks, pid_t pid, const struct sideband_mapping *mapping);

/*
 * Fills hit->stack, its count and the return address. hit->stack is the one by frame pointers before, `copy`
 * what stood at regs[HIT_SP] and above. At the beginning of a function (is_entry) the return address is at
 * the top of the stack.
 */
void hit_stacks_find(struct hit_stacks *stacks, struct caught_hit *hit, const uint8_t *copy, size_t size,
		     bool is_entry);

/* Where in its file the instruction is that was hit; false: not known. */
bool hit_stacks_offset(const struct hit_stacks *stacks, const struct hit *hit, uint64_t *ret_offset);

DEFINE_CLEANUP(struct hit_stacks *, hit_stacks_free)
