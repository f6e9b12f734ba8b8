/* SPDX-License-Identifier: BSD-2-Clause */
#include "rebuild/batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int build_branches(const struct batch *batch, struct timeline_thread *thread)
{
	return stacks_build(&batch->resolver, batch->branches, thread);
}

static int build_stacks(const struct batch *batch, struct timeline_thread *thread)
{
	return sampled_build(&batch->resolver, batch->stacks.items, batch->stacks.cnt, batch->stacks.until,
			     batch->stacks.period, thread);
}

static int build_calls(const struct batch *batch, struct timeline_thread *thread)
{
	return calls_build(&batch->resolver, batch->calls.items, batch->calls.cnt, thread);
}

static int (*const builders[])(const struct batch *batch, struct timeline_thread *thread) = {
	[BATCH_BRANCHES] = build_branches,
	[BATCH_STACKS] = build_stacks,
	[BATCH_CALLS] = build_calls,
};

_Static_assert(ARRAY_SIZE(builders) == BATCH_KIND_CNT, "a builder for each kind");

int batch_add(struct timeline *timeline, const struct batch *batch)
{
	struct timeline_thread fresh = {.pid = batch->pid, .tid = batch->tid};
	int err;

	if (batch->name)
		fresh.name = strdup(batch->name);
	else if (asprintf(&fresh.name, "%d", batch->tid) < 0)
		fresh.name = NULL;
	err = fresh.name ? ARRAY_PUSH(timeline->threads, timeline->thread_cnt, timeline->thread_cap, fresh)
			 : -ENOMEM;
	if (err) {
		free(fresh.name);
		return err;
	}
	return builders[batch->kind](batch, &timeline->threads[timeline->thread_cnt - 1]);
}
