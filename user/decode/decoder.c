/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pieces of a stream are decoded on all processors, each into a list of its own, and the lists are joined
 * in order. A PSB resets the state of a decoder (last ip, return compression), so a piece needs nothing from
 * the one before it. The branch from one piece into the next belongs to the earlier one (decode/blocks.c).
 */
#include "decode/decoder.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "decode/blocks.h"
#include "decode/fast.h"

enum { AHEAD_MAX = 64 }; /* so many pieces wait for their turn at most */

enum piece_state { PIECE_DECODING, PIECE_WAITS, PIECE_FAILED };

struct run {
	struct pieces pieces;
	const struct decoder_pieces *out;
	size_t size, done;
	pthread_mutex_t lock; /* guards what is below, and the progress callback */
	size_t begun;	      /* one more than the highest index that was begun */
	pthread_cond_t turn;
	uint8_t *states; /* of pieces: enum piece_state */
	size_t next;	 /* whose turn it is, of pieces in order */
	bool has_turn;	 /* a thread is at it */
	bool failed;
	struct room *idle; /* those that no piece uses, linked */
};

/* What a piece is decoded with. */
struct room {
	struct branch_list branches;
	struct fast_memory memory;
	struct room *next;
};

static struct room *take_room(struct run *run)
{
	struct room *room;

	pthread_mutex_lock(&run->lock);
	room = run->idle;
	run->idle = room ? room->next : NULL;
	pthread_mutex_unlock(&run->lock);
	return room ? room : calloc(1, sizeof(*room));
}

static void give_room(struct run *run, struct room *room)
{
	room->branches.cnt = 0;
	pthread_mutex_lock(&run->lock);
	room->next = run->idle;
	run->idle = room;
	pthread_mutex_unlock(&run->lock);
}

static void free_rooms(struct run *run)
{
	while (run->idle) {
		struct room *room = run->idle;

		run->idle = room->next;
		branch_list_release(&room->branches);
		free(room);
	}
}

static void tell_progress(struct run *run, const struct piece *piece)
{
	const struct decoder_config *config = run->pieces.config;

	if (!config->progress)
		return;
	pthread_mutex_lock(&run->lock);
	run->done += piece->end - piece->begin;
	config->progress(config->progress_ctx, run->done, run->size);
	pthread_mutex_unlock(&run->lock);
}

/* False: cancelled. No piece is left out of which a later one was begun. */
static bool begin_piece(struct run *run, size_t i)
{
	const struct decoder_config *config = run->pieces.config;
	bool begins;

	pthread_mutex_lock(&run->lock);
	begins = i < run->begun || !config->is_cancelled || !config->is_cancelled();
	if (begins && i >= run->begun)
		run->begun = i + 1;
	pthread_mutex_unlock(&run->lock);
	return begins;
}

/* Whether the piece whose turn it is waits for that, and no thread is at another one. Locked. */
static bool is_due(const struct run *run)
{
	return !run->failed && !run->has_turn && run->next < run->pieces.cnt &&
	       run->states[run->next] != PIECE_DECODING;
}

/* Of the piece whose turn it is. Locked, but for the call. */
static int take_turn(struct run *run)
{
	size_t i = run->next;
	int err = 0;

	run->has_turn = true;
	run->failed = run->states[i] == PIECE_FAILED;
	pthread_mutex_unlock(&run->lock);
	if (!run->failed)
		err = run->out->in_turn(run->out->ctx, i);
	pthread_mutex_lock(&run->lock);
	run->has_turn = false;
	run->failed |= err;
	run->next++;
	return err;
}

/*
 * The piece waits for its turn, whether it failed or not. The thread need not: whoever is done with the piece
 * whose turn it is takes the turns of those behind it, too. But nobody gets too far ahead.
 */
static int take_turns(struct run *run, size_t i, int err)
{
	if (!run->out->in_turn)
		return err;
	pthread_mutex_lock(&run->lock);
	run->states[i] = err ? PIECE_FAILED : PIECE_WAITS;
	while (is_due(run) || (!run->failed && i >= run->next + AHEAD_MAX)) {
		if (is_due(run)) {
			int failed = take_turn(run);

			err = err ? err : failed;
			pthread_cond_broadcast(&run->turn);
		} else {
			pthread_cond_wait(&run->turn, &run->lock);
		}
	}
	pthread_mutex_unlock(&run->lock);
	return err;
}

/*
 * A FUP behind an overflow says that tracing goes on; but where the next PSB+ says that it does not, it was
 * written in error (erratum APL12). Who looks at one piece at a time cannot see that.
 */
static void correct_overflow(const struct pieces *pieces, size_t i, struct branch_list *list)
{
	struct branch *last = list->cnt ? &list->items[list->cnt - 1] : NULL;

	if (last && last->kind == BRANCH_GAP && last->gap == GAP_OVERFLOW && i + 1 < pieces->cnt &&
	    !pieces->items[i + 1].header.has_ip)
		last->to = 0;
}

