/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One AUX trace after the other. Its pieces are cut into the turns of threads, decoded and understood
 * (stacks_piece_new()) on all processors; branches live no longer than their piece. When all traces of a
 * snapshot are through, the turns are joined thread by thread, in the order of their times, since a thread
 * moves from processor to processor. Several snapshots are joined with a gap between them. When all is
 * joined, the first moment of any is known, and becomes time 0; then threads get their times side by side.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "history/uprobe_code.h"
#include "rebuild/decoded.h"
#include "rebuild/input.h"
#include "rebuild/marks/place_allocs.h"
#include "rebuild/thread_build.h"
#include "rebuild/traces.h"
#include "stacks/off_cpu.h"

/* A thread's turn on a processor, or a part of one. */
struct turn_build {
	struct sort_key key; /* its TSC; of equal ones the earlier of one trace comes first */
	struct thread_build *thread;
	struct stacks_piece *piece;
	bool is_gap;
};

struct turn_list {
	struct turn_build *items;
	size_t cnt, cap;
};

struct build {
	struct decoded *decoded;
	const struct snapshot *snapshot;
	const struct decode_config *config;
	struct thread_build **threads;
	size_t cnt, cap;
	struct turn_list turns;	   /* of the snapshot at hand */
	struct stacks_store store; /* of these turns */
	size_t snapshot_nth;	   /* counted from 1 */
};

static void turn_list_release(struct turn_list *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		stacks_piece_free(list->items[i].piece);
	free(list->items);
	*list = (struct turn_list){0};
}

/* ---- threads ---- */

static int thread_get(struct build *build, const struct schedule_turn *turn, struct thread_build **ret_thread)
{
	int err;

	for (size_t i = 0; i < build->cnt; i++) {
		*ret_thread = build->threads[i];
		if ((*ret_thread)->thread.pid == turn->pid && (*ret_thread)->thread.tid == turn->tid)
			return 0;
	}
	err = thread_build_new(ret_thread, build->decoded->history, build->snapshot, build->config, turn);
	if (err)
		return err;
	err = ARRAY_PUSH(build->threads, build->cnt, build->cap, *ret_thread);
	if (err)
		thread_build_free(*ret_thread);
	return err;
}

/* The turn comes behind what its thread did before; a gap with nothing before it says nothing. */
static int join(struct build *build, struct turn_build *turn)
{
	struct thread_build *thread = turn->thread;
	const struct branch between = {.tsc = turn->key.value, .kind = BRANCH_GAP, .gap = GAP_SNAPSHOT};
	struct stacks_piece *gap;
	int err = 0;

	if (turn->is_gap && thread->snapshot != build->snapshot_nth)
		return 0;
	if (thread->snapshot && thread->snapshot != build->snapshot_nth) {
		err = stacks_piece_new(&gap, &thread->config, &between, 1);
		if (!err)
			err = stacks_append(thread->stacks, gap);
	}
	thread->snapshot = build->snapshot_nth;
	if (!err)
		err = stacks_append(thread->stacks, TAKE_PTR(turn->piece));
	return err;
}

/* ---- one AUX trace ---- */

enum { LET_GO_EVERY = 16 << 20 };

struct trace_build {
	struct build *build;
	const struct schedule *schedule;
	struct thread_build **threads; /* of each version */
	struct turn_list *pieces;
	size_t cnt;
	const struct aux_trace *aux;
	size_t let_go; /* when so many of its bytes were done */
};

static int begin_pieces(void *ctx, size_t cnt)
{
	struct trace_build *trace = ctx;

	trace->pieces = calloc(cnt + 1, sizeof(*trace->pieces));
	trace->cnt = cnt;
	return trace->pieces ? 0 : -ENOMEM;
}

struct piece_build {
	const struct trace_build *trace;
	struct turn_list *turns;
};

static int build_turn(void *ctx, size_t version, struct branch *branches, size_t cnt)
{
	struct piece_build *piece = ctx;
	struct turn_build turn = {.key = {branches[0].tsc, 0}, .thread = piece->trace->threads[version]};
	size_t kept = uprobe_code_hide(turn.thread->resolver.process, branches, cnt);
	int err = kept ? stacks_piece_new(&turn.piece, &turn.thread->config, branches, kept) : 0;

	if (!err && kept && ARRAY_PUSH(piece->turns->items, piece->turns->cnt, piece->turns->cap, turn)) {
		stacks_piece_free(turn.piece);
		err = -ENOMEM;
	}
	return err;
}

static int build_piece(void *ctx, size_t index, size_t version, struct branch_list *branches)
{
	struct trace_build *trace = ctx;
	struct piece_build piece = {trace, &trace->pieces[index]};

	return traces_cut(trace->schedule, version, branches, build_turn, &piece);
}

/* A thread's own ring: what comes next of it needs no comparison with other traces. */
static int join_piece(void *ctx, size_t index)
{
	struct trace_build *trace = ctx;
	struct turn_list *turns = &trace->pieces[index];
	int err = 0;

	for (size_t i = 0; i < turns->cnt && !err; i++)
		err = join(trace->build, &turns->items[i]);
	turn_list_release(turns);
	return err;
}

