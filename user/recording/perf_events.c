/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every size is checked against the file before use, so memory is bounded by the file's size; decompressed
 * data is bounded for each record. Types below 64 are the kernel's (linux/perf_event.h), others perf's own
 * (tools/lib/perf/include/perf/event.h).
 */
#include "recording/perf_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/spill.h"
#include "model/sideband.h"
#include "recording/perf_aux.h"
#include "recording/perf_data.h"
#include "recording/perf_features.h"
#include "recording/perf_sample.h"

enum { KERNEL_TYPES = 64, UNPACK_CHUNK = 1 << 16, UNPACKED_MAX = 1 << 24 };

static const uint64_t trailer_fields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
				       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

/* ---- events ---- */

int perf_events_add_attr(struct perf_events *events, const uint8_t *bytes, size_t size, const uint8_t *ids,
			 size_t id_cnt)
{
	struct perf_event_attr attr = {0};

	if (size < PERF_ATTR_SIZE_VER0)
		return fail(-EBADMSG, "its attributes are damaged");
	memcpy(&attr, bytes, size < sizeof(attr) ? size : sizeof(attr));
	if (ARRAY_PUSH(events->attrs, events->attr_cnt, events->attr_cap, attr))
		return -ENOMEM;
	for (size_t i = 0; i < id_cnt; i++) {
		struct perf_event_id id = {.attr = events->attr_cnt - 1};

		memcpy(&id.id, ids + 8 * i, sizeof(id.id));
		if (ARRAY_PUSH(events->ids, events->id_cnt, events->id_cap, id))
			return -ENOMEM;
	}
	return 0;
}

/* Without an id all events are of one kind. */
static const struct perf_event_attr *attr_of(const struct perf_events *events, const uint8_t *record,
					     size_t size)
{
	uint64_t id;

	if (!events->attr_cnt)
		return NULL;
	if (!(events->attrs[0].sample_type & PERF_SAMPLE_IDENTIFIER))
		return &events->attrs[0];
	memcpy(&id, record + size - sizeof(id), sizeof(id));
	for (size_t i = 0; i < events->id_cnt; i++)
		if (events->ids[i].id == id)
			return &events->attrs[events->ids[i].attr];
	return &events->attrs[0]; /* perf's own, about the time before it began */
}

/* A sample has its id elsewhere. */
static size_t sampled_event(const struct perf_events *events, const uint8_t *record, size_t size)
{
	size_t at = perf_sample_id_at(&events->attrs[0]);
	uint64_t id;

	if (!at || at + sizeof(id) > size)
		return 0;
	memcpy(&id, record + at, sizeof(id));
	for (size_t i = 0; i < events->id_cnt; i++)
		if (events->ids[i].id == id)
			return events->ids[i].attr;
	return 0;
}

/* ---- sideband ---- */

/* The fields stand in this order, 8 bytes each; *ret_size is what they take of the record's end. */
static bool read_trailer(const struct perf_event_attr *attr, const uint8_t *record, size_t size,
			 struct sideband_trailer *ret_trailer, size_t *ret_size)
{
	uint64_t fields = attr->sample_id_all ? attr->sample_type & trailer_fields : 0;
	size_t bytes = 8 * (size_t)__builtin_popcountll(fields);
	const uint8_t *at = record + size - bytes;

	*ret_trailer = (struct sideband_trailer){0};
	*ret_size = bytes;
	if (bytes > size - sizeof(struct perf_event_header))
		return false;
	if (fields & PERF_SAMPLE_TID) {
		memcpy(&ret_trailer->pid, at, 8);
		at += 8;
	}
	if (fields & PERF_SAMPLE_TIME) {
		memcpy(&ret_trailer->time, at, 8);
		at += 8;
	}
	at += fields & PERF_SAMPLE_ID ? 8 : 0;
	at += fields & PERF_SAMPLE_STREAM_ID ? 8 : 0;
	if (fields & PERF_SAMPLE_CPU)
		memcpy(&ret_trailer->cpu, at, 8);
	return true;
}