static int decode_piece(void *ctx, size_t i)
{
	struct run *run = ctx;
	struct pieces *pieces = &run->pieces;
	const char *why = NULL;
	struct room *room;
	int err = 1;

	if (!begin_piece(run, i))
		return 0;
	room = take_room(run);
	if (!room)
		return take_turns(run, i, fail(-ENOMEM, "no memory to decode a piece"));
	if (pieces->config->kind == DECODER_FAST)
		err = fast_decode(pieces, i, &room->memory, &room->branches, &why);
	if (err > 0)
		err = blocks_decode(pieces, i, &room->branches);
	correct_overflow(pieces, i, &room->branches);
	decoder_cache_count(pieces->config->cache, pieces->items[i].end - pieces->items[i].begin, why);
	if (!err)
		err = run->out->piece(run->out->ctx, i, pieces->items[i].version, &room->branches);
	err = take_turns(run, i, err);
	give_room(run, room);
	tell_progress(run, &run->pieces.items[i]);
	return err;
}

/* A stream without a PSB: one gap. */
static int no_piece(const struct decoder_pieces *out)
{
	const struct branch nothing = {.kind = BRANCH_GAP, .gap = GAP_BAD_TRACE};
	struct branch_list list = {0};
	int err = out->begin(out->ctx, 1);

	if (!err)
		err = ARRAY_PUSH(list.items, list.cnt, list.cap, nothing);
	if (!err)
		err = out->piece(out->ctx, 0, 0, &list);
	if (!err && out->in_turn)
		err = out->in_turn(out->ctx, 0);
	branch_list_release(&list);
	return err;
}

int decoder_run_pieces(const struct decoder_config *config, const uint8_t *bytes, size_t size,
		       const struct decoder_pieces *out)
{
	struct run run = {.size = size,
			  .out = out,
			  .lock = PTHREAD_MUTEX_INITIALIZER,
			  .turn = PTHREAD_COND_INITIALIZER};
	int err;

	if (!size)
		return out->begin(out->ctx, 0);
	err = pieces_init(&run.pieces, config, bytes, size);
	if (err)
		return err;
	if (!run.pieces.cnt) {
		err = no_piece(out);
	} else {
		run.states = calloc(run.pieces.cnt, sizeof(*run.states));
		err = run.states ? out->begin(out->ctx, run.pieces.cnt) : -ENOMEM;
		if (!err)
			err = parallel_for(run.pieces.cnt, config->threads, decode_piece, &run);
	}
	free_rooms(&run);
	free(run.states);
	pieces_release(&run.pieces);
	return err;
}

/* ---- all branches at once ---- */

struct collected {
	struct branch_list *lists; /* one for each piece */
	size_t cnt;
};

static int begin_lists(void *ctx, size_t cnt)
{
	struct collected *collected = ctx;

	collected->lists = calloc(cnt + 1, sizeof(*collected->lists));
	collected->cnt = cnt;
	return collected->lists ? 0 : fail(-ENOMEM, "no memory for %zu pieces", cnt);
}

static int take_list(void *ctx, size_t index, size_t version, struct branch_list *branches)
{
	struct collected *collected = ctx;

	(void)version;
	collected->lists[index] = *branches;
	*branches = (struct branch_list){0};
	return 0;
}

static int join(const struct collected *collected, struct branch_list *branches)
{
	size_t cnt = branches->cnt;
	uint64_t tsc = 0;

	for (size_t i = 0; i < collected->cnt; i++)
		cnt += collected->lists[i].cnt;
	if (array_reserve(&branches->items, &branches->cap, cnt, sizeof(struct branch)))
		return fail(-ENOMEM, "no memory for %zu branches", cnt);
	for (size_t i = 0; i < collected->cnt; i++) {
		for (size_t j = 0; j < collected->lists[i].cnt; j++) {
			struct branch branch = collected->lists[i].items[j];

			/*
			 * Each PSB restates the time; where it had been overestimated a little, it stands
			 * still.
			 */
			branch.tsc = tsc = branch.tsc > tsc ? branch.tsc : tsc;
			branches->items[branches->cnt++] = branch;
		}
		branch_list_release(&collected->lists[i]);
	}
	return 0;
}

int decoder_run(const struct decoder_config *config, const uint8_t *bytes, size_t size,
		struct branch_list *branches)
{
	struct collected collected = {0};
	const struct decoder_pieces out = {.begin = begin_lists, .piece = take_list, .ctx = &collected};
	int err = decoder_run_pieces(config, bytes, size, &out);

	if (!err)
		err = join(&collected, branches);
	for (size_t i = 0; i < collected.cnt; i++)
		branch_list_release(&collected.lists[i]);
	free(collected.lists);
	return err;
}
