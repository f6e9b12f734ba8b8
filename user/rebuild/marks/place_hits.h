/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "model/snapshot.h"
#include "model/timeline.h"

/*
 * Puts the snapshot's hits on the timeline (timeline->hits): their time on its clock, the probed function,
 * the call stack. symbol_at gives the function at an address of process pid at a moment of the trace's clock,
 * or NULL. 0 or -ENOMEM.
 */
int place_hits(struct timeline *timeline, const struct snapshot *snapshot,
	       const struct symbol *(*symbol_at)(void *ctx, int32_t pid, uint64_t ip, uint64_t trace_ns),
	       void *ctx);
