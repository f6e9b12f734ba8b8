/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hit's time comes from BPF, a slice's from the packets around it, which tell time less often than calls
 * happen. So a hit near its call may seem to lie outside. Its thread's slice of the probed function that is
 * nearest in time is the one it belongs to, and the marker is moved into it.
 *
 *	            probed function's slice
 *	            |----------------------|
 *	      x ->  X					the hit as recorded, as shown
 *
 * Stepped instructions have the time when the tracer saw them, which is late where the processor is busy: a
 * hit between two calls belongs to the second one.
 *
 * Where the trace shows the breakpoint itself, as an interruption at the probed instruction, the marker
 * stands at its beginning.
 */
#include "rebuild/place_hits.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/slice_cursor.h"
#include "rebuild/slice_index.h"

/* ---- hits ---- */

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

/*
 * A decoder tells the time of a branch late rather than early: a return that was hit may seem to come behind
 * its hit. The call of the trigger's function that `caller` seems to be in the middle of is then the one that
 * returned, and the marker stands behind it.
 */
static uint64_t behind_return(const struct timeline *timeline, const struct timeline_thread *thread,
			      const struct slice *caller, const struct hit *hit, uint64_t time_ns)
{
	size_t i = timeline_thread_begun(thread, time_ns);

	while (i-- && &thread->slices[i] > caller) {
		const struct slice *slice = &thread->slices[i];

		if (slice->depth != caller->depth + 1)
			continue;
		if (slice->end_ns > time_ns && slice->symbol && !(slice->flags & SLICE_OPEN_END) &&
		    strstr(timeline_trigger(timeline, hit), slice->symbol->name))
			return slice->end_ns;
		break;
	}
	return time_ns;
}

static int place(struct timeline *timeline, const struct snapshot *snapshot, struct slice_indices *indices,
		 const struct hit *hit,
		 const struct symbol *(*symbol_at)(void *, int32_t, uint64_t, uint64_t), void *ctx)
{
	uint64_t trace_ns = trace_clock_from_monotonic(&snapshot->clock, hit->time_ns);
	struct timeline_thread *thread = timeline_thread_of(timeline, (int32_t)hit->tid);
	const struct slice *slice, *interruption;
	const struct symbol *symbols[HIT_STACK_MAX];
	struct timeline_hit *placed;
	int err = array_reserve(&timeline->hits, &timeline->hit_cap, timeline->hit_cnt + 1, sizeof(*placed));

	if (!err && thread)
		err = timeline_thread_load(thread);
	if (err)
		return err;
	placed = &timeline->hits[timeline->hit_cnt++];
	*placed = (struct timeline_hit){.hit = hit};
	placed->time_ns = trace_ns > timeline->base_ns ? trace_ns - timeline->base_ns : 0;
	placed->symbol = symbol_at(ctx, (int32_t)hit->pid, hit_reg(hit, HIT_IP), trace_ns);
	err = slice_indices_nearest(indices,
				    &(struct slice_wanted){.thread = thread,
							   .symbol = placed->symbol,
							   .is_later = !hit_is_return(hit) &&
								       snapshot->source &&
								       !strcmp(snapshot->source, "step")},
				    placed->time_ns, &slice);
	if (!err)
		err = slice_indices_nearest(
			indices, &(struct slice_wanted){.thread = thread, .ip = hit_reg(hit, HIT_IP)},
			placed->time_ns, &interruption);
	if (err)
		return err;
	placed->time_ns = interruption ? interruption->start_ns : slice_moved_into(slice, placed->time_ns);
	if (slice && hit_is_return(hit) && !interruption)
		placed->time_ns = behind_return(timeline, thread, slice, hit, placed->time_ns);
	mark_goroutine(timeline, thread, slice, hit->goroutine);
	for (size_t i = 0; i < hit->stack_cnt; i++)
		/* A return address is past its call: the byte before it is still in the caller. */
		symbols[i] = symbol_at(ctx, (int32_t)hit->pid, hit->stack[i] - (i ? 1 : 0), trace_ns);
	placed->stack_symbols = timeline_stack_symbols(timeline, symbols, hit->stack_cnt);
	return placed->stack_symbols ? 0 : -ENOMEM;
}

/* Hits stand on the timeline as in the snapshot. */
static int place_values(struct timeline *timeline, const struct snapshot *snapshot)
{
	int err = 0;

	for (size_t i = 0; i < snapshot->value_cnt && !err; i++) {
		const struct hit_value *value = &snapshot->values[i];
		const char *name = timeline_value_name(timeline, snapshot->value_names[value->name]);
		char *text = value->text ? strdup(value->text) : NULL;

		err = value->text && !text ? -ENOMEM
					   : timeline_hit_add_value(&timeline->hits[value->hit], name, text);
	}
	return err;
}

int place_hits(struct timeline *timeline, const struct snapshot *snapshot,
	       const struct symbol *(*symbol_at)(void *ctx, int32_t pid, uint64_t ip, uint64_t trace_ns),
	       void *ctx)
{
	struct slice_indices indices = {0};
	int err = 0;

	timeline->hit_list = hit_list_share(snapshot->hits);
	for (size_t i = 0; i < snapshot->hits->cnt && !err; i++)
		err = place(timeline, snapshot, &indices, snapshot->hits->hits[i], symbol_at, ctx);
	slice_indices_release(&indices);
	return err ? err : place_values(timeline, snapshot);
}