/*
 * linux/perf_event.h, PERF_RECORD_MMAP: what perf tells of processes that ran before, and kernels before
 * 3.16.
 */
struct mmap_body {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	char name[];
};

static int add_old_mmap(struct perf_events *events, const uint8_t *record, size_t body_end,
			const struct sideband_trailer *trailer)
{
	CLEANUP(snapshot_freep) struct snapshot *one = NULL;
	struct mmap_body body;
	size_t name_at = sizeof(struct perf_event_header) + sizeof(body);
	int err;

	if (body_end <= name_at || !memchr(record + name_at, 0, body_end - name_at))
		return fail(-EBADMSG, "its sideband is damaged");
	memcpy(&body, record + sizeof(struct perf_event_header), sizeof(body));
	err = snapshot_new(&one);
	if (!err)
		err = sideband_add_mmap(one, (int32_t)body.pid, (int32_t)body.tid, trailer->time,
					&(struct sideband_mapping){.addr = body.addr,
								   .size = body.len,
								   .file_offset = body.pgoff,
								   .name = (const char *)record + name_at});
	return err ? err : record_list_add(&events->records, (const struct perf_event_header *)one->sideband);
}

/* Mappings of data are passed over. The same bit of `misc` means other things in other records. */
static bool is_data(const struct perf_event_header *header, const uint8_t *record)
{
	uint32_t prot;

	if (header->type != PERF_RECORD_MMAP && header->type != PERF_RECORD_MMAP2)
		return false;
	if (header->misc & PERF_RECORD_MISC_MMAP_DATA)
		return true;
	if (header->type != PERF_RECORD_MMAP2 || header->size < 72)
		return false;
	memcpy(&prot, record + 64, sizeof(prot));
	return prot && !(prot & 4); /* PROT_EXEC; perf does not know it of old processes */
}

/* Since Linux 5.12 the kernel can tell the build-id in place of device and inode. */
static int keep_build_id(struct perf_events *events, const struct perf_event_header *header,
			 const uint8_t *record, size_t body_end)
{
	enum { ID_AT = 40, NAME_AT = 72 };
	struct build_id id;

	if (header->type != PERF_RECORD_MMAP2 || !(header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) ||
	    body_end <= NAME_AT || !memchr(record + NAME_AT, 0, body_end - NAME_AT) ||
	    record[ID_AT] > sizeof(id.bytes))
		return 0;
	id = (struct build_id){.size = record[ID_AT]};
	memcpy(id.bytes, record + ID_AT + 4, id.size);
	return snapshot_add_build_id(events->snapshot, (const char *)record + NAME_AT, &id);
}

/* The record with our trailer in place of its own. */
static int add_sideband(struct perf_events *events, const uint8_t *record,
			const struct perf_event_header *header)
{
	const struct perf_event_attr *attr = attr_of(events, record, header->size);
	_Alignas(8) uint8_t copy[UINT16_MAX + SIDEBAND_ID_BYTES + 1];
	struct perf_event_header changed = *header;
	struct sideband_trailer trailer;
	size_t trailer_size, body_end;

	if (!attr || !read_trailer(attr, record, header->size, &trailer, &trailer_size))
		return fail(-EBADMSG, "its sideband is damaged");
	body_end = header->size - trailer_size;
	if (trailer.reserved == PERF_ONLY_MARK || is_data(header, record))
		return 0;
	if (header->type == PERF_RECORD_MMAP)
		return add_old_mmap(events, record, body_end, &trailer);
	if (body_end + sizeof(trailer) > UINT16_MAX)
		return fail(-EBADMSG, "its sideband is damaged");
	if (keep_build_id(events, header, record, body_end))
		return -ENOMEM;
	memcpy(copy, record, body_end);
	memcpy(copy + body_end, &trailer, sizeof(trailer));
	changed.size = (uint16_t)(body_end + sizeof(trailer));
	memcpy(copy, &changed, sizeof(changed));
	return record_list_add(&events->records, (const struct perf_event_header *)copy);
}

/* ---- samples ---- */

