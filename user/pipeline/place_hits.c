/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hit's time comes from BPF, a slice's from the packets around it, which tell time less often than calls happen. So a hit near
 * its call may seem to lie outside. Its thread's slice of the probed function that is nearest in time is the one it belongs to, and the
 * marker is moved into it.
 *
 *	            probed function's slice
 *	            |----------------------|
 *	      x ->  X					the hit as recorded, as shown
 *
 * Where the trace shows the breakpoint itself, as an interruption at the probed instruction, the marker stands at its beginning.
 */
#include "pipeline/place_hits.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/spill.h"

static const struct timeline_thread *thread_of(const struct timeline *timeline, int32_t tid)
{
	for (size_t i = 0; i < timeline->thread_cnt; i++)
		if (timeline->threads[i].tid == tid)
			return &timeline->threads[i];
	return NULL;
}

static uint64_t distance(const struct slice *slice, uint64_t time_ns)
{
	if (time_ns < slice->start_ns)
		return slice->start_ns - time_ns;
	return time_ns > slice->end_ns ? time_ns - slice->end_ns : 0;
}

/* Symbols of different versions of an image are different objects. */
static bool same_function(const struct symbol *a, const struct symbol *b)
{
	return a == b || (a && b && a->start == b->start && !strcmp(a->name, b->name));
}

/* ---- a thread's slices of one kind ---- */

/* Those of a function, or, where that is NULL, the interruptions at an ip; in the order in which they begin. */
struct slice_index {
	const struct timeline_thread *thread;
	const struct symbol *symbol;
	uint64_t ip;
	struct indexed_slice {
		const struct slice *slice;
		uint64_t latest_end; /* of it and all before it */
	} * items;
	size_t cnt, cap;
};

/* Hits are many, probed functions few. */
struct slice_indices {
	struct slice_index *items;
	size_t cnt, cap;
};

static void slice_indices_release(struct slice_indices *indices)
{
	for (size_t i = 0; i < indices->cnt; i++)
		spill_free(indices->items[i].items);
	free(indices->items);
}

static bool belongs(const struct slice_index *index, const struct slice *slice)
{
	return index->symbol ? same_function(slice->symbol, index->symbol)
			     : slice->kind == SLICE_UNTRACED && slice->ip == index->ip;
}

static int fill_index(struct slice_index *index)
{
	uint64_t latest = 0;
	int err = 0;

	for (size_t i = 0; i < index->thread->slice_cnt && !err; i++) {
		const struct slice *slice = &index->thread->slices[i];

		SPILL_PASS(index->thread->slices, i);
		if (!belongs(index, slice))
			continue;
		latest = slice->end_ns > latest ? slice->end_ns : latest;
		err = SPILL_PUSH(index->items, index->cnt, index->cap,
				 ((struct indexed_slice){slice, latest}));
	}
	return err;
}

static int index_of(struct slice_indices *indices, const struct slice_index *wanted,
		    const struct slice_index **ret_index)
{
	struct slice_index fresh = *wanted;
	int err;

	for (size_t i = 0; i < indices->cnt; i++) {
		*ret_index = &indices->items[i];
		if ((*ret_index)->thread == wanted->thread && (*ret_index)->ip == wanted->ip &&
		    (*ret_index)->symbol == wanted->symbol)
			return 0;
	}
	err = fill_index(&fresh);
	if (!err)
		err = ARRAY_PUSH(indices->items, indices->cnt, indices->cap, fresh);
	if (err)
		free(fresh.items);
	else
		*ret_index = &indices->items[indices->cnt - 1];
	return err;
}

