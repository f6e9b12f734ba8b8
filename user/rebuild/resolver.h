/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Callbacks for stacks/, which asks about the process of the thread whose branches it reads. All are
 * thread-safe.
 */
#pragma once

#include "history/history.h"
#include "rebuild/decode.h"
#include "stacks/stacks.h"

struct resolver {
	const struct snapshot *snapshot;
	struct history_process *process; /* NULL: no code known */
	struct image *kernel;
	int32_t tid;
	uint64_t base_ns; /* time 0 of the timeline */
};

/* As struct stacks_config has them; ctx is the resolver. */
const struct symbol *resolver_symbol_at(void *ctx, uint64_t ip, uint64_t tsc);
uint64_t resolver_time_ns(void *ctx, uint64_t tsc);
uint64_t resolver_space_at(void *ctx, uint64_t tsc);
enum landing resolver_landing(void *ctx, uint64_t call_ip, uint64_t handler, uint64_t tsc);
char *resolver_gap_text(void *ctx, const struct branch *gap);
const struct inline_chain *resolver_inlines_at(void *ctx, uint64_t ip, uint64_t tsc, uint64_t *ret_end);