/* Of no use beside a trace. */
static int add_sample(struct perf_events *events, const uint8_t *record, size_t size)
{
	struct snapshot *snapshot = events->snapshot;
	struct stack_sample sample;
	size_t event;
	int err;

	if (events->has_info || !events->attr_cnt)
		return 0;
	event = sampled_event(events, record, size);
	err = perf_sample_read(&sample, &events->attrs[event], record, size);
	if (err)
		return err;
	sample.event = (uint32_t)event;
	if (sample.tid < 0 || sample.time_ns > INT64_MAX) {
		stack_sample_release(&sample);
		return sample.tid < 0 ? 0 : fail(-EBADMSG, "the time of a sample is damaged");
	}
	if (sample.stack && !perf_events_in_file(snapshot, sample.stack))
		err = perf_stacks_keep(&events->stacks, snapshot, &sample);
	if (!err)
		err = SPILL_PUSH(snapshot->samples, snapshot->sample_cnt, snapshot->sample_cap, sample);
	if (err)
		stack_sample_release(&sample);
	return err;
}

/* ---- records ---- */

/* All compressed records are one stream of zstd, whose content are records. */
static int unpack(struct perf_events *events, const uint8_t *bytes, size_t size)
{
	ZSTD_inBuffer in = {bytes, size, 0};
	bool more = true;

	if (!events->zstd)
		events->zstd = ZSTD_createDCtx();
	if (!events->zstd)
		return -ENOMEM;
	while (in.pos < in.size || more) {
		ZSTD_outBuffer out = {.size = UNPACK_CHUNK};
		size_t status;

		if (events->unpacked_size > UNPACKED_MAX)
			return fail(-EBADMSG, "a compressed part of it is larger than any that perf writes");
		if (array_reserve(&events->unpacked, &events->unpacked_cap,
				  events->unpacked_size + UNPACK_CHUNK, 1))
			return -ENOMEM;
		out.dst = events->unpacked + events->unpacked_size;
		status = ZSTD_decompressStream(events->zstd, &out, &in);
		if (ZSTD_isError(status))
			return fail(-EBADMSG, "a compressed part of it is damaged");
		events->unpacked_size += out.pos;
		events->is_open = status;
		more = out.pos == out.size;
	}
	return 0;
}

static int read_compressed(struct perf_events *events, const uint8_t *bytes, size_t size)
{
	int err = unpack(events, bytes, size);
	size_t at = 0;

	while (!err && events->unpacked_size - at >= sizeof(struct perf_event_header)) {
		const uint8_t *record = events->unpacked + at;
		struct perf_event_header header;

		memcpy(&header, record, sizeof(header));
		if (header.size < sizeof(header) || header.type >= KERNEL_TYPES)
			return fail(-EBADMSG, "a compressed record of it is damaged");
		if (header.size > events->unpacked_size - at)
			break;
		err = header.type == PERF_RECORD_SAMPLE ? add_sample(events, record, header.size)
							: add_sideband(events, record, &header);
		at += header.size;
	}
	if (events->unpacked_size)
		memmove(events->unpacked, events->unpacked + at, events->unpacked_size - at);
	events->unpacked_size -= at;
	return err;
}

/* In a file that was written to a pipe what otherwise stands in the header comes as records. */
static int read_attr(struct perf_events *events, const uint8_t *record, size_t size)
{
	uint32_t attr_size;

	if (size < 8 + PERF_ATTR_SIZE_VER0)
		return fail(-EBADMSG, "its attributes are damaged");
	memcpy(&attr_size, record + 8 + offsetof(struct perf_event_attr, size), sizeof(attr_size));
	if (attr_size < PERF_ATTR_SIZE_VER0 || attr_size > size - 8)
		return fail(-EBADMSG, "its attributes are damaged");
	return perf_events_add_attr(events, record + 8, attr_size, record + 8 + attr_size,
				    (size - 8 - attr_size) / 8);
}

static int read_feature(struct perf_events *events, const uint8_t *record, size_t size)
{
	uint64_t feature;

	if (size < 16)
		return fail(-EBADMSG, "a feature of it is damaged");
	memcpy(&feature, record + 8, sizeof(feature));
	return perf_feature_read(events->snapshot, feature, record + 16, size - 16);
}

