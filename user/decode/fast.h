/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "decode/pieces.h"

/*
 * Decodes one piece by following its packets through the code's graph (decode/graph.h), and appends its
 * branches: those that the reference decoder gives, but for jumps inside functions where the config knows
 * these. Thread-safe. 0; -ENOMEM with a sentence; 1: it does not vouch for this piece, nothing was appended,
 * and *ret_why says why not.
 */
int fast_decode(struct pieces *pieces, size_t index, struct branch_list *branches, const char **ret_why);
