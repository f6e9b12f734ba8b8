/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One AUX trace after the other: packets to branches on all processors (decode/), branches to slices (stacks/). The
 * images of the processes are made once from the sideband. Time 0 of the timeline is the first moment of any trace.
 */
#include "pipeline/decode.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "pipeline/history.h"
#include "pipeline/place_hits.h"
#include "stacks/stacks.h"

struct decoded {
	struct history *history;
	struct timeline *timeline;
};

/* What decoding one AUX trace needs. */
struct stream {
	const struct snapshot *snapshot;
	struct history_process *process; /* NULL: no code known */
	uint64_t base_ns;
	size_t version;			   /* of the image, at version_tsc's time */
	uint64_t version_from, version_to; /* TSCs between which `version` holds */
};

static const struct symbol nowhere = {.name = "[unknown]", .object = "[unknown]", .end = UINT64_MAX};

static void stream_seek(struct stream *stream, uint64_t tsc)
{
	const struct history_process *process = stream->process;
	size_t i = 0;

	if (tsc >= stream->version_from && tsc < stream->version_to)
		return;
	while (i + 1 < process->version_cnt && process->versions[i + 1].start_tsc <= tsc)
		i++;
	stream->version = i;
	stream->version_from = i ? process->versions[i].start_tsc : 0;
	stream->version_to = i + 1 < process->version_cnt ? process->versions[i + 1].start_tsc : UINT64_MAX;
}

static const struct symbol *symbol_at(void *ctx, uint64_t ip, uint64_t tsc)
{
	struct stream *stream = ctx;
	const struct symbol *symbol;

	if (!stream->process)
		return &nowhere;
	stream_seek(stream, tsc);
	symbol = image_symbol_at(stream->process->image, stream->version, ip);
	return symbol ? symbol : &nowhere;
}

static uint64_t time_ns(void *ctx, uint64_t tsc)
{
	const struct stream *stream = ctx;
	uint64_t ns = trace_clock_ns(&stream->snapshot->clock, tsc);

	return ns > stream->base_ns ? ns - stream->base_ns : 0;
}

/* How many execs have been. */
static uint64_t space_at(void *ctx, uint64_t tsc)
{
	const struct stream *stream = ctx;
	size_t cnt = 0;

	while (stream->process && cnt < stream->process->exec_cnt && stream->process->execs[cnt] <= tsc)
		cnt++;
	return cnt;
}

static struct decoder_config decoder_config(const struct stream *stream, const struct decode_config *config,
					    struct decoder_cache *cache)
{
	return (struct decoder_config){
		.params = &stream->snapshot->params,
		.cache = cache,
		.versions = stream->process ? stream->process->versions : NULL,
		.version_cnt = stream->process ? stream->process->version_cnt : 0,
		.threads = config->threads,
		.progress = config->progress,
		.progress_ctx = config->progress_ctx,
	};
}

DEFINE_CLEANUP(struct decoder_cache *, decoder_cache_free)

/* ---- branches of all traces ---- */

static void branch_lists_free(struct branch_list *lists, size_t cnt)
{
	for (size_t i = 0; lists && i < cnt; i++)
		branch_list_release(&lists[i]);
	free(lists);
}

static bool same_thread(const struct aux_trace *a, const struct aux_trace *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu;
}

/* Appends the branches of a later snapshot's trace, behind a gap: nothing is known of what the thread did between the two. */
static int append(struct branch_list *list, struct branch_list *later)
{
	struct branch gap = {
		.kind = BRANCH_GAP, .gap = GAP_SNAPSHOT, .tsc = later->cnt ? later->items[0].tsc : 0};
	int err = later->cnt ? array_reserve(&list->items, &list->cap, list->cnt + later->cnt + 1,
					     sizeof(*list->items))
			     : 0;

	if (err || !later->cnt)
		return err;
	list->items[list->cnt++] = gap;
	memcpy(list->items + list->cnt, later->items, later->cnt * sizeof(*later->items));
	list->cnt += later->cnt;
	branch_list_release(later);
	return 0;
}

/* The traces of one thread in several snapshots become the one of its first. */
static int join_snapshots(const struct snapshot *snapshot, struct branch_list *lists)
{
	int err = 0;

	for (size_t i = 1; i < snapshot->aux_cnt && !err; i++) {
		for (size_t j = 0; j < i; j++) {
			if (!same_thread(&snapshot->aux[i], &snapshot->aux[j]))
				continue;
			err = append(&lists[j], &lists[i]);
			break;
		}
	}
	return err;
}

