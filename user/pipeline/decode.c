/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole way from a snapshot: the images of the processes from the sideband (history.c), the threads with their calls from the traces (build.c),
 * the hits (place_hits.c). Besides, each hand-off for looking at.
 */
#include "pipeline/decode.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "pipeline/build.h"
#include "pipeline/decoded.h"
#include "pipeline/history.h"
#include "pipeline/place_hits.h"
#include "pipeline/stream.h"
#include "recording/recording.h"
#include "stacks/range.h"

DEFINE_CLEANUP(struct decoder_cache *, decoder_cache_free)

/* ---- the single steps ---- */

static int visit_branches(const struct stream *stream, const struct aux_trace *aux,
			  const struct branch_list *branches, const struct decode_visitor *visitor)
{
	void *ctx = (void *)stream;
	int err = 0;

	for (size_t i = 0; i < branches->cnt && !err; i++) {
		const struct branch *branch = &branches->items[i];

		err = visitor->branch(visitor->ctx, aux, branch, stream_time_ns(ctx, branch->tsc),
				      branch->from ? stream_symbol_at(ctx, branch->from, branch->tsc) : NULL,
				      branch->to ? stream_symbol_at(ctx, branch->to, branch->tsc) : NULL);
	}
	return err;
}

static uint64_t first_ns(const struct snapshot *snapshot, const struct branch_list *lists)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < snapshot->aux_cnt; i++) {
		uint64_t ns =
			lists[i].cnt ? trace_clock_ns(&snapshot->clock, lists[i].items[0].tsc) : UINT64_MAX;

		first = ns < first ? ns : first;
	}
	return first;
}

int decode_branches(const struct snapshot *snapshot, const struct decode_config *config,
		    const struct decode_visitor *visitor)
{
	CLEANUP(history_freep) struct history *history = NULL;
	CLEANUP(decoder_cache_freep) struct decoder_cache *cache = NULL;
	struct branch_list *lists = calloc(snapshot->aux_cnt + 1, sizeof(*lists));
	int err = lists ? history_new(&history, snapshot) : -ENOMEM;

	if (!err)
		err = decoder_cache_new(&cache);
	for (size_t i = 0; i < snapshot->aux_cnt && !err; i++) {
		const struct aux_trace *aux = &snapshot->aux[i];
		struct stream stream = {.snapshot = snapshot, .process = history_process(history, aux->pid)};
		struct decoder_config decoder = stream_decoder(&stream, config, cache);

		err = decoder_run(&decoder, aux->bytes, aux->size, &lists[i]);
	}
	for (size_t i = 0; i < snapshot->aux_cnt && !err; i++) {
		const struct aux_trace *aux = &snapshot->aux[i];
		struct stream stream = {.snapshot = snapshot,
					.process = history_process(history, aux->pid),
					.base_ns = first_ns(snapshot, lists)};

		err = visit_branches(&stream, aux, &lists[i], visitor);
	}
	for (size_t i = 0; lists && i < snapshot->aux_cnt; i++)
		branch_list_release(&lists[i]);
	free(lists);
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
		struct decoder_config decoder = stream_decoder(&stream, config, cache);
		struct instruction_call call = {.visitor = visitor, .aux = aux};

		err = decoder_instructions(&decoder, aux->bytes, aux->size, call_instruction, &call);
	}
	return err;
}

/* ---- the timeline ---- */

static void find_lines(struct decoded *decoded)
{
	for (size_t i = 0; i < decoded->timeline->thread_cnt; i++) {
		const struct timeline_thread *thread = &decoded->timeline->threads[i];
		struct history_process *process = history_process(decoded->history, thread->pid);

		for (size_t j = 0; process && j < thread->slice_cnt; j++)
			if (thread->slices[j].symbol && thread->slices[j].symbol != &stream_nowhere &&
			    !(thread->slices[j].flags & SLICE_INLINED))
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
	int err = decoded ? timeline_new(&decoded->timeline) : -ENOMEM;

	if (!err)
		err = history_new(&decoded->history, snapshot);
	if (!err)
		err = build_threads(decoded, snapshot, config);
	if (!err)
		err = describe(decoded->timeline, snapshot);
	if (!err)
		err = place_hits(decoded->timeline, snapshot, hit_symbol, decoded);
	if (err)
		return err;
	if (config->source_lines)
		find_lines(decoded);
	*ret_decoded = TAKE_PTR(decoded);
	return 0;
}

static int keep_between(struct decoded *decoded, const struct decode_config *config)
{
	int cnt = timeline_keep_between(decoded->timeline, config->from, config->to);

	if (cnt < 0)
		return fail(cnt, "no memory for what is between %s and %s", config->from, config->to);
	if (!cnt)
		return fail(-ENOENT,
			    "the trace shows no call of %s that a call of %s follows on the same thread",
			    config->from, config->to);
	return 0;
}

int decode_file(struct decoded **ret_decoded, const char *path, const struct decode_config *config)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;
	int err;

	if (perf_script_is(path)) {
		err = decode_script(&decoded, path);
	} else {
		err = recording_load(&snapshot, path);
		if (!err)
			err = decode_snapshot(&decoded, snapshot, config);
	}
	if (!err && config->from)
		err = keep_between(decoded, config);
	if (!err)
		*ret_decoded = TAKE_PTR(decoded);
	return err;
}

void decoded_free(struct decoded *decoded)
{
	if (!decoded)
		return;
	timeline_free(decoded->timeline);
	history_free(decoded->history);
	perf_script_free(decoded->script);
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
