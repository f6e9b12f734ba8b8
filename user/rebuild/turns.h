/* SPDX-License-Identifier: BSD-2-Clause */
/* Decoding AUX traces whose bytes are of several threads. */
#pragma once

#include "rebuild/decode.h"
#include "rebuild/schedule.h"

/* For decoder_run_pieces() and the like. */
struct decoder_config turns_decoder(const struct snapshot *snapshot, const struct history *history,
				    const struct schedule *schedule, const struct decode_config *config,
				    struct decoder_cache *cache);

/*
 * Cuts a piece where one thread's turn ends and another's begins: calls fn with the branches of each, which it may change, and the version at their
 * beginning. Its non-zero return ends it and is returned.
 */
int turns_cut(const struct schedule *schedule, size_t version, const struct branch_list *piece,
	      int (*fn)(void *ctx, size_t version, struct branch *branches, size_t cnt), void *ctx);

/* Whether the AUX trace `index` begins another snapshot than the one that began with `first`: its ring was there already. */
bool turns_next_snapshot(const struct snapshot *snapshot, size_t first, size_t index);