static int decode_all(const struct snapshot *snapshot, struct history *history,
		      const struct decode_config *config, struct branch_list *lists)
{
	CLEANUP(decoder_cache_freep) struct decoder_cache *cache = NULL;
	int err = decoder_cache_new(&cache);

	for (size_t i = 0; i < snapshot->aux_cnt && !err; i++) {
		const struct aux_trace *aux = &snapshot->aux[i];
		struct stream stream = {.snapshot = snapshot, .process = history_process(history, aux->pid)};
		struct decoder_config decoder = decoder_config(&stream, config, cache);

		err = decoder_run(&decoder, aux->bytes, aux->size, &lists[i]);
	}
	return err ? err : join_snapshots(snapshot, lists);
}

/* Whether an earlier trace has taken over the branches of trace i. */
static bool was_joined(const struct snapshot *snapshot, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (same_thread(&snapshot->aux[i], &snapshot->aux[j]))
			return true;
	return false;
}

static uint64_t first_ns(const struct snapshot *snapshot, const struct branch_list *lists)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < snapshot->aux_cnt; i++) {
		uint64_t ns =
			lists[i].cnt ? trace_clock_ns(&snapshot->clock, lists[i].items[0].tsc) : UINT64_MAX;

		first = ns < first ? ns : first;
	}
	for (size_t i = 0; i < snapshot->hit_cnt && first == UINT64_MAX; i++)
		first = trace_clock_from_monotonic(&snapshot->clock, snapshot->hits[i].time_ns);
	return first == UINT64_MAX ? snapshot->clock.trace_ns : first;
}

int decode_branches(const struct snapshot *snapshot, const struct decode_config *config,
		    const struct decode_visitor *visitor)
{
	CLEANUP(history_freep) struct history *history = NULL;
	struct branch_list *lists = calloc(snapshot->aux_cnt + 1, sizeof(*lists));
	int err = lists ? history_new(&history, snapshot) : -ENOMEM;

	if (!err)
		err = decode_all(snapshot, history, config, lists);
	for (size_t i = 0; i < snapshot->aux_cnt && !err; i++) {
		const struct aux_trace *aux = &snapshot->aux[i];
		struct stream stream = {.snapshot = snapshot,
					.process = history_process(history, aux->pid),
					.base_ns = first_ns(snapshot, lists)};

		for (size_t j = 0; j < lists[i].cnt && !err; j++) {
			const struct branch *branch = &lists[i].items[j];

			err = visitor->branch(
				visitor->ctx, aux, branch, time_ns(&stream, branch->tsc),
				branch->from ? symbol_at(&stream, branch->from, branch->tsc) : NULL,
				branch->to ? symbol_at(&stream, branch->to, branch->tsc) : NULL);
		}
	}
	branch_lists_free(lists, snapshot->aux_cnt);
	return err;
}

struct instruction_call {
	const struct decode_visitor *visitor;
	const struct aux_trace *aux;
};

static int call_instruction(void *ctx, uint64_t ip, enum branch_gap gap)
{
	const struct instruction_call *call = ctx;

	return call->visitor->instruction(call->visitor->ctx, call->aux, ip, gap);
}

int decode_instructions(const struct snapshot *snapshot, const struct decode_config *config,
			const struct decode_visitor *visitor)
{
	CLEANUP(history_freep) struct history *history = NULL;
	CLEANUP(decoder_cache_freep) struct decoder_cache *cache = NULL;
	int err = history_new(&history, snapshot);

	if (!err)
		err = decoder_cache_new(&cache);
	for (size_t i = 0; i < snapshot->aux_cnt && !err; i++) {
		const struct aux_trace *aux = &snapshot->aux[i];
		struct stream stream = {.snapshot = snapshot, .process = history_process(history, aux->pid)};
		struct decoder_config decoder = decoder_config(&stream, config, cache);
		struct instruction_call call = {.visitor = visitor, .aux = aux};

		err = decoder_instructions(&decoder, aux->bytes, aux->size, call_instruction, &call);
	}
	return err;
}

/* ---- the timeline ---- */

static int thread_fill(struct timeline_thread *thread, const struct aux_trace *aux,
		       const struct history *history)
{
	const char *name = history_thread_name(history, aux->tid);

	*thread =
		(struct timeline_thread){.pid = aux->pid, .tid = aux->tid, .name = strdup(name ? name : "?")};
	return thread->name ? 0 : -ENOMEM;
}

