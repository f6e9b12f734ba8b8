/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls come by time, those of all threads together; a batch holds those of one. A thread whose branches are
 * traced has them among its calls already.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/log.h"
#include "base/sort.h"
#include "rebuild/batch.h"
#include "rebuild/decoded.h"
#include "rebuild/input.h"
#include "rebuild/resolver.h"

struct sorted_call {
	struct sort_key key;
	const struct call *call;
};

static int compare(const void *left, const void *right)
{
	const struct call *a = ((const struct sorted_call *)left)->call;
	const struct call *b = ((const struct sorted_call *)right)->call;

	return ORDER_UP(a->tid, b->tid) ?: sort_by_key(left, right);
}

static struct sorted_call *sort_calls(const struct snapshot *snapshot)
{
	struct sorted_call *sorted = calloc(snapshot->call_cnt + 1, sizeof(*sorted));

	for (size_t i = 0; sorted && i < snapshot->call_cnt; i++)
		sorted[i] = (struct sorted_call){{snapshot->calls[i].time_ns, i}, &snapshot->calls[i]};
	if (sorted)
		sort_array(sorted, snapshot->call_cnt, sizeof(*sorted), compare);
	return sorted;
}

static bool has_branches(const struct snapshot *snapshot, int32_t tid)
{
	for (size_t i = 0; i < snapshot->aux_cnt; i++)
		if (snapshot->aux[i].cpu >= 0 || snapshot->aux[i].tid == tid)
			return true;
	return false;
}

static int add_thread(struct decoded *decoded, const struct snapshot *snapshot,
		      const struct sorted_call *calls, size_t cnt)
{
	struct history *history = decoded->history;
	const struct call *first = calls[0].call;
	const struct history_thread *known = history_thread(history, first->tid);
	CLEANUP(freep) struct call_edge_at *edges = calloc(cnt, sizeof(*edges));
	struct resolver resolver = {.snapshot = snapshot,
				    .process = history_process(history, first->pid),
				    .kernel = history->kernel,
				    .base_ns = decoded->timeline->base_ns};
	const struct batch batch = {
		.pid = first->pid,
		.tid = first->tid,
		.name = known ? known->name : NULL,
		.resolver = {.symbol_at = resolver_symbol_at, .time_ns = resolver_time_ns, .ctx = &resolver},
		.kind = BATCH_CALLS,
		.calls = {edges, cnt},
	};

	if (!edges)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		edges[i] = (struct call_edge_at){trace_clock_tsc(&snapshot->clock, calls[i].call->time_ns),
						 calls[i].call->ip, calls[i].call->edge == CALL_END};
	return batch_add(decoded->timeline, &batch);
}

static int build_calls(struct decoded *decoded, const struct snapshot *snapshot,
		       const struct decode_config *config)
{
	CLEANUP(freep) struct sorted_call *sorted = sort_calls(snapshot);
	int err = sorted ? 0 : -ENOMEM;

	(void)config;
	for (size_t i = 0, end; i < snapshot->call_cnt && !err; i = end) {
		int32_t tid = sorted[i].call->tid;

		for (end = i; end < snapshot->call_cnt && sorted[end].call->tid == tid;)
			end++;
		if (has_branches(snapshot, tid))
			log_warn("thread %d: its branches are shown, its %zu recorded calls are not", tid,
				 end - i);
		else
			err = add_thread(decoded, snapshot, &sorted[i], end - i);
	}
	return err;
}

static bool has_calls(const struct snapshot *snapshot)
{
	return snapshot->call_cnt;
}

const struct part part_calls = {has_calls, build_calls};
