/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each ring is listed for itself and kept, cut at its turns; then the turns of all rings are put in the order
 * in which they began, so that the instructions of a thread come in order wherever it ran.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "rebuild/decode.h"
#include "rebuild/traces.h"

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
	const struct decode_visitor *visitor;
	const struct schedule *schedule; /* of the ring at hand */
	struct turn *turns;
	size_t cnt, cap;
	size_t nth;   /* of the last turn in its ring */
	bool in_ring; /* the last turn is of this ring */
};

static int begin_turn(struct listing *listing, size_t version)
{
	uint64_t tsc = listing->schedule->versions[version].start_tsc;
	struct turn turn = {.tid = listing->schedule->turns[version].tid};

	if (listing->in_ring && listing->turns[listing->cnt - 1].key.value > tsc)
		tsc = listing->turns[listing->cnt - 1].key.value;
	turn.key = (struct sort_key){tsc, listing->cnt};
	listing->in_ring = true;
	listing->nth = listing->schedule->turns[version].nth;
	return ARRAY_PUSH(listing->turns, listing->cnt, listing->cap, turn);
}

static int keep(void *ctx, size_t version, uint64_t ip, enum branch_gap gap)
{
	struct listing *listing = ctx;
	const struct entry entry = {ip, gap};
	struct turn *turn;
	int err = 0;

	if (!listing->in_ring || listing->schedule->turns[version].nth != listing->nth)
		err = begin_turn(listing, version);
	if (err)
		return err;
	turn = &listing->turns[listing->cnt - 1];
	return ARRAY_PUSH(turn->entries, turn->cnt, turn->cap, entry);
}

static int list_ring(void *ctx, struct trace_run *run)
{
	struct listing *listing = ctx;

	listing->in_ring = false;
	listing->schedule = run->schedule;
	return decoder_instructions(&run->decoder, run->aux->bytes, run->aux->size, keep, listing);
}

static void forget(struct listing *listing)
{
	for (size_t i = 0; i < listing->cnt; i++)
		free(listing->turns[i].entries);
	listing->cnt = 0;
}

static int show(void *ctx)
{
	struct listing *listing = ctx;
	const struct decode_visitor *visitor = listing->visitor;
	int err = 0;

	sort_array(listing->turns, listing->cnt, sizeof(*listing->turns), sort_by_key);
	for (size_t i = 0; i < listing->cnt && !err; i++) {
		const struct turn *turn = &listing->turns[i];

		for (size_t j = 0; j < turn->cnt && !err; j++)
			err = visitor->instruction(visitor->ctx, turn->tid, turn->entries[j].ip,
						   turn->entries[j].gap);
	}
	forget(listing);
	return err;
}

int decode_instructions(const struct snapshot *snapshot, const struct decode_config *config,
			const struct decode_visitor *visitor)
{
	static const struct trace_ops ops = {.trace = list_ring, .snapshot_end = show};
	CLEANUP(history_freep) struct history *history = NULL;
	struct listing listing = {.visitor = visitor};
	int err = history_new(&history, snapshot, config->symfs);

	if (!err)
		err = traces_each(snapshot, history, config, &ops, &listing);
	forget(&listing);
	free(listing.turns);
	return err;
}