static int build_threads(struct decoded *decoded, const struct snapshot *snapshot, struct branch_list *lists)
{
	struct timeline *timeline = decoded->timeline;

	for (size_t i = 0; i < snapshot->aux_cnt; i++) {
		const struct aux_trace *aux = &snapshot->aux[i];
		struct stream stream = {.snapshot = snapshot,
					.process = history_process(decoded->history, aux->pid),
					.base_ns = timeline->base_ns};
		struct stacks_config config = {
			.symbol_at = symbol_at, .time_ns = time_ns, .space_at = space_at, .ctx = &stream};
		int err;

		if (was_joined(snapshot, i))
			continue;
		err = array_reserve(&timeline->threads, &timeline->thread_cap, timeline->thread_cnt + 1,
				    sizeof(*timeline->threads));
		if (err)
			return err;
		err = thread_fill(&timeline->threads[timeline->thread_cnt++], aux, decoded->history);
		if (!err)
			err = stacks_build(&config, &lists[i], &timeline->threads[timeline->thread_cnt - 1]);
		if (err)
			return err;
		branch_list_release(&lists[i]);
	}
	return 0;
}

static void find_lines(struct decoded *decoded)
{
	for (size_t i = 0; i < decoded->timeline->thread_cnt; i++) {
		const struct timeline_thread *thread = &decoded->timeline->threads[i];
		struct history_process *process = history_process(decoded->history, thread->pid);

		for (size_t j = 0; process && j < thread->slice_cnt; j++)
			if (thread->slices[j].symbol && thread->slices[j].symbol != &nowhere)
				image_symbol_source(process->image, thread->slices[j].symbol);
	}
}

static int describe(struct timeline *timeline, const struct snapshot *snapshot)
{
	const struct trace_clock *clock = &snapshot->clock;

	timeline->base_realtime_ns = clock->realtime_ns + (timeline->base_ns - clock->trace_ns);
	timeline->command = strdup(snapshot->command);
	timeline->source = strdup(snapshot->source ? snapshot->source : "");
	timeline->stopped_by = strdup(snapshot->stopped_by ? snapshot->stopped_by : "");
	timeline->triggers = calloc(snapshot->trigger_cnt + 1, sizeof(*timeline->triggers));
	if (!timeline->command || !timeline->source || !timeline->stopped_by || !timeline->triggers)
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->trigger_cnt; i++) {
		timeline->triggers[i] = strdup(snapshot->triggers[i]);
		if (!timeline->triggers[i])
			return -ENOMEM;
		timeline->trigger_cnt++;
	}
	return 0;
}

static const struct symbol *hit_symbol(void *ctx, int32_t pid, uint64_t ip, uint64_t trace_ns)
{
	struct decoded *decoded = ctx;
	struct history_process *process = history_process(decoded->history, pid);
	size_t version = process ? image_version_at(process->image, trace_ns) : 0;

	return process ? image_symbol_at(process->image, version, ip) : NULL;
}

int decode_snapshot(struct decoded **ret_decoded, const struct snapshot *snapshot,
		    const struct decode_config *config)
{
	CLEANUP(decoded_freep) struct decoded *decoded = calloc(1, sizeof(*decoded));
	struct branch_list *lists = calloc(snapshot->aux_cnt + 1, sizeof(*lists));
	int err = decoded && lists ? timeline_new(&decoded->timeline) : -ENOMEM;

	if (!err)
		err = history_new(&decoded->history, snapshot);
	if (!err)
		err = decode_all(snapshot, decoded->history, config, lists);
	if (!err) {
		decoded->timeline->base_ns = first_ns(snapshot, lists);
		err = describe(decoded->timeline, snapshot);
	}
	if (!err)
		err = build_threads(decoded, snapshot, lists);
	branch_lists_free(lists, snapshot->aux_cnt);
	if (!err)
		err = place_hits(decoded->timeline, snapshot, hit_symbol, decoded);
	if (err)
		return err;
	if (config->source_lines)
		find_lines(decoded);
	*ret_decoded = TAKE_PTR(decoded);
	return 0;
}

void decoded_free(struct decoded *decoded)
{
	if (!decoded)
		return;
	timeline_free(decoded->timeline);
	history_free(decoded->history);
	free(decoded);
}

const struct timeline *decoded_timeline(const struct decoded *decoded)
{
	return decoded->timeline;
}

size_t decoded_slice_cnt(const struct decoded *decoded)
{
	size_t cnt = 0;

	for (size_t i = 0; i < decoded->timeline->thread_cnt; i++)
		cnt += decoded->timeline->threads[i].slice_cnt;
	return cnt;
}

size_t decoded_gap_cnt(const struct decoded *decoded)
{
	size_t cnt = 0;

	for (size_t i = 0; i < decoded->timeline->thread_cnt; i++)
		cnt += decoded->timeline->threads[i].instant_cnt;
	return cnt;
}
