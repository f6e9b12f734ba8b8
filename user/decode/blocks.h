/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "decode/pieces.h"

/*
 * Decodes one piece with libipt's block decoder and appends its branches. Thread-safe. 0, or -ENOMEM/-EINVAL
 * with a sentence.
 */
int blocks_decode(struct pieces *pieces, size_t index, struct branch_list *branches);
