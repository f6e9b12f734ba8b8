/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every branch of every trace, for looking at: a piece's branches wait until its turn comes. A pass before
 * finds the first time of all, which becomes time 0.
 */
#include <errno.h>
#include <stdlib.h>

#include "rebuild/decode.h"
#include "rebuild/resolver.h"
#include "rebuild/traces.h"

enum { FOUND = 1 };

struct listing {
	const struct snapshot *snapshot;
	const struct decode_visitor *visitor;
	const struct schedule *schedule; /* of the trace at hand */
	struct piece_branches {
		struct branch_list list;
		size_t version;
	} * pieces;
	size_t cnt;
	int (*fn)(void *ctx, size_t version, struct branch *branches, size_t cnt);
	uint64_t tsc, first_tsc;
};

static int begin_pieces(void *ctx, size_t cnt)
{
	struct listing *listing = ctx;

	listing->pieces = calloc(cnt + 1, sizeof(*listing->pieces));
	listing->cnt = cnt;
	return listing->pieces ? 0 : -ENOMEM;
}

static int take_piece(void *ctx, size_t index, size_t version, struct branch_list *branches)
{
	struct listing *listing = ctx;

	listing->pieces[index] = (struct piece_branches){*branches, version};
	*branches = (struct branch_list){0};
	return 0;
}

static int visit_piece(void *ctx, size_t index)
{
	struct listing *listing = ctx;
	struct piece_branches *piece = &listing->pieces[index];
	int err = traces_cut(listing->schedule, piece->version, &piece->list, listing->fn, listing);

	branch_list_release(&piece->list);
	return err;
}

static int visit_turn(void *ctx, size_t version, struct branch *branches, size_t cnt)
{
	struct listing *listing = ctx;
	const struct schedule_turn *turn = &listing->schedule->turns[version];
	struct resolver resolver = {.snapshot = listing->snapshot,
				    .process = turn->process,
				    .base_ns = trace_clock_ns(&listing->snapshot->clock, listing->first_tsc)};
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		struct branch branch = branches[i];

		/* Each PSB restates the time; where it had been overestimated a little, it stands still. */
		branch.tsc = listing->tsc = branch.tsc > listing->tsc ? branch.tsc : listing->tsc;
		err = listing->visitor->branch(
			listing->visitor->ctx, turn->tid, &branch, resolver_time_ns(&resolver, branch.tsc),
			branch.from ? resolver_symbol_at(&resolver, branch.from, branch.tsc) : NULL,
			branch.to && branch.kind != BRANCH_EVENT
				? resolver_symbol_at(&resolver, branch.to, branch.tsc)
				: NULL);
	}
	return err;
}

/* The time of the trace's first branch is time 0 if no other trace's is earlier. */
static int find_first(void *ctx, size_t version, struct branch *branches, size_t cnt)
{
	struct listing *listing = ctx;

	(void)version;
	(void)cnt;
	if (branches[0].tsc < listing->first_tsc)
		listing->first_tsc = branches[0].tsc;
	return FOUND;
}

static int list_trace(struct listing *listing, const struct trace_run *run,
		      int (*fn)(void *ctx, size_t version, struct branch *branches, size_t cnt))
{
	const struct decoder_pieces out = {
		.begin = begin_pieces, .piece = take_piece, .in_turn = visit_piece, .ctx = listing};
	int err;

	listing->schedule = run->schedule;
	listing->tsc = 0;
	listing->fn = fn;
	err = decoder_run_pieces(&run->decoder, run->aux->bytes, run->aux->size, &out);
	for (size_t i = 0; i < listing->cnt; i++)
		branch_list_release(&listing->pieces[i].list);
	free(listing->pieces);
	listing->pieces = NULL;
	listing->cnt = 0;
	return err == FOUND ? 0 : err;
}

static int first_of_trace(void *ctx, struct trace_run *run)
{
	return list_trace(ctx, run, find_first);
}

static int visit_trace(void *ctx, struct trace_run *run)
{
	const struct branch gap = {.kind = BRANCH_GAP, .gap = GAP_SNAPSHOT};
	struct listing *listing = ctx;
	int err = 0;

	if (run->snapshot)
		err = listing->visitor->branch(listing->visitor->ctx, run->aux->tid, &gap, 0, NULL, NULL);
	return err ? err : list_trace(listing, run, visit_turn);
}

int decode_branches(const struct snapshot *snapshot, const struct decode_config *config,
		    const struct decode_visitor *visitor)
{
	static const struct trace_ops first = {.trace = first_of_trace}, all = {.trace = visit_trace};
	CLEANUP(history_freep) struct history *history = NULL;
	struct listing listing = {.snapshot = snapshot, .visitor = visitor, .first_tsc = UINT64_MAX};
	int err = history_new(&history, snapshot, config->symfs);

	if (!err)
		err = traces_each(snapshot, history, config, &first, &listing);
	return err ? err : traces_each(snapshot, history, config, &all, &listing);
}
