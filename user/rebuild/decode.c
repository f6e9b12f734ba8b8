/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole way from a snapshot: the images of the processes from the sideband (history.c), the threads with their calls from the traces (build.c),
 * the hits (place_hits.c). Besides, each hand-off for looking at.
 */
#include "rebuild/decode.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "input/fxt_read.h"
#include "rebuild/build.h"
#include "rebuild/decode_samples.h"
#include "rebuild/decoded.h"
#include "rebuild/history.h"
#include "rebuild/input.h"
#include "rebuild/place_allocs.h"
#include "rebuild/place_hits.h"
#include "rebuild/stream.h"
#include "rebuild/turns.h"
#include "recording/recording.h"
#include "timeline/range.h"

/* ---- the single steps ---- */

enum { FOUND = 1 };

/* What one AUX trace is decoded with. */
struct tracer {
	struct history *history;
	struct decoder_cache *cache;
	struct schedule schedule;
	const struct snapshot *snapshot;
	const struct decode_visitor *visitor;
	struct piece_branches {
		struct branch_list list;
		size_t version;
	} * pieces;
	size_t cnt;
	int (*fn)(void *ctx, size_t version, struct branch *branches, size_t cnt);
	uint64_t tsc, first_tsc;
};

static int tracer_init(struct tracer *tracer, const struct snapshot *snapshot,
		       const struct decode_config *config, const struct decode_visitor *visitor)
{
	int err;

	*tracer = (struct tracer){.snapshot = snapshot, .visitor = visitor, .first_tsc = UINT64_MAX};
	err = history_new(&tracer->history, snapshot, config->symfs);
	return err ? err : decoder_cache_new(&tracer->cache);
}

static void tracer_release(struct tracer *tracer)
{
	decoder_cache_free(tracer->cache);
	history_free(tracer->history);
}

static void forget_pieces(struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->cnt; i++)
		branch_list_release(&tracer->pieces[i].list);
	free(tracer->pieces);
	tracer->pieces = NULL;
	tracer->cnt = 0;
}

static int begin_pieces(void *ctx, size_t cnt)
{
	struct tracer *tracer = ctx;

	tracer->pieces = calloc(cnt + 1, sizeof(*tracer->pieces));
	tracer->cnt = cnt;
	return tracer->pieces ? 0 : -ENOMEM;
}

static int take_piece(void *ctx, size_t index, size_t version, struct branch_list *branches)
{
	struct tracer *tracer = ctx;

	tracer->pieces[index] = (struct piece_branches){*branches, version};
	*branches = (struct branch_list){0};
	return 0;
}

static int visit_piece(void *ctx, size_t index)
{
	struct tracer *tracer = ctx;
	struct piece_branches *piece = &tracer->pieces[index];
	int err = turns_cut(&tracer->schedule, piece->version, &piece->list, tracer->fn, tracer);

	branch_list_release(&piece->list);
	return err;
}

static int visit_turn(void *ctx, size_t version, struct branch *branches, size_t cnt)
{
	struct tracer *tracer = ctx;
	const struct schedule_turn *turn = &tracer->schedule.turns[version];
	struct stream stream = {.snapshot = tracer->snapshot,
				.process = turn->process,
				.base_ns = trace_clock_ns(&tracer->snapshot->clock, tracer->first_tsc)};
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		struct branch branch = branches[i];

		/* Each PSB restates the time; where it had been overestimated a little, it stands still. */
		branch.tsc = tracer->tsc = branch.tsc > tracer->tsc ? branch.tsc : tracer->tsc;
		err = tracer->visitor->branch(
			tracer->visitor->ctx, turn->tid, &branch, stream_time_ns(&stream, branch.tsc),
			branch.from ? stream_symbol_at(&stream, branch.from, branch.tsc) : NULL,
			branch.to && branch.kind != BRANCH_EVENT
				? stream_symbol_at(&stream, branch.to, branch.tsc)
				: NULL);
	}
	return err;
}

/* The time of the trace's first branch is time 0 if no other trace's is earlier. */
static int find_first(void *ctx, size_t version, struct branch *branches, size_t cnt)
{
	struct tracer *tracer = ctx;

	(void)version;
	(void)cnt;
	if (branches[0].tsc < tracer->first_tsc)
		tracer->first_tsc = branches[0].tsc;
	return FOUND;
}

