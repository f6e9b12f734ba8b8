/* SPDX-License-Identifier: BSD-2-Clause */
/* Everything is checked against the file's size before it is used; nothing is allocated that the file does not have. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "recording/perf_data.h"
#include "source/sideband.h"

struct reader {
	const uint8_t *bytes;
	size_t size;
	struct perf_header header;
	struct snapshot *snapshot;
	bool has_info;
};

static bool inside(const struct reader *reader, const struct perf_section *section)
{
	return section->offset <= reader->size && section->size <= reader->size - section->offset;
}

static int read_header(struct reader *reader)
{
	struct perf_header *header = &reader->header;

	if (reader->size < sizeof(*header))
		return fail(-EBADMSG, reader->size < 8 || memcmp(reader->bytes, "PERFILE2", 8)
					      ? "it is not a recording (no perf.data)"
					      : "it is cut off: not even its header is complete");
	memcpy(header, reader->bytes, sizeof(*header));
	if (!memcmp(header->magic, "2ELIFREP", 8))
		return fail(-ENOTSUP, "it was recorded on a machine of the other byte order");
	if (!memcmp(header->magic, "PERFFILE", 8))
		return fail(-ENOTSUP, "it is a perf.data of the first layout (before Linux 3.1)");
	if (memcmp(header->magic, "PERFILE2", 8))
		return fail(-EBADMSG, "it is not a recording (no perf.data)");
	if (header->size != sizeof(*header))
		return fail(-ENOTSUP,
			    "it is a perf.data of a layout that is not known (header of %llu bytes)",
			    (unsigned long long)header->size);
	if (!header->data.size)
		return fail(-EBADMSG, "it is incomplete: writing it was not finished");
	if (!inside(reader, &header->data) || !inside(reader, &header->attrs))
		return fail(-EBADMSG, "it is cut off: %zu bytes are there, its header speaks of %llu",
			    reader->size, (unsigned long long)(header->data.offset + header->data.size));
	return 0;
}

/* The attribute of the PT event: ours is the only one. */
static int read_attr(struct reader *reader)
{
	struct perf_event_attr attr = {0};
	size_t size = reader->header.attr_size;

	if (size < PERF_ATTR_SIZE_VER0 + sizeof(struct perf_section) || reader->header.attrs.size < size)
		return fail(-EBADMSG, "its attributes are damaged");
	if (reader->header.attrs.size != size)
		return fail(-ENOTSUP, "it was recorded by perf, which is not supported yet");
	size -= sizeof(struct perf_section);
	memcpy(&attr, reader->bytes + reader->header.attrs.offset, size < sizeof(attr) ? size : sizeof(attr));
	if (attr.sample_type != SIDEBAND_SAMPLE_TYPE || !attr.sample_id_all)
		return fail(-ENOTSUP, "it was recorded by perf, which is not supported yet");
	reader->snapshot->params.pmu_type = attr.type;
	reader->snapshot->params.config = attr.config;
	return 0;
}

static int read_info(struct reader *reader, const uint8_t *record, size_t size)
{
	struct perf_auxtrace_info info;

	if (size < sizeof(info))
		return fail(-EBADMSG, "its AUXTRACE_INFO is damaged");
	memcpy(&info, record, sizeof(info));
	if (info.auxtrace_type != PERF_AUXTRACE_INTEL_PT)
		return fail(-ENOTSUP, "it has no Intel PT in it (AUX trace of type %u)", info.auxtrace_type);
	reader->snapshot->params.max_nonturbo_ratio = (uint8_t)info.words[INFO_MAX_NONTURBO_RATIO];
	reader->snapshot->params.tsc_ctc_ratio_n = (uint32_t)info.words[INFO_TSC_CTC_N];
	reader->snapshot->params.tsc_ctc_ratio_d = (uint32_t)info.words[INFO_TSC_CTC_D];
	reader->snapshot->clock.shift = (uint16_t)info.words[INFO_TIME_SHIFT];
	reader->snapshot->clock.mult = (uint32_t)info.words[INFO_TIME_MULT];
	reader->snapshot->clock.zero = info.words[INFO_TIME_ZERO];
	reader->has_info = true;
	return 0;
}

