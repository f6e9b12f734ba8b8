/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One AUX trace after the other. Its pieces are decoded and understood (stacks_piece_new()) on all processors, then joined in order; branches live no longer
 * than their piece. The traces of one thread in several snapshots are joined, with a gap between them. When all are joined, the
 * first moment of any is known, and becomes time 0.
 */
#include "pipeline/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "pipeline/place_hits.h"
#include "pipeline/stream.h"

/* What one thread of the timeline is made from. Others point into it: it does not move. */
struct thread_build {
	struct stream stream;
	struct stacks_config config;
	struct timeline_thread thread;
	struct stacks *stacks;
	struct known_stack *known;
};

struct build {
	struct decoded *decoded;
	const struct snapshot *snapshot;
	const struct decode_config *config;
	struct thread_build **threads;
	size_t cnt, cap;
};

/* ---- threads ---- */

static void thread_build_free(struct thread_build *thread)
{
	for (size_t i = 0; thread->known && i < thread->config.known_cnt; i++)
		free((uint64_t *)thread->known[i].ips);
	free(thread->known);
	stacks_free(thread->stacks);
	timeline_thread_release(&thread->thread);
	free(thread);
}

/* The stacks that the thread's hits recorded, by time. */
static int learn_stacks(struct thread_build *thread, const struct snapshot *snapshot)
{
	thread->known = calloc(snapshot->hit_cnt + 1, sizeof(*thread->known));
	if (!thread->known)
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->hit_cnt; i++) {
		const struct hit *hit = &snapshot->hits[i];
		struct known_stack *known = &thread->known[thread->config.known_cnt];
		uint64_t *ips;

		if ((int32_t)hit->tid != thread->thread.tid)
			continue;
		known->tsc = trace_clock_tsc(&snapshot->clock,
					     trace_clock_from_monotonic(&snapshot->clock, hit->time_ns));
		ips = hit_stack(hit, stream_symbol_at(&thread->stream, hit->regs[HIT_RIP], known->tsc),
				&known->cnt);
		if (!ips)
			return -ENOMEM;
		known->ips = ips;
		thread->config.known_cnt++;
	}
	thread->config.known = thread->known;
	return 0;
}

static int thread_build_new(struct thread_build **ret_thread, struct build *build,
			    const struct aux_trace *aux)
{
	struct thread_build *thread = calloc(1, sizeof(*thread));
	const char *name = history_thread_name(build->decoded->history, aux->tid);
	int err;

	if (!thread)
		return -ENOMEM;
	thread->stream = (struct stream){.snapshot = build->snapshot,
					 .process = history_process(build->decoded->history, aux->pid)};
	thread->config =
		(struct stacks_config){.symbol_at = stream_symbol_at,
				       .time_ns = stream_time_ns,
				       .space_at = stream_space_at,
				       .landing = stream_landing,
				       .inlines_at = build->config->inlines ? stream_inlines_at : NULL,
				       .ctx = &thread->stream};
	thread->thread =
		(struct timeline_thread){.pid = aux->pid, .tid = aux->tid, .name = strdup(name ? name : "?")};
	err = thread->thread.name ? learn_stacks(thread, build->snapshot) : -ENOMEM;
	if (!err)
		err = stacks_new(&thread->stacks, &thread->config, &thread->thread);
	if (!err)
		err = ARRAY_PUSH(build->threads, build->cnt, build->cap, thread);
	if (err)
		thread_build_free(thread);
	else
		*ret_thread = thread;
	return err;
}

/* The thread that the trace is of: the one that an earlier snapshot has made, or a new one. */
static int thread_get(struct build *build, const struct aux_trace *aux, struct thread_build **ret_thread)
{
	const struct branch gap = {.kind = BRANCH_GAP, .gap = GAP_SNAPSHOT};

	for (size_t i = 0; i < build->cnt; i++) {
		struct stacks_piece *piece;
		int err;

		*ret_thread = build->threads[i];
		if ((*ret_thread)->thread.pid != aux->pid || (*ret_thread)->thread.tid != aux->tid)
			continue;
		err = stacks_piece_new(&piece, &(*ret_thread)->config, &gap, 1);
		return err ? err : stacks_append((*ret_thread)->stacks, piece);
	}
	return thread_build_new(ret_thread, build, aux);
}

