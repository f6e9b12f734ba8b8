/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the stream of records in a perf.data file, from perf record in any of its modes or from trailcam.
 * Sideband records get the uniform trailer of model/sideband.h and time order; consecutive AUX buffers become
 * one trace.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>

#include "model/record_list.h"
#include "model/snapshot.h"
#include "recording/perf_stacks.h"

struct ZSTD_DCtx_s;

struct perf_events {
	struct snapshot *snapshot;
	/* The events, and the map from the id at a record's end to its event. */
	struct perf_event_attr *attrs;
	size_t attr_cnt, attr_cap;
	struct perf_event_id {
		uint64_t id;
		size_t attr;
	} * ids;
	size_t id_cnt, id_cap;
	struct record_list records;
	struct ZSTD_DCtx_s *zstd;
	uint8_t *unpacked; /* decompressed records; the last may continue in the next chunk */
	size_t unpacked_size, unpacked_cap;
	struct perf_stacks stacks;
	bool is_open;	   /* their stream has not ended; perf never ends it */
	bool has_info;	   /* AUXTRACE_INFO was read */
	bool in_snapshots; /* AUX buffers are snapshots, not one stream */
};

/*
 * Adds an event and its ids. `attr` is `size` bytes of any version of the struct. 0; -EBADMSG with a
 * sentence; -ENOMEM.
 */
int perf_events_add_attr(struct perf_events *events, const uint8_t *attr, size_t size, const uint8_t *ids,
			 size_t id_cnt);

/* Reads consecutive records with their AUX bytes. 0; -EBADMSG or -ENOTSUP with a sentence; -ENOMEM. */
int perf_events_read(struct perf_events *events, const uint8_t *bytes, size_t size);

/*
 * Call it after the last record. Fills snapshot->sideband and the trace parameters, or the names of the
 * sampled events if there is no trace. -ENOTSUP with a sentence: there is neither, or the trace is of another
 * vendor's processor.
 */
int perf_events_finish(struct perf_events *events);

void perf_events_release(struct perf_events *events);

/* Whether the bytes are the mapped file's own, which stay where they are. */
static inline bool perf_events_in_file(const struct snapshot *snapshot, const uint8_t *bytes)
{
	const uint8_t *file = snapshot->file;

	return file && bytes >= file && bytes < file + snapshot->file_size;
}