/* What is read just now comes back. */
static void let_go(void *ctx)
{
	const struct trace_build *trace = ctx;

	aux_trace_let_go(trace->aux);
}

/* What was read is not read again. */
static void pass(void *ctx, size_t done, size_t size)
{
	struct trace_build *trace = ctx;
	const struct decode_config *config = trace->build->config;

	if (config->progress)
		config->progress(config->progress_ctx, done, size);
	if (done - trace->let_go < LET_GO_EVERY)
		return;
	let_go(trace);
	trace->let_go = done;
}

/* A processor's ring: others may have what the thread did before. */
static int store_piece(void *ctx, size_t index)
{
	struct trace_build *trace = ctx;
	struct turn_list *turns = &trace->pieces[index];
	int err = 0;

	for (size_t i = 0; i < turns->cnt && !err; i++)
		err = stacks_piece_put(turns->items[i].piece, &trace->build->store);
	return err;
}

static int find_threads(struct build *build, struct trace_build *trace)
{
	const struct schedule *schedule = trace->schedule;
	int err = 0;

	trace->threads = calloc(schedule->cnt + 1, sizeof(struct thread_build *));
	if (!trace->threads)
		return -ENOMEM;
	for (size_t i = 0; i < schedule->cnt && !err; i++)
		err = thread_get(build, &schedule->turns[i], &trace->threads[i]);
	return err;
}

/* The trace's turns join those of others; their times do not run back. */
static int hand_over(struct build *build, struct trace_build *trace)
{
	uint64_t tsc = 0;
	int err = 0;

	for (size_t i = 0; i < trace->cnt; i++) {
		for (size_t j = 0; j < trace->pieces[i].cnt; j++) {
			struct turn_build *turn = &trace->pieces[i].items[j];

			tsc = turn->key.value > tsc ? turn->key.value : tsc;
			turn->key = (struct sort_key){tsc, build->turns.cnt};
			if (!err)
				err = ARRAY_PUSH(build->turns.items, build->turns.cnt, build->turns.cap,
						 *turn);
			if (err)
				stacks_piece_free(turn->piece);
		}
		free(trace->pieces[i].items);
	}
	return err;
}

static int add_gap(struct build *build, struct thread_build *thread, uint64_t tsc, enum branch_gap reason)
{
	const struct branch gap = {.tsc = tsc, .kind = BRANCH_GAP, .gap = (uint8_t)reason};
	struct turn_build turn = {.key = {tsc, build->turns.cnt}, .thread = thread, .is_gap = true};
	int err = stacks_piece_new(&turn.piece, &thread->config, &gap, 1);

	if (!err && ARRAY_PUSH(build->turns.items, build->turns.cnt, build->turns.cap, turn)) {
		stacks_piece_free(turn.piece);
		err = -ENOMEM;
	}
	return err;
}

/*
 * What a processor's ring held of these turns was overwritten, or could not be read in time: for a thread
 * that was seen before, something is missing.
 */
static int add_overwritten(struct build *build, const struct trace_build *trace, const struct aux_trace *aux)
{
	const struct schedule *schedule = trace->schedule;
	const struct code_version *versions = schedule->versions;
	/* The part before this one is the last that was handed over. */
	uint64_t from =
		aux->continues && build->turns.cnt ? build->turns.items[build->turns.cnt - 1].key.value : 0;
	uint64_t first = UINT64_MAX;
	int err = 0;

	if (aux->cpu < 0 || !aux->offset)
		return 0;
	for (size_t i = 0; i < trace->cnt && first == UINT64_MAX; i++)
		if (trace->pieces[i].cnt)
			first = trace->pieces[i].items[0].key.value;
	for (size_t i = 0; i < schedule->cnt && !err && versions[i].start_tsc < first; i++)
		if (i + 1 == schedule->cnt || versions[i + 1].start_tsc > from)
			err = add_gap(build, trace->threads[i],
				      versions[i].start_tsc > from ? versions[i].start_tsc : from,
				      GAP_OVERFLOW);
	return err;
}

static int build_trace(void *ctx, struct trace_run *run)
{
	struct build *build = ctx;
	const struct aux_trace *aux = run->aux;
	struct trace_build trace = {.build = build, .aux = aux, .schedule = run->schedule};
	const struct decoder_pieces out = {.begin = begin_pieces,
					   .piece = build_piece,
					   .in_turn = aux->cpu < 0 ? join_piece : store_piece,
					   .ctx = &trace};
	int err = find_threads(build, &trace);

	build->snapshot_nth = run->snapshot + 1;
	run->decoder.progress = pass;
	run->decoder.passed = let_go;
	run->decoder.progress_ctx = &trace;
	/* Inlined calls begin and end anywhere. */
	if (!build->config->inlines)
		run->decoder.functions =
			(struct decoder_functions){history_function_at, build->decoded->history};
	if (!err)
		err = decoder_run_pieces(&run->decoder, aux->bytes, aux->size, &out);
	if (!err)
		err = add_overwritten(build, &trace, aux);
	if (!err) {
		err = hand_over(build, &trace);
	} else {
		for (size_t i = 0; i < trace.cnt; i++)
			turn_list_release(&trace.pieces[i]);
	}
	free(trace.pieces);
	free(trace.threads);
	return err;
}

