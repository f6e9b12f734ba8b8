/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call stacks of hits, unwound while the targets run, from the registers and the copy of the stack in
 * each hit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "model/hit.h"

/*
 * How much of the stack to copy: enough for nearly all programs, and, if hits are many, for most. A copy
 * costs the program about 0.1 us per KiB.
 */
enum { HIT_STACKS_BYTES = 16 << 10, HIT_STACKS_BYTES_MANY = 4 << 10 };

struct hit_stacks;
struct sideband_mapping;

int hit_stacks_new(struct hit_stacks **ret_stacks);
void hit_stacks_free(struct hit_stacks *stacks);

/* Adds code of the process, in place of what was mapped there. 0 or -ENOMEM. */
int hit_stacks_map(struct hit_stacks *stacks, pid_t pid, const struct sideband_mapping *mapping);

/*
 * Fills hit->stack, its count and the return address. Before, hit->stack holds the frames found by frame
 * pointers. `copy` is the memory from regs[HIT_SP] up. At a function's first instruction (is_entry) the
 * return address is at the top of the stack.
 */
void hit_stacks_find(struct hit_stacks *stacks, struct caught_hit *hit, const uint8_t *copy, size_t size,
		     bool is_entry);

/* The file offset of the instruction that was hit; false: unknown. */
bool hit_stacks_offset(const struct hit_stacks *stacks, const struct hit *hit, uint64_t *ret_offset);

DEFINE_CLEANUP(struct hit_stacks *, hit_stacks_free)
