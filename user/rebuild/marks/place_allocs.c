/* SPDX-License-Identifier: BSD-2-Clause */
#include "rebuild/marks/place_allocs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/containers/arena.h"
#include "base/containers/hash_index.h"
#include "base/sort.h"
#include "model/slice_cursor.h"
#include "rebuild/marks/slice_index.h"

/*
 * Clocks differ by less: a call that is farther away is another one, and the right one is not in the trace.
 * With single-stepping the way from the call's end to the record takes longer, but nothing else happens then.
 */
enum { CLOCKS_DIFFER_NS = 1000000, WAY_TAKES_NS = 20000000 };

struct placing {
	struct timeline *timeline;
	const struct snapshot *snapshot;
	const struct symbol *(*symbol_at)(void *ctx, int32_t pid, uint64_t ip, uint64_t trace_ns);
	void *ctx;
	const struct stack_text **stacks; /* by index in snapshot->alloc_stacks; NULL: not made yet */
	struct slice_indices indices;
	struct hash_index begun;		   /* allocations, by address and time */
	uint64_t *first_ns;			   /* of each thread */
	const struct timeline_thread *last_thread; /* of the last instant */
	struct process_counters {
		uint32_t pid;
		struct counter allocated, alive;
	} * processes;
	size_t cnt, cap;
};

static const char *function_name(const struct placing *placing, const struct alloc *alloc)
{
	const struct snapshot *snapshot = placing->snapshot;

	return alloc->function < snapshot->alloc_function_cnt ? snapshot->alloc_functions[alloc->function]
							      : "unknown function";
}

/* ---- instants ---- */

/* One more than the index of the allocation that ends, in the snapshot; 0: it is not there. */
static uint64_t number_of(struct placing *placing, const struct alloc *alloc, int *ret_err)
{
	const struct alloc *allocs = placing->snapshot->allocs;
	uint64_t hash = hash_number(hash_number(0, alloc->address), alloc->began_ns);

	*ret_err = 0;
	if (alloc->kind != ALLOC_FREED) {
		*ret_err = hash_index_add(&placing->begun, hash, (size_t)(alloc - allocs));
		return (uint64_t)(alloc - allocs) + 1;
	}
	for (size_t at = 0, i; (i = hash_index_next(&placing->begun, hash, &at)) != HASH_INDEX_END;)
		if (allocs[i].address == alloc->address && allocs[i].began_ns == alloc->began_ns)
			return i + 1;
	return 0;
}

/* The frames are return addresses: the byte before each is still in its function. */
static char *make_stack(const struct placing *placing, const struct word_run *stack, uint64_t trace_ns)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (size_t i = 1; file && i < stack->cnt; i++) {
		const struct symbol *symbol = placing->symbol_at(placing->ctx, (int32_t)stack->words[0],
								 stack->words[i] - 1, trace_ns);

		fprintf(file, "%s%s", i > 1 ? "\n" : "", symbol ? symbol->name : "[unknown]");
	}
	if (file && !fclose(file))
		return text;
	free(text);
	return NULL;
}

static int set_stack(struct placing *placing, const struct alloc *alloc, struct instant *instant)
{
	const struct snapshot *snapshot = placing->snapshot;
	uint32_t stack = snapshot->alloc_stack_of ? snapshot->alloc_stack_of[alloc - snapshot->allocs] : 0;

	if (stack && !placing->stacks[stack - 1]) {
		uint64_t trace_ns = trace_clock_from_monotonic(&snapshot->clock, alloc->time_ns);
		CLEANUP(freep)
		char *text = make_stack(placing, &snapshot->alloc_stacks->runs[stack - 1], trace_ns);

		placing->stacks[stack - 1] = text ? timeline_stack_text(placing->timeline, text) : NULL;
		if (!placing->stacks[stack - 1])
			return -ENOMEM;
	}
	instant->stack = stack ? placing->stacks[stack - 1] : NULL;
	return 0;
}

static int set_alloc(struct placing *placing, const struct alloc *alloc, struct instant *instant)
{
	int err;
	const uint64_t number = number_of(placing, alloc, &err);
	const struct instant_alloc shown = {
		.function = alloc->kind == ALLOC_FREED ? NULL : function_name(placing, alloc),
		.number = number,
		.bytes = alloc->size,
		.address = alloc->address,
		.lifetime_ns = alloc->time_ns - alloc->began_ns};

	if (!err)
		err = set_stack(placing, alloc, instant);
	return err ? err : instant_set_alloc(instant, &shown);
}

