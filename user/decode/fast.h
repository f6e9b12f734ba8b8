/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "decode/graph.h"
#include "decode/pieces.h"

enum { FAST_TARGETS = 1024 }; /* a power of two */

/*
 * What decoding a piece has found out about code, for the next one: nodes used lately, by address. Of one run
 * and one thread at a time. All 0 at the start.
 */
struct fast_memory {
	struct function_finder finder; /* .functions NULL: of no image yet */
	bool is_64;		       /* the code, and all of these nodes */
	struct fast_target {
		uint64_t ip;
		struct node *node; /* NULL: none */
	} targets[FAST_TARGETS];
};

/*
 * Decodes one piece by following its packets through the code's graph (decode/graph.h), and appends its
 * branches. These are the reference decoder's, without jumps inside functions if the config knows the
 * functions. Thread-safe but for `memory`. 0; -ENOMEM with a sentence; 1: it declines this piece, nothing was
 * appended, and *ret_why is the reason.
 */
int fast_decode(struct pieces *pieces, size_t index, struct fast_memory *memory, struct branch_list *branches,
		const char **ret_why);
