/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The snapshots of a timeline, each as a timeline of its own. One ends with the hits that stopped the trace;
 * the next one begins behind the gap that tells so, or else, where a source records on (samples), at once.
 * Times, threads and hits are those of the whole.
 */
#pragma once

#include "model/timeline.h"

/*
 * Calls each() for every snapshot, in their order; `part` is good for that call and is not to be changed. A
 * call that goes on in the next one is in both, with an inferred start or an open end. The slices of `whole`
 * are in arrays (timeline_load()). 0, -ENOMEM, or the error of each(), which ends it.
 */
int timeline_each_part(const struct timeline *whole,
		       int (*each)(void *ctx, const struct timeline *part, size_t nth), void *ctx);

/* How many there are: at least 1. */
size_t timeline_part_cnt(const struct timeline *whole);