/* ---- pieces ---- */

struct piece_list {
	const struct stacks_config *config;
	struct stacks_piece **items;
	size_t cnt;
};

static int begin_pieces(void *ctx, size_t cnt)
{
	struct piece_list *list = ctx;

	list->items = calloc(cnt + 1, sizeof(*list->items));
	list->cnt = cnt;
	return list->items ? 0 : -ENOMEM;
}

static int build_piece(void *ctx, size_t index, struct branch_list *branches)
{
	struct piece_list *list = ctx;

	return stacks_piece_new(&list->items[index], list->config, branches->items, branches->cnt);
}

static int build_trace(struct thread_build *thread, const struct aux_trace *aux,
		       const struct decode_config *config, struct decoder_cache *cache)
{
	const struct decoder_config decoder = stream_decoder(&thread->stream, config, cache);
	struct piece_list list = {.config = &thread->config};
	const struct decoder_pieces out = {.begin = begin_pieces, .piece = build_piece, .ctx = &list};
	int err = decoder_run_pieces(&decoder, aux->bytes, aux->size, &out);

	for (size_t i = 0; i < list.cnt; i++) {
		if (err)
			stacks_piece_free(list.items[i]);
		else
			err = stacks_append(thread->stacks, list.items[i]);
	}
	free(list.items);
	return err;
}

/* ---- all of it ---- */

static uint64_t first_ns(const struct build *build)
{
	const struct snapshot *snapshot = build->snapshot;
	uint64_t first = UINT64_MAX, tsc;

	for (size_t i = 0; i < build->cnt; i++) {
		if (!stacks_first_tsc(build->threads[i]->stacks, &tsc))
			continue;
		if (trace_clock_ns(&snapshot->clock, tsc) < first)
			first = trace_clock_ns(&snapshot->clock, tsc);
	}
	for (size_t i = 0; i < snapshot->hit_cnt && first == UINT64_MAX; i++)
		first = trace_clock_from_monotonic(&snapshot->clock, snapshot->hits[i].time_ns);
	return first == UINT64_MAX ? snapshot->clock.trace_ns : first;
}

static int finish(struct build *build)
{
	struct timeline *timeline = build->decoded->timeline;
	int err = 0;

	timeline->base_ns = first_ns(build);
	for (size_t i = 0; i < build->cnt && !err; i++) {
		struct thread_build *thread = build->threads[i];

		thread->stream.base_ns = timeline->base_ns;
		err = stacks_finish(thread->stacks);
		if (!err)
			err = ARRAY_PUSH(timeline->threads, timeline->thread_cnt, timeline->thread_cap,
					 thread->thread);
		if (!err)
			thread->thread = (struct timeline_thread){0};
	}
	return err;
}

DEFINE_CLEANUP(struct decoder_cache *, decoder_cache_free)

int build_threads(struct decoded *decoded, const struct snapshot *snapshot,
		  const struct decode_config *config)
{
	CLEANUP(decoder_cache_freep) struct decoder_cache *cache = NULL;
	struct build build = {.decoded = decoded, .snapshot = snapshot, .config = config};
	int err = decoder_cache_new(&cache);

	for (size_t i = 0; i < snapshot->aux_cnt && !err; i++) {
		struct thread_build *thread;

		err = thread_get(&build, &snapshot->aux[i], &thread);
		if (!err)
			err = build_trace(thread, &snapshot->aux[i], config, cache);
	}
	if (!err)
		err = finish(&build);
	for (size_t i = 0; i < build.cnt; i++)
		thread_build_free(build.threads[i]);
	free(build.threads);
	return err == -ENOMEM ? fail(err, "no memory for the calls of the trace") : err;
}
