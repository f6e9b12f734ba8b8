/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From branches to call stacks. Pure: branches and callbacks in, slices out.
 *
 * The branches of one thread may be handed in whole or cut anywhere into pieces: pieces are built
 * independently, in parallel, and joined in order, and the timeline is the same wherever the cuts are.
 */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "model/branch.h"
#include "model/inlines.h"
#include "model/landing.h"
#include "model/timeline.h"

/* A call stack recorded while the thread ran. */
struct known_stack {
	uint64_t tsc;
	uint64_t period;     /* how much time it stands for; 0: not known */
	const uint64_t *ips; /* innermost first: where it ran, then return addresses */
	size_t cnt;
};

struct stacks_config {
	/*
	 * The function at ip, valid at that TSC: never NULL, equal functions give equal pointers, alive as
	 * long as the timeline. Thread-safe.
	 */
	const struct symbol *(*symbol_at)(void *ctx, uint64_t ip, uint64_t tsc);
	/* TSC to nanoseconds on the timeline (since timeline.base_ns); must not run back. */
	uint64_t (*time_ns)(void *ctx, uint64_t tsc);
	/*
	 * The address space at that TSC: another number after each exec, which ends every call. NULL: there
	 * is no exec. Thread-safe.
	 */
	uint64_t (*space_at)(void *ctx, uint64_t tsc);
	/*
	 * Where an exception raised by the call at call_ip lands: at `handler`? call_ip 0: is `handler` one
	 * of any call? NULL: nothing is known.
	 */
	enum landing (*landing)(void *ctx, uint64_t call_ip, uint64_t handler, uint64_t tsc);
	/*
	 * The inlined calls at ip, the same up to *ret_end; NULL: unknown. NULL callback: they are not shown.
	 * Thread-safe.
	 */
	const struct inline_chain *(*inlines_at)(void *ctx, uint64_t ip, uint64_t tsc, uint64_t *ret_end);
	/*
	 * What to call a gap; the caller's to free, NULL: out of memory. Where the callback is NULL: "[gap:
	 * overflow]" and the like.
	 */
	char *(*gap_text)(void *ctx, const struct branch *gap);
	/* Call stacks recorded, by time: they tell the callers that no return has shown. */
	const struct known_stack *known;
	size_t known_cnt;
	void *ctx;
};

/* The branches of one piece, as far as they can be understood without what came before. */
struct stacks_piece;

/* Any thread may do this. 0 or -ENOMEM. */
int stacks_piece_new(struct stacks_piece **ret_piece, const struct stacks_config *config,
		     const struct branch *branches, size_t cnt);
void stacks_piece_free(struct stacks_piece *piece);

/*
 * Where pieces wait that cannot be appended yet, packed if they are many. All 0 at first; it must outlive the
 * pieces.
 */
struct stacks_store {
	size_t held; /* bytes of pieces that are not packed */
	struct pack_store *pack;
};

/* 0, or -ENOMEM: then the piece is good for nothing but stacks_piece_free(). */
int stacks_piece_put(struct stacks_piece *piece, struct stacks_store *store);

void stacks_store_release(struct stacks_store *store);

struct stacks;

/* For one thread; config and thread (pid, tid and name already set) must outlive it. 0 or -ENOMEM. */
int stacks_new(struct stacks **ret_stacks, const struct stacks_config *config,
	       struct timeline_thread *thread);
void stacks_free(struct stacks *stacks);

/* The next piece; it is used up. 0 or -ENOMEM. */
int stacks_append(struct stacks *stacks, struct stacks_piece *piece);

/* The time of the first branch; false: there was none. */
bool stacks_first_tsc(const struct stacks *stacks, uint64_t *ret_tsc);

/* Nothing more comes: the thread's slices and instants are complete. 0 or -ENOMEM. */
int stacks_finish(struct stacks *stacks);

/* All of it for branches that are one piece. 0 or -ENOMEM. */
int stacks_build(const struct stacks_config *config, const struct branch_list *branches,
		 struct timeline_thread *thread);

DEFINE_CLEANUP(struct stacks *, stacks_free)
