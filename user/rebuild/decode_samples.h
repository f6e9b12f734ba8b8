/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "rebuild/decoded.h"

/*
 * The timeline of a perf.data that has samples and no trace: threads of call stacks, and counters of what was counted besides. decoded->history is there.
 * 0 or -ENOMEM.
 */
int build_samples(struct decoded *decoded, const struct snapshot *snapshot);
