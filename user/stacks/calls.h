/* SPDX-License-Identifier: BSD-2-Clause */
/* Call stacks from the begins and ends of calls, where a source tells them instead of branches. */
#pragma once

#include "stacks/stacks.h"

/* When it began or ended, on the config's clock. */
struct call_edge_at {
	uint64_t tsc;
	uint64_t ip;
	bool is_end;
};

/*
 * Builds a thread's slices from its calls, in the order of time. An end ends the innermost open call of its
 * function, and what that has called. Where none is open, the function was running before the first call, if
 * nothing else is open; else the begin was lost, which becomes a gap. 0 or -ENOMEM.
 */
int calls_build(const struct stacks_config *config, const struct call_edge_at *calls, size_t cnt,
		struct timeline_thread *thread);
