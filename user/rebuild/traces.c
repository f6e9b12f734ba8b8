/* SPDX-License-Identifier: BSD-2-Clause */
#include "rebuild/traces.h"

#include <stdbool.h>

#include "base/log.h"

static void tell_tally(struct decoder_cache *cache)
{
	struct decoder_tally tally;

	decoder_cache_tally(cache, &tally);
	log_debug("decoded %zu bytes in %zu pieces", tally.bytes, tally.pieces);
	if (tally.declined_pieces)
		log_debug("the fast decoder declined %zu pieces of %zu bytes, the first because of %s",
			  tally.declined_pieces, tally.declined_bytes, tally.why);
}

/*
 * Whether the AUX trace `index` begins another snapshot than the one that began with `first`: its ring was
 * there already.
 */
static bool begins_snapshot(const struct snapshot *snapshot, size_t first, size_t index)
{
	const struct aux_trace *aux = &snapshot->aux[index];

	for (size_t i = aux->continues ? index : first; i < index; i++)
		if (snapshot->aux[i].cpu == aux->cpu && snapshot->aux[i].tid == aux->tid)
			return true;
	return false;
}

struct decoder_config traces_decoder(const struct snapshot *snapshot, const struct history *history,
				     const struct schedule *schedule, const struct decode_config *config,
				     struct decoder_cache *cache)
{
	return (struct decoder_config){
		.params = &snapshot->params,
		.cache = cache,
		.images = history->images,
		.image_cnt = history->image_cnt,
		.list = history_sections,
		.list_ctx = (void *)history,
		.versions = schedule->versions,
		.version_cnt = schedule->cnt,
		.kind = config->decoder,
		.threads = config->threads,
		.progress = config->progress,
		.progress_ctx = config->progress_ctx,
		.is_cancelled = config->is_cancelled,
	};
}

static int run(struct trace_run *run, const struct snapshot *snapshot, struct history *history,
	       const struct decode_config *config, struct decoder_cache *cache, const struct trace_ops *ops,
	       void *ctx)
{
	struct schedule schedule;
	int err = schedule_make(&schedule, history, run->aux);

	if (err)
		return err;
	run->schedule = &schedule;
	run->decoder = traces_decoder(snapshot, history, &schedule, config, cache);
	err = ops->trace(ctx, run);
	schedule_release(&schedule);
	return err;
}

int traces_each(const struct snapshot *snapshot, struct history *history, const struct decode_config *config,
		const struct trace_ops *ops, void *ctx)
{
	CLEANUP(decoder_cache_freep) struct decoder_cache *cache = NULL;
	struct trace_run trace = {0};
	size_t first = 0;
	int err = decoder_cache_new(&cache);

	for (size_t i = 0; i < snapshot->aux_cnt && !err; i++) {
		if (begins_snapshot(snapshot, first, i)) {
			err = ops->snapshot_end ? ops->snapshot_end(ctx) : 0;
			trace.snapshot++;
			first = i;
		}
		trace.aux = &snapshot->aux[i];
		if (!err)
			err = run(&trace, snapshot, history, config, cache, ops, ctx);
	}
	if (!err && ops->snapshot_end)
		err = ops->snapshot_end(ctx);
	if (!err)
		tell_tally(cache);
	return err;
}

int traces_cut(const struct schedule *schedule, size_t version, const struct branch_list *piece,
	       int (*fn)(void *ctx, size_t version, struct branch *branches, size_t cnt), void *ctx)
{
	size_t begin = 0;
	int err = 0;

	for (size_t i = 0; i < piece->cnt && !err; i++) {
		const struct branch *branch = &piece->items[i];
		size_t next = branch->flags & BRANCH_TRACE_START ? (size_t)branch->detail : version;

		if (next != version && schedule->turns[next].nth != schedule->turns[version].nth &&
		    i > begin) {
			err = fn(ctx, version, piece->items + begin, i - begin);
			begin = i;
		}
		version = next;
	}
	return err || begin == piece->cnt ? err : fn(ctx, version, piece->items + begin, piece->cnt - begin);
}
