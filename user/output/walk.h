/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A timeline as events in the order in which a viewer must read them: thread by thread, by time, and where
 * times are equal, ends before begins and a parent outside its children. What happened on a thread (a hit, a
 * gap) comes inside the slices that were open then.
 */
#pragma once

#include "model/timeline.h"

/* What viewers of begin and end events nest: Perfetto loses its place beyond it. */
enum { WALK_VIEWER_DEPTH = 512 };

/*
 * What to do with each; NULL: nothing. A sink keeps its own failures in ctx. Slices from depth_max on (0: no
 * limit) are left out, begin and end, and counted in a warning.
 */
struct walk_ops {
	uint32_t depth_max;
	void (*thread)(void *ctx, const struct timeline_thread *thread); /* what follows is this one's */
	void (*begin)(void *ctx, const struct slice *slice);
	void (*end)(void *ctx, const struct slice *slice);
	/* In place of both, where nothing comes in between and it takes time. */
	void (*leaf)(void *ctx, const struct slice *slice);
	void (*instant)(void *ctx, const struct instant *instant);
	/* Threads that have hits and nothing else are walked, too, named as the hit tells. */
	void (*hit)(void *ctx, const struct timeline_hit *hit);
	void (*thread_end)(void *ctx);
};

/* 0 or -ENOMEM. */
int walk_timeline(const struct timeline *timeline, const struct walk_ops *ops, void *ctx);
