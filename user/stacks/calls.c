/* SPDX-License-Identifier: BSD-2-Clause */
#include "stacks/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stacks/stacks_internal.h"

struct calls {
	const struct stacks_config *config;
	struct timeline_thread *thread;
	struct moments moments;
	struct segment segment;
};

/* How many frames are open below the innermost one of the function; SIZE_MAX: none is open. */
static size_t find_open(const struct segment *segment, const struct symbol *symbol)
{
	for (size_t i = segment->frame_cnt; i-- > 0;)
		if (symbol_same_function(segment->frames[i].symbol, symbol))
			return i;
	return SIZE_MAX;
}

static int add_gap(struct calls *calls)
{
	struct timeline_thread *thread = calls->thread;
	struct instant instant = {.time_ns = moments_barrier(&calls->moments),
				  .text = strdup("[gap: the begin of a call is missing]")};

	if (instant.text && !ARRAY_PUSH(thread->instants, thread->instant_cnt, thread->instant_cap, instant))
		return 0;
	free(instant.text);
	return -ENOMEM;
}

static int end_call(struct calls *calls, const struct symbol *symbol, uint64_t ip)
{
	struct segment *segment = &calls->segment;
	size_t at = find_open(segment, symbol);

	if (at == SIZE_MAX && segment->frame_cnt)
		return add_gap(calls);
	if (at == SIZE_MAX) {
		segment_infer(segment, symbol, ip);
		at = 0;
	}
	if (!segment->no_memory)
		segment_pop_to(segment, at, moments_now(&calls->moments));
	return 0;
}

static int take(struct calls *calls, const struct call_edge_at *call)
{
	const struct symbol *symbol = calls->config->symbol_at(calls->config->ctx, call->ip, call->tsc);

	moments_see(&calls->moments, call->tsc);
	if (call->is_end)
		return end_call(calls, symbol, call->ip);
	segment_push(&calls->segment, SLICE_CALL, symbol, call->ip, moments_reserve(&calls->moments));
	return 0;
}

int calls_build(const struct stacks_config *config, const struct call_edge_at *calls, size_t cnt,
		struct timeline_thread *thread)
{
	struct calls build = {.config = config, .thread = thread};
	struct slice_list slices = {0};
	int err = 0;

	segment_init(&build.segment, 0);
	for (size_t i = 0; i < cnt && !err; i++)
		err = take(&build, &calls[i]);
	segment_close(&build.segment, cnt ? moments_now(&build.moments) : 0);
	if (!err)
		err = build.moments.no_memory ? -ENOMEM : segment_write(&build.segment, &slices);
	if (!err)
		err = thread_finish(thread, &slices, &build.moments, config);
	slice_list_release(&slices);
	segment_release(&build.segment);
	moments_release(&build.moments);
	return err;
}