/* ---- one snapshot ---- */

static int join_turns(void *ctx)
{
	struct build *build = ctx;
	struct turn_list *turns = &build->turns;
	int err = 0;

	sort_array(turns->items, turns->cnt, sizeof(*turns->items), sort_by_key);
	for (size_t i = 0; i < turns->cnt && !err; i++)
		err = join(build, &turns->items[i]);
	turn_list_release(turns);
	stacks_store_release(&build->store);
	return err;
}

/* ---- all of it ---- */

static uint64_t first_ns(const struct build *build)
{
	const struct snapshot *snapshot = build->snapshot;
	uint64_t first = UINT64_MAX, tsc;

	for (size_t i = 0; i < build->cnt; i++)
		if (stacks_first_tsc(build->threads[i]->stacks, &tsc) && tsc < first)
			first = tsc;
	first = first == UINT64_MAX ? first : trace_clock_ns(&snapshot->clock, first);
	for (size_t i = 0; i < snapshot->call_cnt; i++)
		if (snapshot->calls[i].time_ns < first)
			first = snapshot->calls[i].time_ns;
	if (first != UINT64_MAX)
		return first;
	if (snapshot->hits->cnt)
		first = snapshot->hits->hits[0]->time_ns;
	for (size_t i = 0; i < snapshot->alloc_cnt; i++)
		if (snapshot->allocs[i].time_ns < first)
			first = snapshot->allocs[i].time_ns;
	return first != UINT64_MAX ? trace_clock_from_monotonic(&snapshot->clock, first)
				   : snapshot->clock.trace_ns;
}

/* From each switch away from the thread to the next one to it. */
static int add_off_cpu(struct thread_build *thread, const struct history *history)
{
	struct off_cpu *times = NULL;
	size_t cnt = 0, cap = 0;
	int err = 0;

	for (size_t i = 0; i < history->switch_cnt && !err; i++) {
		const struct history_switch *event = &history->switches[i];
		uint64_t ns;

		if (event->tid != thread->thread.tid)
			continue;
		ns = resolver_time_ns(&thread->resolver, event->tsc);
		if (cnt && times[cnt - 1].end_ns == UINT64_MAX)
			times[cnt - 1].end_ns = ns;
		if (event->out)
			err = ARRAY_PUSH(times, cnt, cap, ((struct off_cpu){ns, UINT64_MAX}));
	}
	if (!err && cnt)
		err = off_cpu_add(&thread->thread, times, cnt);
	free(times);
	return err;
}

/* Its slices are complete, and get their times. */
static int finish_thread(struct build *build, struct thread_build *thread)
{
	int err;

	if (!thread->snapshot)
		return 0; /* it ran, but nothing of it was traced */
	thread->resolver.base_ns = build->decoded->timeline->base_ns;
	err = stacks_finish(thread->stacks);
	return err ? err : add_off_cpu(thread, build->decoded->history);
}

/* Debug information is loaded beside the threads. */
static int finish_nth(void *ctx, size_t i)
{
	struct build *build = ctx;

	if (i)
		return finish_thread(build, build->threads[i - 1]);
	if (build->config->source_lines)
		history_find_sources(build->decoded->history);
	return 0;
}

static int finish(struct build *build)
{
	struct timeline *timeline = build->decoded->timeline;
	int err;

	timeline->base_ns = first_ns(build);
	err = parallel_for(build->cnt + 1, build->config->threads, finish_nth, build);
	for (size_t i = 0; i < build->cnt && !err; i++) {
		struct thread_build *thread = build->threads[i];

		if (!thread->snapshot)
			continue;
		err = ARRAY_PUSH(timeline->threads, timeline->thread_cnt, timeline->thread_cap,
				 thread->thread);
		if (!err)
			thread->thread = (struct timeline_thread){0};
	}
	return err || timeline->thread_cnt || build->snapshot->call_cnt
		       ? err
		       : place_allocating(timeline, build->snapshot, build->decoded->history);
}

static int build_traces(struct decoded *decoded, const struct snapshot *snapshot,
			const struct decode_config *config)
{
	static const struct trace_ops ops = {.trace = build_trace, .snapshot_end = join_turns};
	struct build build = {.decoded = decoded, .snapshot = snapshot, .config = config};
	int err = traces_each(snapshot, decoded->history, config, &ops, &build);

	if (!err)
		err = finish(&build);
	turn_list_release(&build.turns);
	stacks_store_release(&build.store);
	for (size_t i = 0; i < build.cnt; i++)
		thread_build_free(build.threads[i]);
	free(build.threads);
	return err == -ENOMEM
		       ? fail(err, "no memory for the calls of the trace, or no room in $TMPDIR (/var/tmp)")
		       : err;
}

/* A recording of hits and allocations alone has an empty one. */
static bool has_traces(const struct snapshot *snapshot)
{
	return !snapshot->sample_cnt;
}

const struct part part_traces = {has_traces, build_traces};
