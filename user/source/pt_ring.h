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
 * The state of the AUX area when it was last taken. It shows whether the area has wrapped since, which the
 * kernel does not say.
 */
struct pt_taken {
	bool any;
	uint64_t head;
	uint8_t window[PT_WINDOW_BYTES]; /* the bytes before `head` */
};

/*
 * A linear copy of the bytes in the AUX area that were not taken before, oldest byte first. The event must be
 * stopped: only then is aux_head exact. The caller frees *ret_bytes; *ret_size may be 0. *ret_round: the area
 * has wrapped, so that older bytes are lost. 0 or -ENOMEM.
 */
int pt_ring_take(const struct pt_event_map *map, struct pt_taken *taken, uint8_t **ret_bytes,
		 size_t *ret_size, bool *ret_round);

/*
 * Appends the content of an AUX area that is mapped `to_be_read` to `file`, and releases it to the kernel.
 * Returns its size, or -errno of fwrite(3).
 */
ssize_t pt_ring_stream(const struct pt_event_map *map, FILE *file);

/*
 * Whether this is a PERF_RECORD_AUX that says: the area was full, later bytes are lost, and the event is
 * disabled.
 */
bool pt_ring_is_truncated(const struct perf_event_header *record);

/*
 * Calls fn with each pending whole record (copied if it wraps), and releases it to the kernel. A non-zero
 * return of fn ends this and is returned. -EBADMSG without a sentence: a record of impossible size; the rest
 * is dropped.
 */
int pt_ring_records(const struct pt_event_map *map,
		    int (*fn)(void *ctx, const struct perf_event_header *record), void *ctx);

/* How many records a PERF_RECORD_LOST counts. */
uint64_t pt_ring_lost(const struct perf_event_header *record);

/* How the TSC maps to the times in records. -ENOTSUP without a sentence: the kernel does not provide it. */
int pt_ring_clock(const struct pt_event_map *map, struct trace_clock *ret_clock);