/* An AUXTRACE record, and the bytes behind it; *ret_size is the length of both. */
static int read_aux(struct reader *reader, const uint8_t *record, size_t size, size_t left, size_t *ret_size)
{
	struct perf_auxtrace head;
	struct aux_trace *aux;

	if (size < sizeof(head))
		return fail(-EBADMSG, "an AUXTRACE record is damaged");
	memcpy(&head, record, sizeof(head));
	if (head.bytes > left - size)
		return fail(-EBADMSG, "it is cut off in its trace data");
	aux = snapshot_add_aux(reader->snapshot);
	if (!aux)
		return -ENOMEM;
	aux->tid = (int32_t)head.tid;
	aux->cpu = (int32_t)head.cpu;
	aux->offset = head.offset;
	aux->ref_tsc = head.reference;
	aux->bytes = malloc(head.bytes + 1);
	if (!aux->bytes)
		return -ENOMEM;
	memcpy(aux->bytes, record + size, head.bytes);
	aux->size = head.bytes;
	*ret_size = size + head.bytes;
	return 0;
}

static int keep_sideband(struct reader *reader, const uint8_t *record, size_t size)
{
	struct snapshot *snapshot = reader->snapshot;
	uint32_t mark;

	if (size < sizeof(struct perf_event_header) + SIDEBAND_ID_BYTES)
		return fail(-EBADMSG, "its sideband is damaged");
	memcpy(&mark, record + size - 12, sizeof(mark));
	if (mark == PERF_ONLY_MARK)
		return 0;
	if (array_reserve(&snapshot->sideband, &snapshot->sideband_cap, snapshot->sideband_size + size, 1))
		return -ENOMEM;
	memcpy(snapshot->sideband + snapshot->sideband_size, record, size);
	snapshot->sideband_size += size;
	return 0;
}

static int read_record(struct reader *reader, const uint8_t *record, size_t left, size_t *ret_size)
{
	struct perf_event_header header;

	if (left < sizeof(header))
		return fail(-EBADMSG, "its last record is cut off");
	memcpy(&header, record, sizeof(header));
	if (header.size < sizeof(header) || header.size > left)
		return fail(-EBADMSG, "a record of it is damaged");
	*ret_size = header.size;
	switch (header.type) {
	case PERF_USER_AUXTRACE_INFO:
		return read_info(reader, record, header.size);
	case PERF_USER_AUXTRACE:
		return read_aux(reader, record, header.size, left, ret_size);
	default:
		return header.type < 64 ? keep_sideband(reader, record, header.size) : 0;
	}
}

static int read_data(struct reader *reader)
{
	const struct perf_section *data = &reader->header.data;
	size_t at = 0;

	while (at < data->size) {
		size_t size = 0;
		int err = read_record(reader, reader->bytes + data->offset + at, data->size - at, &size);

		if (err)
			return err;
		at += size;
	}
	return reader->has_info ? 0 : fail(-ENOTSUP, "it has no Intel PT in it");
}

/* Section of a feature: the table behind the data has an entry for each bit that is set, in order. */
static int find_feature(const struct reader *reader, unsigned int feature, struct perf_section *ret_section)
{
	uint64_t table = reader->header.data.offset + reader->header.data.size, index = 0;
	struct perf_section entry = {table, 0};

	if (!(reader->header.features[feature / 64] >> feature % 64 & 1))
		return -ENOENT;
	for (unsigned int i = 0; i < feature; i++)
		index += reader->header.features[i / 64] >> i % 64 & 1;
	entry.offset += index * sizeof(entry);
	entry.size = sizeof(entry);
	if (!inside(reader, &entry))
		return -EBADMSG;
	memcpy(ret_section, reader->bytes + entry.offset, sizeof(*ret_section));
	return inside(reader, ret_section) ? 0 : -EBADMSG;
}

static int read_features(struct reader *reader)
{
	struct perf_section section;
	int err = find_feature(reader, PERF_FEATURE_TRAILCAM, &section);

	if (err == -ENOENT)
		return fail(-ENOTSUP, "it was recorded by perf, which is not supported yet");
	if (err)
		return fail(err, "it is cut off: its last sections are missing");
	return extra_read(reader->snapshot, reader->bytes + section.offset, section.size);
}

int perf_data_read(struct snapshot *snapshot, const uint8_t *bytes, size_t size)
{
	struct reader reader = {.bytes = bytes, .size = size, .snapshot = snapshot};
	int err = read_header(&reader);

	if (!err)
		err = read_attr(&reader);
	if (!err)
		err = read_data(&reader);
	return err ? err : read_features(&reader);
}
