/* SPDX-License-Identifier: BSD-2-Clause */
/* Goes through the AUX traces of a snapshot: whose bytes each holds, and what it is to be decoded with. */
#pragma once

#include "history/schedule.h"
#include "rebuild/decode.h"

struct trace_run {
	const struct aux_trace *aux;
	const struct schedule *schedule;
	struct decoder_config decoder; /* for decoder_run_pieces() and the like; may be completed */
	size_t snapshot;	       /* a snapshot may hold several, one after the other: counted from 0 */
};

/* Non-zero returns end it and are returned. */
struct trace_ops {
	int (*trace)(void *ctx, struct trace_run *run);
	int (*snapshot_end)(void *ctx); /* all traces of one snapshot are through; may be NULL */
};

/* 0, or -errno with a sentence. */
int traces_each(const struct snapshot *snapshot, struct history *history, const struct decode_config *config,
		const struct trace_ops *ops, void *ctx);

/* For one trace by itself: decoder_run_pieces() and the like. All arguments must outlive it. */
struct decoder_config traces_decoder(const struct snapshot *snapshot, const struct history *history,
				     const struct schedule *schedule, const struct decode_config *config,
				     struct decoder_cache *cache);

/*
 * Cuts a piece where one thread's turn ends and another's begins: calls fn with the branches of each, which
 * it may change, and the version at their beginning. Its non-zero return ends it and is returned.
 */
int traces_cut(const struct schedule *schedule, size_t version, const struct branch_list *piece,
	       int (*fn)(void *ctx, size_t version, struct branch *branches, size_t cnt), void *ctx);
