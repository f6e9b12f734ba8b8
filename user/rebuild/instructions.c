/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each ring is listed for itself and kept, cut at its turns; then the turns of all rings are put in the order in which they began, so that the instructions of a
 * thread come in order wherever it ran.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "rebuild/decode.h"
#include "rebuild/turns.h"

struct entry {
	uint64_t ip;
	enum branch_gap gap;
};

struct turn {
	struct sort_key key; /* the TSC it began at */
	int32_t tid;
	struct entry *entries;
	size_t cnt, cap;
};

struct listing {
	struct history *history;
	struct decoder_cache *cache;
	struct schedule schedule;
	struct turn *turns;
	size_t cnt, cap;
	size_t nth;   /* of the last turn in its ring */
	bool in_ring; /* the last turn is of this ring */
};

static int begin_turn(struct listing *listing, size_t version)
{
	uint64_t tsc = listing->schedule.versions[version].start_tsc;
	struct turn turn = {.tid = listing->schedule.turns[version].tid};

	if (listing->in_ring && listing->turns[listing->cnt - 1].key.value > tsc)
		tsc = listing->turns[listing->cnt - 1].key.value;
	turn.key = (struct sort_key){tsc, listing->cnt};
	listing->in_ring = true;
	listing->nth = listing->schedule.turns[version].nth;
	return ARRAY_PUSH(listing->turns, listing->cnt, listing->cap, turn);
}

static int keep(void *ctx, size_t version, uint64_t ip, enum branch_gap gap)
{
	struct listing *listing = ctx;
	const struct entry entry = {ip, gap};
	struct turn *turn;
	int err = 0;

	if (!listing->in_ring || listing->schedule.turns[version].nth != listing->nth)
		err = begin_turn(listing, version);
	turn = &listing->turns[listing->cnt - 1];
	return err ? err : ARRAY_PUSH(turn->entries, turn->cnt, turn->cap, entry);
}

static int list_ring(struct listing *listing, const struct snapshot *snapshot, const struct aux_trace *aux,
		     const struct decode_config *config)
{
	struct decoder_config decoder;
	int err = schedule_make(&listing->schedule, listing->history, aux);

	if (err)
		return err;
	listing->in_ring = false;
	decoder = turns_decoder(snapshot, listing->history, &listing->schedule, config, listing->cache);
	err = decoder_instructions(&decoder, aux->bytes, aux->size, keep, listing);
	schedule_release(&listing->schedule);
	return err;
}

/* Shows the turns, unless there was an error, and forgets them. */
static int show(struct listing *listing, const struct decode_visitor *visitor, int err)
{
	sort_array(listing->turns, listing->cnt, sizeof(*listing->turns), sort_by_key);
	for (size_t i = 0; i < listing->cnt; i++) {
		const struct turn *turn = &listing->turns[i];

		for (size_t j = 0; j < turn->cnt && !err; j++)
			err = visitor->instruction(visitor->ctx, turn->tid, turn->entries[j].ip,
						   turn->entries[j].gap);
		free(turn->entries);
	}
	listing->cnt = 0;
	return err;
}

int decode_instructions(const struct snapshot *snapshot, const struct decode_config *config,
			const struct decode_visitor *visitor)
{
	struct listing listing = {0};
	size_t first = 0;
	int err = history_new(&listing.history, snapshot, config->symfs);

	if (!err)
		err = decoder_cache_new(&listing.cache);
	for (size_t i = 0; i < snapshot->aux_cnt && !err; i++) {
		if (turns_next_snapshot(snapshot, first, i)) {
			err = show(&listing, visitor, 0);
			first = i;
		}
		if (!err)
			err = list_ring(&listing, snapshot, &snapshot->aux[i], config);
	}
	err = show(&listing, visitor, err);
	free(listing.turns);
	decoder_cache_free(listing.cache);
	history_free(listing.history);
	return err;
}
