/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stream of records in a perf.data file, whoever wrote it: perf record in any of its modes, or we.
 * Records of sideband get the one trailer that model/sideband.h describes, whatever their event's was, and
 * time order; AUX buffers that follow each other become one trace.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>

#include "model/record_list.h"
#include "model/snapshot.h"

struct ZSTD_DCtx_s;

struct perf_events {
	struct snapshot *snapshot;
	/* Events, and which record is of which by the id at its end. */
	struct perf_event_attr *attrs;
	size_t attr_cnt, attr_cap;
	struct perf_event_id {
		uint64_t id;
		size_t attr;
	} * ids;
	size_t id_cnt, id_cap;
	struct record_list records;
	struct ZSTD_DCtx_s *zstd;
	uint8_t *unpacked; /* records that were compressed; the last may go on in the next chunk */
	size_t unpacked_size, unpacked_cap;
	bool has_info;	   /* AUXTRACE_INFO was there */
	bool in_snapshots; /* AUX buffers are snapshots, not one stream */
};

/*
 * An event and its ids. 0; -EBADMSG with a sentence; -ENOMEM. `attr` has `size` bytes of another version's
 * struct.
 */
int perf_events_add_attr(struct perf_events *events, const uint8_t *attr, size_t size, const uint8_t *ids,
			 size_t id_cnt);

/*
 * Records one behind the other, with the AUX bytes that belong to them. 0; -EBADMSG or -ENOTSUP with a
 * sentence; -ENOMEM.
 */
int perf_events_read(struct perf_events *events, const uint8_t *bytes, size_t size);

/*
 * After the last: fills snapshot->sideband and the trace parameters, or names what was sampled where there is
 * no trace. -ENOTSUP with a sentence: there is neither, or the trace is of another vendor's processor.
 */
int perf_events_finish(struct perf_events *events);

void perf_events_release(struct perf_events *events);
