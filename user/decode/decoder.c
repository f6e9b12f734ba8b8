/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pieces of a stream are decoded on all processors, each into a list of its own, and the lists are joined in order. A PSB resets all that a decoder
 * remembers (last ip, return compression), so a piece needs nothing from the one before it; the branch that leads from one piece into the next is
 * found by the earlier one (decode/blocks.c).
 */
#include "decode/decoder.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "decode/blocks.h"

struct run {
	struct pieces pieces;
	struct branch_list *lists; /* one for each piece */
	size_t size, done;
	pthread_mutex_t lock; /* guards `done` and the progress callback */
};

static int decode_piece(void *ctx, size_t i)
{
	struct run *run = ctx;
	const struct decoder_config *config = run->pieces.config;
	int err = blocks_decode(&run->pieces, i, &run->lists[i]);

	if (err || !config->progress)
		return err;
	pthread_mutex_lock(&run->lock);
	run->done += run->pieces.items[i].end - run->pieces.items[i].begin;
	config->progress(config->progress_ctx, run->done, run->size);
	pthread_mutex_unlock(&run->lock);
	return 0;
}

static int join(struct run *run, struct branch_list *branches)
{
	size_t cnt = branches->cnt;
	uint64_t tsc = 0;

	for (size_t i = 0; i < run->pieces.cnt; i++)
		cnt += run->lists[i].cnt;
	if (array_reserve(&branches->items, &branches->cap, cnt, sizeof(struct branch)))
		return fail(-ENOMEM, "no memory for %zu branches", cnt);
	for (size_t i = 0; i < run->pieces.cnt; i++) {
		for (size_t j = 0; j < run->lists[i].cnt; j++) {
			struct branch branch = run->lists[i].items[j];

			/* Each PSB restates the time; where it had been overestimated a little, it stands still. */
			branch.tsc = tsc = branch.tsc > tsc ? branch.tsc : tsc;
			branches->items[branches->cnt++] = branch;
		}
		branch_list_release(&run->lists[i]);
	}
	return 0;
}

static int decode_pieces(struct run *run, unsigned int threads, struct branch_list *branches)
{
	int err;

	run->lists = calloc(run->pieces.cnt, sizeof(*run->lists));
	if (!run->lists)
		return fail(-ENOMEM, "no memory for %zu pieces", run->pieces.cnt);
	err = parallel_for(run->pieces.cnt, threads, decode_piece, run);
	if (!err)
		err = join(run, branches);
	for (size_t i = 0; i < run->pieces.cnt; i++)
		branch_list_release(&run->lists[i]);
	free(run->lists);
	return err;
}

int decoder_run(const struct decoder_config *config, const uint8_t *bytes, size_t size,
		struct branch_list *branches)
{
	struct run run = {.size = size, .lock = PTHREAD_MUTEX_INITIALIZER};
	const struct branch nothing = {.kind = BRANCH_GAP, .gap = GAP_BAD_TRACE};
	int err;

	if (!size)
		return 0;
	err = pieces_init(&run.pieces, config, bytes, size);
	if (err)
		return err;
	if (run.pieces.cnt)
		err = decode_pieces(&run, config->threads, branches);
	else
		err = ARRAY_PUSH(branches->items, branches->cnt, branches->cap, nothing);
	pieces_release(&run.pieces);
	return err;
}
