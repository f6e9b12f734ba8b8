/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From branches to call stacks. Pure: branches and callbacks in, slices out.
 */
#pragma once

#include "decode/branch.h"
#include "stacks/timeline.h"

struct stacks_config {
	/* The function at ip, valid at that TSC: never NULL, equal functions give equal pointers, alive as long as the timeline. */
	const struct symbol *(*symbol_at)(void *ctx, uint64_t ip, uint64_t tsc);
	/* TSC to nanoseconds on the timeline (since timeline.base_ns); must not run back. */
	uint64_t (*time_ns)(void *ctx, uint64_t tsc);
	/* The address space at that TSC: another number after each exec, which ends every call. NULL: there is no exec. */
	uint64_t (*space_at)(void *ctx, uint64_t tsc);
	void *ctx;
};

/* Builds the slices and instants of one thread from all its branches, into `thread` (pid, tid and name already set). 0 or -ENOMEM. */
int stacks_build(const struct stacks_config *config, const struct branch_list *branches,
		 struct timeline_thread *thread);
