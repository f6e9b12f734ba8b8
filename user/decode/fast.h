/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "decode/pieces.h"

/*
 * Decodes one piece by following its packets through the code's graph (decode/graph.h), and appends its
 * branches. These are the reference decoder's, without jumps inside functions if the config knows the
 * functions. Thread-safe. 0; -ENOMEM with a sentence; 1: it declines this piece, nothing was appended, and
 * *ret_why is the reason.
 */
int fast_decode(struct pieces *pieces, size_t index, struct branch_list *branches, const char **ret_why);
