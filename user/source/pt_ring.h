/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two rings of a mapped intel_pt event, read as linux/perf_event.h says ("struct perf_event_mmap_page").
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "model/trace_params.h"
#include "source/pt_event.h"

enum { PT_WINDOW_BYTES = 256 };

/*
 * What was in the AUX area when it was last taken: the kernel does not tell how often it has been written
 * round.
 */
struct pt_taken {
	bool any;
	uint64_t head;
	uint8_t window[PT_WINDOW_BYTES]; /* what stood before `head` */
};

/*
 * A linear copy of what the AUX area holds that was not taken before, oldest byte first. The event must be
 * stopped: only then is aux_head true. *ret_bytes is the caller's to free; *ret_size may be 0. *ret_round: it
 * was written round, so that something before is lost. 0 or -ENOMEM.
 */
int pt_ring_take(const struct pt_event_map *map, struct pt_taken *taken, uint8_t **ret_bytes,
		 size_t *ret_size, bool *ret_round);

/*
 * Appends what the AUX area holds, mapped to be read, to `file`, and gives its room back. Its size, or -errno
 * of fwrite(3).
 */
ssize_t pt_ring_stream(const struct pt_event_map *map, FILE *file);

/* PERF_RECORD_AUX: the area was full, and what came then is lost; the event is disabled. */
bool pt_ring_is_truncated(const struct perf_event_header *record);

/*
 * Calls fn with each whole record that waits (copied where it wraps), and gives its room back. A non-zero
 * return of fn ends it and is returned. -EBADMSG without a sentence: a record of impossible size; the rest is
 * dropped.
 */
int pt_ring_records(const struct pt_event_map *map,
		    int (*fn)(void *ctx, const struct perf_event_header *record), void *ctx);

/* How many records a PERF_RECORD_LOST speaks of. */
uint64_t pt_ring_lost(const struct perf_event_header *record);

/* The TSC's relation to the time in records. -ENOTSUP without a sentence: the kernel does not tell it. */
int pt_ring_clock(const struct pt_event_map *map, struct trace_clock *ret_clock);
