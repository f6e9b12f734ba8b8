/* SPDX-License-Identifier: BSD-2-Clause */
#include "rebuild/turns.h"

struct decoder_config turns_decoder(const struct snapshot *snapshot, const struct history *history,
				    const struct schedule *schedule, const struct decode_config *config,
				    struct decoder_cache *cache)
{
	return (struct decoder_config){
		.params = &snapshot->params,
		.cache = cache,
		.images = history->images,
		.image_cnt = history->image_cnt,
		.versions = schedule->versions,
		.version_cnt = schedule->cnt,
		.kind = config->decoder,
		.threads = config->threads,
		.progress = config->progress,
		.progress_ctx = config->progress_ctx,
		.is_cancelled = config->is_cancelled,
	};
}

int turns_cut(const struct schedule *schedule, size_t version, const struct branch_list *piece,
	      int (*fn)(void *ctx, size_t version, struct branch *branches, size_t cnt), void *ctx)
{
	size_t begin = 0;
	int err = 0;

	for (size_t i = 0; i < piece->cnt && !err; i++) {
		const struct branch *branch = &piece->items[i];
		size_t next = branch->flags & BRANCH_TRACE_START ? (size_t)branch->detail : version;

		if (schedule->turns[next].nth != schedule->turns[version].nth && i > begin) {
			err = fn(ctx, version, piece->items + begin, i - begin);
			begin = i;
		}
		version = next;
	}
	return err || begin == piece->cnt ? err : fn(ctx, version, piece->items + begin, piece->cnt - begin);
}

bool turns_next_snapshot(const struct snapshot *snapshot, size_t first, size_t index)
{
	const struct aux_trace *aux = &snapshot->aux[index];

	for (size_t i = aux->continues ? index : first; i < index; i++)
		if (snapshot->aux[i].cpu == aux->cpu && snapshot->aux[i].tid == aux->tid)
			return true;
	return false;
}