static bool is_its_call(const struct indexed_slice *call, uint64_t time_ns)
{
	uint64_t distance_ns = slice_distance(&call->slice, time_ns);

	return distance_ns < CLOCKS_DIFFER_NS ||
	       (distance_ns < WAY_TAKES_NS && call->slice.end_ns < time_ns && call->next_start_ns >= time_ns);
}

/* The moment within the call of the function, where there is one so near that it must be that. */
static int moment_of(struct placing *placing, const struct timeline_thread *thread, const struct alloc *alloc,
		     uint64_t time_ns, uint64_t *ret_moment)
{
	const struct slice_wanted wanted = {.thread = thread, .name = function_name(placing, alloc)};
	const struct indexed_slice *call = NULL;
	int err = alloc->kind == ALLOC_SAMPLED
			  ? slice_indices_nearest(&placing->indices, &wanted, time_ns, &call)
			  : 0;

	if (err)
		return err;
	*ret_moment = call && is_its_call(call, time_ns) ? slice_moved_into(&call->slice, time_ns) : time_ns;
	return 0;
}

/* When the first slice of each thread begins. */
static int find_first(struct placing *placing)
{
	const struct timeline *timeline = placing->timeline;
	int err = 0;

	placing->first_ns = calloc(timeline->thread_cnt + 1, sizeof(*placing->first_ns));
	if (!placing->first_ns)
		return -ENOMEM;
	for (size_t i = 0; i < timeline->thread_cnt && !err; i++) {
		struct slice_cursor cursor;
		const struct slice *slice;

		err = slice_cursor_begin(&cursor, &timeline->threads[i]);
		slice = err ? NULL : slice_cursor_next(&cursor);
		placing->first_ns[i] = slice ? slice->start_ns : 0;
		err = slice_cursor_end(&cursor, err);
	}
	return err;
}

static int add_instant(struct placing *placing, const struct alloc *alloc, uint64_t time_ns)
{
	struct timeline_thread *thread = timeline_thread_of(placing->timeline, (int32_t)alloc->tid);
	struct instant instant = {0};
	int err;

	/* What comes before the thread's trace has no place in it. */
	if (!thread || time_ns + CLOCKS_DIFFER_NS < placing->first_ns[thread - placing->timeline->threads])
		return 0;
	err = moment_of(placing, thread, alloc, time_ns, &instant.time_ns);
	if (err)
		return err;
	/* What realloc() gave back comes before what it gave. */
	if (thread == placing->last_thread &&
	    instant.time_ns < thread->instants[thread->instant_cnt - 1].time_ns)
		thread->instants[thread->instant_cnt - 1].time_ns = instant.time_ns;
	placing->last_thread = thread;
	err = set_alloc(placing, alloc, &instant);
	if (!err)
		err = ARRAY_PUSH(thread->instants, thread->instant_cnt, thread->instant_cap, instant);
	if (err)
		instant_release(&instant);
	return err;
}

struct sorted_instant {
	struct sort_key key;
	struct instant instant;
};

/* Those of the trace stand there in order already, and ours behind them. */
static int sort_instants(struct timeline_thread *thread)
{
	struct sorted_instant *sorted = calloc(thread->instant_cnt + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < thread->instant_cnt; i++)
		sorted[i] = (struct sorted_instant){{thread->instants[i].time_ns, i}, thread->instants[i]};
	sort_array(sorted, thread->instant_cnt, sizeof(*sorted), sort_by_key);
	for (size_t i = 0; i < thread->instant_cnt; i++)
		thread->instants[i] = sorted[i].instant;
	free(sorted);
	return 0;
}

/* ---- counters ---- */

static int add_point(struct counter *counter, uint64_t time_ns, uint64_t value)
{
	struct counter_point *last = counter->point_cnt ? &counter->points[counter->point_cnt - 1] : NULL;

	/* The rings of several processors are read one by one: time may seem to run back a little. */
	if (last && time_ns <= last->time_ns) {
		last->value = value;
		return 0;
	}
	return ARRAY_PUSH(counter->points, counter->point_cnt, counter->point_cap,
			  ((struct counter_point){time_ns, value}));
}

static uint64_t last_value(const struct counter *counter)
{
	return counter->point_cnt ? counter->points[counter->point_cnt - 1].value : 0;
}

static struct process_counters *counters_of(struct placing *placing, uint32_t pid)
{
	struct process_counters fresh = {.pid = pid};

	for (size_t i = 0; i < placing->cnt; i++)
		if (placing->processes[i].pid == pid)
			return &placing->processes[i];
	if (ARRAY_PUSH(placing->processes, placing->cnt, placing->cap, fresh))
		return NULL;
	return &placing->processes[placing->cnt - 1];
}

