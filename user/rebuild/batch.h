/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an input delivers of one thread, and the one way from there into a timeline. Only the traces of Intel
 * PT, which are too long to be handed over at once, go by pieces (build.c).
 */
#pragma once

#include "model/timeline.h"
#include "stacks/calls.h"
#include "stacks/sampled/sampled.h"
#include "stacks/stacks.h"

enum batch_kind {
	BATCH_BRANCHES, /* control flow */
	BATCH_STACKS,	/* sampled call stacks */
	BATCH_CALLS,	/* begins and ends of calls */
	BATCH_KIND_CNT,
};

/* In the order of time. */
struct batch {
	int32_t pid, tid;
	const char *name;	       /* the thread's; NULL: its number */
	struct stacks_config resolver; /* what addresses and times mean */
	enum batch_kind kind;
	union {
		const struct branch_list *branches;
		struct {
			const struct sampled_item *items;
			size_t cnt;
			uint64_t until;	 /* the thread's last moment that is known */
			uint64_t period; /* from one to the next while it runs; 0: not known */
		} stacks;
		struct {
			const struct call_edge_at *items;
			size_t cnt;
		} calls;
	};
};

/* Adds the thread. 0 or -ENOMEM. */
int batch_add(struct timeline *timeline, const struct batch *batch);
