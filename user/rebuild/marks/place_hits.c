/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF tells the time of a hit. A slice's time comes from the packets around it, which tell the time less
 * often than calls happen. So a hit near its call may seem to lie outside. The hit belongs to the slice of
 * the probed function that is nearest in time on its thread, and its marker is moved into that slice.
 *
 *	            probed function's slice
 *	            |----------------------|
 *	      x ->  X					the hit as recorded, as shown
 *
 * A stepped instruction has the time at which the tracer saw it, which is late on a busy processor. So a
 * hit between two calls belongs to the second one.
 *
 * Where the trace shows the breakpoint itself, as an interruption at the probed instruction, the marker
 * stands at its beginning.
 */
#include "rebuild/marks/place_hits.h"

#include <string.h>

#include "base/array.h"
#include "rebuild/marks/goroutine_marks.h"
#include "rebuild/marks/slice_index.h"
#include "rebuild/marks/trigger_calls.h"

/* ---- hits ---- */

struct placing {
	struct timeline *timeline;
	const struct snapshot *snapshot;
	const struct symbol *(*symbol_at)(void *ctx, int32_t pid, uint64_t ip, uint64_t trace_ns);
	void *ctx;
	struct slice_indices indices;
	struct trigger_calls calls;
	struct goroutine_marks marks;
};

/*
 * The decoder tells the time of a branch late rather than early, so a return may seem to come after its hit.
 * Then `caller` seems to be in the middle of a call of the trigger's function. That call is the one that
 * returned, and the marker is moved to its end.
 */
static int move_behind_return(struct placing *placing, struct timeline_hit *placed,
			      const struct timeline_thread *thread, const struct indexed_slice *caller)
{
	const struct slice_wanted wanted = {
		.thread = thread, .calls = &placing->calls, .trigger = placed->hit->trigger};
	const struct indexed_slice *call;
	int err = slice_indices_around(&placing->indices, &wanted, placed->time_ns, caller->slice.depth + 1,
				       &call);

	if (!err && call && call->nth > caller->nth)
		placed->time_ns = call->slice.end_ns;
	return err;
}

/* Finds the hit's place on its thread. */
static int find_slice(struct placing *placing, struct timeline_hit *placed)
{
	const struct timeline_thread *thread =
		timeline_thread_of(placing->timeline, (int32_t)placed->hit->tid);
	const char *source = placing->snapshot->source;
	const struct slice_wanted call = {.thread = thread,
					  .symbol = placed->symbol,
					  .is_later = !hit_is_return(placed->hit) && source &&
						      !strcmp(source, "step")},
				  at_ip = {.thread = thread, .ip = hit_reg(placed->hit, HIT_IP)};
	const struct indexed_slice *slice, *interruption;
	int err = slice_indices_nearest(&placing->indices, &call, placed->time_ns, &slice);

	if (!err)
		err = slice_indices_nearest(&placing->indices, &at_ip, placed->time_ns, &interruption);
	if (err)
		return err;
	if (interruption)
		placed->time_ns = interruption->slice.start_ns;
	else if (slice)
		placed->time_ns = slice_moved_into(&slice->slice, placed->time_ns);
	if (slice && hit_is_return(placed->hit) && !interruption)
		err = move_behind_return(placing, placed, thread, slice);
	if (!err && slice && placed->hit->goroutine)
		err = goroutine_marks_add(&placing->marks, placing->timeline, thread, slice->outermost,
					  placed->hit->goroutine);
	return err;
}

static int place(struct placing *placing, const struct hit *hit)
{
	struct timeline *timeline = placing->timeline;
	uint64_t trace_ns = trace_clock_from_monotonic(&placing->snapshot->clock, hit->time_ns);
	const struct symbol *symbols[HIT_STACK_MAX];
	struct timeline_hit *placed;
	int err = array_reserve(&timeline->hits, &timeline->hit_cap, timeline->hit_cnt + 1, sizeof(*placed));

	if (err)
		return err;
	placed = &timeline->hits[timeline->hit_cnt++];
	*placed = (struct timeline_hit){.hit = hit};
	placed->time_ns = trace_ns > timeline->base_ns ? trace_ns - timeline->base_ns : 0;
	placed->symbol = placing->symbol_at(placing->ctx, (int32_t)hit->pid, hit_reg(hit, HIT_IP), trace_ns);
	err = find_slice(placing, placed);
	if (err)
		return err;
	for (size_t i = 0; i < hit->stack_cnt; i++)
		/* A return address is past its call: the byte before it is still in the caller. */
		symbols[i] = placing->symbol_at(placing->ctx, (int32_t)hit->pid, hit->stack[i] - (i ? 1 : 0),
						trace_ns);
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

		err = value->text && !text
			      ? -ENOMEM
			      : timeline_hit_add_value(&timeline->hits[value->hit], name, value->kind, text);
	}
	return err;
}

int place_hits(struct timeline *timeline, const struct snapshot *snapshot,
	       const struct symbol *(*symbol_at)(void *ctx, int32_t pid, uint64_t ip, uint64_t trace_ns),
	       void *ctx)
{
	struct placing placing = {
		.timeline = timeline, .snapshot = snapshot, .symbol_at = symbol_at, .ctx = ctx};
	int err = trigger_calls_init(&placing.calls, snapshot);

	timeline->hit_list = hit_list_share(snapshot->hits);
	for (size_t i = 0; i < snapshot->hits->cnt && !err; i++)
		err = place(&placing, snapshot->hits->hits[i]);
	slice_indices_release(&placing.indices);
	if (!err)
		err = goroutine_marks_apply(&placing.marks, timeline);
	goroutine_marks_release(&placing.marks);
	trigger_calls_release(&placing.calls);
	return err ? err : place_values(timeline, snapshot);
}