/* Index of the first slice that begins after time_ns. */
static size_t first_after(const struct slice_index *index, uint64_t time_ns)
{
	size_t low = 0, high = index->cnt;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (index->items[mid].slice->start_ns <= time_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The slice that is nearest; of equally near ones the last, which is the innermost. NULL: there is none. */
static const struct slice *nearest(const struct slice_index *index, uint64_t time_ns)
{
	size_t after = first_after(index, time_ns), i = after;
	const struct slice *best = NULL;

	for (; i < index->cnt && (!best || index->items[i].slice->start_ns == best->start_ns); i++)
		best = index->items[i].slice;
	for (i = after; i-- > 0 && (!best || distance(best, time_ns));) {
		const struct indexed_slice *item = &index->items[i];

		if (best && item->latest_end < time_ns &&
		    time_ns - item->latest_end >= distance(best, time_ns))
			break;
		if (!best || distance(item->slice, time_ns) < distance(best, time_ns))
			best = item->slice;
	}
	return best;
}

/* The nearest slice of the thread that is the function's, or where that is NULL an interruption at ip: a breakpoint there. */
static int find_slice(struct slice_indices *indices, const struct slice_index *wanted, uint64_t time_ns,
		      const struct slice **ret_slice)
{
	const struct slice_index *index;
	int err;

	*ret_slice = NULL;
	if (!wanted->thread || (!wanted->symbol && !wanted->ip))
		return 0;
	err = index_of(indices, wanted, &index);
	if (!err)
		*ret_slice = nearest(index, time_ns);
	return err;
}

/* ---- hits ---- */

static uint64_t moved_into(const struct slice *slice, uint64_t time_ns)
{
	if (!slice)
		return time_ns;
	if (time_ns < slice->start_ns)
		return slice->start_ns;
	return time_ns > slice->end_ns ? slice->end_ns : time_ns;
}

uint64_t *hit_stack(const struct hit *hit, const struct symbol *symbol, size_t *ret_cnt)
{
	uint64_t ip = hit->regs[HIT_RIP];
	size_t stack_cnt = hit->stack_cnt < HIT_STACK_MAX ? hit->stack_cnt : HIT_STACK_MAX;
	size_t from = stack_cnt && hit->stack[0] == ip ? 1 : 0, cnt = 0;
	bool at_entry = symbol && symbol->start == ip && hit->return_address;
	uint64_t *ips = calloc(stack_cnt + 2, sizeof(*ips));

	if (!ips)
		return NULL;
	ips[cnt++] = ip;
	if (at_entry && (from >= stack_cnt || hit->stack[from] != hit->return_address))
		ips[cnt++] = hit->return_address;
	for (size_t i = from; i < stack_cnt; i++)
		ips[cnt++] = hit->stack[i];
	*ret_cnt = cnt;
	return ips;
}

static int fill_stack(struct timeline_hit *placed)
{
	placed->stack_ips = hit_stack(&placed->hit, placed->symbol, &placed->stack_cnt);
	if (!placed->stack_ips)
		return -ENOMEM;
	placed->stack_symbols = calloc(placed->stack_cnt + 1, sizeof(*placed->stack_symbols));
	return placed->stack_symbols ? 0 : -ENOMEM;
}

static uint16_t goroutine_get(struct timeline *timeline, uint64_t number)
{
	for (size_t i = 0; i < timeline->goroutine_cnt; i++)
		if (timeline->goroutines[i] == number)
			return (uint16_t)(i + 1);
	if (timeline->goroutine_cnt >= UINT16_MAX ||
	    ARRAY_PUSH(timeline->goroutines, timeline->goroutine_cnt, timeline->goroutine_cap, number))
		return 0;
	return (uint16_t)timeline->goroutine_cnt;
}

/* All that the goroutine's stack had open from one switch to the next lies in one outermost slice. */
static void mark_goroutine(struct timeline *timeline, const struct timeline_thread *thread,
			   const struct slice *slice, uint64_t number)
{
	uint16_t goroutine = number && slice ? goroutine_get(timeline, number) : 0;
	size_t i = slice ? (size_t)(slice - thread->slices) : 0;

	if (!goroutine)
		return;
	while (i && thread->slices[i].depth)
		i--;
	do
		thread->slices[i++].goroutine = goroutine;
	while (i < thread->slice_cnt && thread->slices[i].depth);
}

static int place(struct timeline *timeline, const struct snapshot *snapshot, struct slice_indices *indices,
		 const struct hit *hit,
		 const struct symbol *(*symbol_at)(void *, int32_t, uint64_t, uint64_t), void *ctx)
{
	uint64_t trace_ns = trace_clock_from_monotonic(&snapshot->clock, hit->time_ns);
	const struct timeline_thread *thread = thread_of(timeline, (int32_t)hit->tid);
	const struct slice *slice, *interruption;
	struct timeline_hit *placed;
	int err = array_reserve(&timeline->hits, &timeline->hit_cap, timeline->hit_cnt + 1, sizeof(*placed));

	if (err)
		return err;
	placed = &timeline->hits[timeline->hit_cnt++];
	*placed = (struct timeline_hit){.hit = *hit};
	placed->time_ns = trace_ns > timeline->base_ns ? trace_ns - timeline->base_ns : 0;
	placed->symbol = symbol_at(ctx, (int32_t)hit->pid, hit->regs[HIT_RIP], trace_ns);
	err = find_slice(indices, &(struct slice_index){.thread = thread, .symbol = placed->symbol},
			 placed->time_ns, &slice);
	if (!err)
		err = find_slice(indices, &(struct slice_index){.thread = thread, .ip = hit->regs[HIT_RIP]},
				 placed->time_ns, &interruption);
	if (err)
		return err;
	placed->time_ns = interruption ? interruption->start_ns : moved_into(slice, placed->time_ns);
	mark_goroutine(timeline, thread, slice, hit->goroutine);
	err = fill_stack(placed);
	if (err)
		return err;
	for (size_t i = 0; i < placed->stack_cnt; i++)
		/* A return address is past its call: the byte before it is still in the caller. */
		placed->stack_symbols[i] =
			symbol_at(ctx, (int32_t)hit->pid, placed->stack_ips[i] - (i ? 1 : 0), trace_ns);
	return err;
}

int place_hits(struct timeline *timeline, const struct snapshot *snapshot,
	       const struct symbol *(*symbol_at)(void *ctx, int32_t pid, uint64_t ip, uint64_t trace_ns),
	       void *ctx)
{
	struct slice_indices indices = {0};
	int err = 0;

	for (size_t i = 0; i < snapshot->hit_cnt && !err; i++)
		err = place(timeline, snapshot, &indices, &snapshot->hits[i], symbol_at, ctx);
	slice_indices_release(&indices);
	return err;
}