static int trace_branches(struct tracer *tracer, const struct decode_config *config, size_t index,
			  int (*fn)(void *ctx, size_t version, struct branch *branches, size_t cnt))
{
	const struct decoder_pieces out = {
		.begin = begin_pieces, .piece = take_piece, .in_turn = visit_piece, .ctx = tracer};
	const struct aux_trace *aux = &tracer->snapshot->aux[index];
	struct decoder_config decoder;
	int err = schedule_make(&tracer->schedule, tracer->history, aux);

	if (err)
		return err;
	decoder = turns_decoder(tracer->snapshot, tracer->history, &tracer->schedule, config, tracer->cache);
	tracer->tsc = 0;
	tracer->fn = fn;
	err = decoder_run_pieces(&decoder, aux->bytes, aux->size, &out);
	forget_pieces(tracer);
	schedule_release(&tracer->schedule);
	return err == FOUND ? 0 : err;
}

int decode_branches(const struct snapshot *snapshot, const struct decode_config *config,
		    const struct decode_visitor *visitor)
{
	const struct branch gap = {.kind = BRANCH_GAP, .gap = GAP_SNAPSHOT};
	struct tracer tracer;
	size_t first = 0;
	int err = tracer_init(&tracer, snapshot, config, visitor);

	for (size_t i = 0; i < snapshot->aux_cnt && !err; i++)
		err = trace_branches(&tracer, config, i, find_first);
	for (size_t i = 0; i < snapshot->aux_cnt && !err; i++) {
		if (turns_next_snapshot(snapshot, first, i))
			first = i;
		if (first)
			err = visitor->branch(visitor->ctx, snapshot->aux[i].tid, &gap, 0, NULL, NULL);
		if (!err)
			err = trace_branches(&tracer, config, i, visit_turn);
	}
	tracer_release(&tracer);
	return err;
}

/* ---- the timeline ---- */

static void find_lines(const struct decoded *decoded)
{
	for (size_t i = 0; i < decoded->timeline->thread_cnt; i++) {
		const struct timeline_thread *thread = &decoded->timeline->threads[i];

		for (size_t j = 0; j < thread->slice_cnt; j++)
			if (thread->slices[j].symbol)
				image_symbol_source(thread->slices[j].symbol);
	}
}

static int describe(struct timeline *timeline, const struct snapshot *snapshot)
{
	const struct trace_clock *clock = &snapshot->clock;

	/* perf does not tell it. */
	if (clock->realtime_ns)
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
		err = history_new(&decoded->history, snapshot, config->symfs);
	if (!err)
		err = snapshot->sample_cnt ? build_samples(decoded, snapshot)
					   : build_threads(decoded, snapshot, config);
	if (!err)
		err = describe(decoded->timeline, snapshot);
	if (!err)
		err = place_hits(decoded->timeline, snapshot, hit_symbol, decoded);
	if (!err)
		err = place_allocs(decoded->timeline, snapshot);
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

/* A trace that was written before: nothing is left to decode. */
static int decode_trace(struct decoded **ret_decoded, const char *path)
{
	CLEANUP(decoded_freep) struct decoded *decoded = calloc(1, sizeof(*decoded));
	int err = decoded ? fxt_read(&decoded->timeline, &decoded->names, path)
			  : fail(-ENOMEM, "no memory to read %s", path);

	if (!err)
		*ret_decoded = TAKE_PTR(decoded);
	return err;
}

static int decode_path(struct decoded **ret_decoded, const char *path, const struct decode_config *config)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;
	int err;

	if (fxt_is(path)) {
		err = decode_trace(&decoded, path);
	} else if (perf_script_is(path)) {
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

int decode_file(struct decoded **ret_decoded, const char *path, const struct decode_config *config)
{
	CLEANUP(input_release) struct input input = {.fd = -1};
	int err = input_open(&input, path, config->is_cancelled);

	if (err)
		return err;
	err = decode_path(ret_decoded, input.path, config);
	return err ? input_fail(&input, path, err) : 0;
}

void decoded_free(struct decoded *decoded)
{
	if (!decoded)
		return;
	timeline_free(decoded->timeline);
	history_free(decoded->history);
	perf_script_free(decoded->script);
	fxt_names_free(decoded->names);
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
		cnt += timeline_thread_gaps(&decoded->timeline->threads[i]);
	return cnt;
}
