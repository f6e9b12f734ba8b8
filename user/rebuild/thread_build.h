/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "rebuild/resolver.h"
#include "stacks/stacks.h"

struct decode_config;
struct history;
struct schedule_turn;

/* One thread of the timeline while it is made. It does not move, because others point into it. */
struct thread_build {
	struct resolver resolver;
	struct stacks_config config;
	struct timeline_thread thread;
	struct stacks *stacks;
	struct known_stack *known;
	size_t snapshot; /* the last that it appears in, counted from 1; 0: none yet */
};

/* For the thread of the turn. 0 or -ENOMEM. */
int thread_build_new(struct thread_build **ret_thread, const struct history *history,
		     const struct snapshot *snapshot, const struct decode_config *config,
		     const struct schedule_turn *turn);
void thread_build_free(struct thread_build *thread);