static int count(struct placing *placing, const struct alloc *alloc, bool is_before, uint64_t time_ns)
{
	struct process_counters *process = counters_of(placing, alloc->pid);
	uint64_t bytes = alloc->samples * placing->snapshot->alloc_interval;
	uint64_t allocated, alive;
	int err;

	if (!process)
		return -ENOMEM;
	allocated = last_value(&process->allocated);
	alive = last_value(&process->alive);
	if (alloc->kind == ALLOC_FREED)
		return add_point(&process->alive, time_ns, alive > bytes ? alive - bytes : 0);
	err = add_point(&process->allocated, time_ns, is_before ? 0 : allocated + bytes);
	return err ? err : add_point(&process->alive, time_ns, alive + bytes);
}

static int add_counter(struct timeline *timeline, uint32_t pid, struct counter *counter, const char *name)
{
	int err;

	counter->name = strdup(name);
	counter->pid = counter->tid = (int32_t)pid;
	err = counter->name
		      ? ARRAY_PUSH(timeline->counters, timeline->counter_cnt, timeline->counter_cap, *counter)
		      : -ENOMEM;
	if (!err)
		*counter = (struct counter){0};
	return err;
}

static int add_counters(struct timeline *timeline, struct process_counters *process)
{
	int err = add_counter(timeline, process->pid, &process->alive, "live bytes (estimate)");

	return err ? err
		   : add_counter(timeline, process->pid, &process->allocated, "allocated bytes (estimate)");
}

static void counter_release(struct counter *counter)
{
	free(counter->name);
	free(counter->points);
}

static void placing_release(struct placing *placing)
{
	slice_indices_release(&placing->indices);
	hash_index_release(&placing->begun);
	free(placing->first_ns);
	free(placing->stacks);
	for (size_t i = 0; i < placing->cnt; i++) {
		counter_release(&placing->processes[i].alive);
		counter_release(&placing->processes[i].allocated);
	}
	free(placing->processes);
}

/* ---- all of it ---- */

static int place(struct placing *placing, const struct alloc *alloc)
{
	uint64_t base_ns = placing->timeline->base_ns;
	uint64_t trace_ns = trace_clock_from_monotonic(&placing->snapshot->clock, alloc->time_ns);
	bool is_before = trace_ns < base_ns;
	uint64_t time_ns = is_before ? 0 : trace_ns - base_ns;
	int err = count(placing, alloc, is_before, time_ns);

	return err || is_before ? err : add_instant(placing, alloc, time_ns);
}

int place_allocs(struct timeline *timeline, const struct snapshot *snapshot,
		 const struct symbol *(*symbol_at)(void *ctx, int32_t pid, uint64_t ip, uint64_t trace_ns),
		 void *ctx)
{
	struct placing placing = {
		.timeline = timeline, .snapshot = snapshot, .symbol_at = symbol_at, .ctx = ctx};
	int err = 0;

	if (!snapshot->alloc_cnt)
		return 0;
	placing.stacks = calloc((snapshot->alloc_stacks ? snapshot->alloc_stacks->cnt : 0) + 1,
				sizeof(*placing.stacks));
	err = placing.stacks ? find_first(&placing) : -ENOMEM;
	for (size_t i = 0; i < snapshot->alloc_cnt && !err; i++)
		err = place(&placing, &snapshot->allocs[i]);
	for (size_t i = 0; i < timeline->thread_cnt && !err; i++)
		err = sort_instants(&timeline->threads[i]);
	for (size_t i = 0; i < placing.cnt && !err; i++)
		err = add_counters(timeline, &placing.processes[i]);
	placing_release(&placing);
	return err;
}

int place_allocating(struct timeline *timeline, const struct snapshot *snapshot,
		     const struct history *history)
{
	for (size_t i = 0; i < snapshot->alloc_cnt; i++) {
		const struct alloc *alloc = &snapshot->allocs[i];
		const struct history_thread *known = history_thread(history, (int32_t)alloc->tid);
		struct timeline_thread thread = {.pid = (int32_t)alloc->pid, .tid = (int32_t)alloc->tid};

		if (timeline_thread_of(timeline, thread.tid))
			continue;
		thread.name = strdup(known ? known->name : "?");
		if (!thread.name ||
		    ARRAY_PUSH(timeline->threads, timeline->thread_cnt, timeline->thread_cap, thread)) {
			free(thread.name);
			return -ENOMEM;
		}
	}
	return 0;
}