/* *ret_size is the length with all that belongs to it. */
static int read_record(struct perf_events *events, const uint8_t *record, size_t left, size_t *ret_size)
{
	struct perf_event_header header;
	uint64_t size;

	if (left < sizeof(header))
		return fail(-EBADMSG, "its last record is cut off");
	memcpy(&header, record, sizeof(header));
	if (header.size < sizeof(header) || header.size > left)
		return fail(-EBADMSG,
			    header.size > left ? "its last record is cut off" : "a record of it is damaged");
	*ret_size = header.size;
	switch (header.type) {
	case PERF_USER_HEADER_ATTR:
		return read_attr(events, record, header.size);
	case PERF_USER_HEADER_FEATURE:
		return read_feature(events, record, header.size);
	case PERF_USER_AUXTRACE_INFO:
		return perf_aux_read_info(events, record, header.size);
	case PERF_USER_AUXTRACE:
		return perf_aux_read(events, record, header.size, left, ret_size);
	case PERF_USER_COMPRESSED:
		return read_compressed(events, record + sizeof(header), header.size - sizeof(header));
	case PERF_USER_COMPRESSED2: /* data size, then data, filled up to a multiple of 8 */
		if (header.size < 16)
			return fail(-EBADMSG, "a compressed part of it is damaged");
		memcpy(&size, record + 8, sizeof(size));
		return size > header.size - 16u ? fail(-EBADMSG, "a compressed part of it is damaged")
						: read_compressed(events, record + 16, size);
	case PERF_RECORD_SAMPLE:
		return add_sample(events, record, header.size);
	default:
		return header.type < KERNEL_TYPES ? add_sideband(events, record, &header) : 0;
	}
}

int perf_events_read(struct perf_events *events, const uint8_t *bytes, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t used = 0;
		int err = read_record(events, bytes + at, size - at, &used);

		if (err)
			return err;
		at += used;
	}
	return 0;
}

/* The file names its events in order, unless a pipe ended before it could. */
static int name_events(struct perf_events *events)
{
	struct snapshot *snapshot = events->snapshot;

	for (size_t i = snapshot->sample_event_cnt; i < events->attr_cnt; i++)
		if (ARRAY_TAKE(snapshot->sample_events, snapshot->sample_event_cnt,
			       snapshot->sample_event_cap, perf_event_name(&events->attrs[i])))
			return -ENOMEM;
	return 0;
}

/* Times are nanoseconds already, and may be those of any clock. */
static int finish_samples(struct perf_events *events)
{
	struct snapshot *snapshot = events->snapshot;

	if (!snapshot->sample_cnt)
		return fail(-ENOTSUP, "it has no Intel PT in it, and no samples");
	snapshot->clock.mult = 1;
	snapshot->clock.zero = UINT64_MAX;
	for (size_t i = 0; i < snapshot->sample_cnt; i++)
		if (snapshot->samples[i].time_ns < snapshot->clock.zero)
			snapshot->clock.zero = snapshot->samples[i].time_ns;
	/* Our own recordings tell it. */
	if (!snapshot->source)
		snapshot->source = strdup("perf's samples");
	return snapshot->source ? name_events(events) : -ENOMEM;
}

int perf_events_finish(struct perf_events *events)
{
	struct snapshot *snapshot = events->snapshot;
	int err = 0;

	if (!events->has_info)
		err = finish_samples(events);
	else if (snapshot->other_cpu)
		err = fail(-ENOTSUP, "it was recorded on a processor of another vendor (%.30s)",
			   snapshot->other_cpu);
	if (err)
		return err;
	for (size_t i = 0; i < events->attr_cnt; i++)
		if (events->attrs[i].type == snapshot->params.pmu_type)
			snapshot->params.config = events->attrs[i].config;
	return record_list_take(&events->records, snapshot);
}

void perf_events_release(struct perf_events *events)
{
	record_list_release(&events->records);
	ZSTD_freeDCtx(events->zstd);
	perf_stacks_release(&events->stacks);
	free(events->unpacked);
	free(events->attrs);
	free(events->ids);
}
