/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "source/snapshot.h"
#include "stacks/timeline.h"

/*
 * The addresses of a hit's stack, innermost first: the probed instruction, the return address where the probe is on the function's first instruction (frame
 * pointers then lead past the caller, whose frame the callee has not linked yet), and what the frame pointers gave. `symbol` is the
 * probed function or NULL. The array is the caller's to free; NULL: out of memory.
 */
uint64_t *hit_stack(const struct hit *hit, const struct symbol *symbol, size_t *ret_cnt);

/*
 * Puts the snapshot's hits on the timeline (timeline->hits): their time on its clock, the probed function, the call stack.
 * symbol_at gives the function at an address of process pid at a moment of the trace's clock, or NULL. 0 or -ENOMEM.
 */
int place_hits(struct timeline *timeline, const struct snapshot *snapshot,
	       const struct symbol *(*symbol_at)(void *ctx, int32_t pid, uint64_t ip, uint64_t trace_ns),
	       void *ctx);
