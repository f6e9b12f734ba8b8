/* SPDX-License-Identifier: BSD-2-Clause */
/* Every size is checked against the file's before use, so memory is bounded by the file's size. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "recording/perf_data.h"
#include "recording/perf_events.h"
#include "recording/perf_features.h"

struct reader {
	const uint8_t *bytes;
	size_t size;
	struct perf_header header;
	struct perf_events events;
};

static bool inside(const struct reader *reader, const struct perf_section *section)
{
	return section->offset <= reader->size && section->size <= reader->size - section->offset;
}

static int read_header(struct reader *reader)
{
	struct perf_header *header = &reader->header;

	if (reader->size < PIPE_HEADER_BYTES ||
	    (memcmp(reader->bytes, "PERFILE2", 8) && reader->size < sizeof(*header)))
		return fail(-EBADMSG, reader->size < 8 || memcmp(reader->bytes, "PERFILE2", 8)
					      ? "it is not a recording (no perf.data)"
					      : "it is cut off: not even its header is complete");
	memcpy(header, reader->bytes, PIPE_HEADER_BYTES);
	if (!memcmp(header->magic, "2ELIFREP", 8))
		return fail(-ENOTSUP, "it was recorded on a machine of the other byte order");
	if (!memcmp(header->magic, "PERFFILE", 8))
		return fail(-ENOTSUP, "it is a perf.data of the first layout (before Linux 3.1)");
	if (memcmp(header->magic, "PERFILE2", 8))
		return fail(-EBADMSG, "it is not a recording (no perf.data)");
	if (header->size == PIPE_HEADER_BYTES)
		return 0;
	if (reader->size < sizeof(*header))
		return fail(-EBADMSG, "it is cut off: not even its header is complete");
	if (header->size != sizeof(*header))
		return fail(-ENOTSUP, "it is a perf.data of an unknown layout (header of %llu bytes)",
			    (unsigned long long)header->size);
	memcpy(header, reader->bytes, sizeof(*header));
	if (!header->data.size)
		return fail(-EBADMSG, "it is incomplete: writing it was not finished");
	if (!inside(reader, &header->data) || !inside(reader, &header->attrs))
		return fail(-EBADMSG, "it is cut off: it has %zu bytes, but its header says %llu",
			    reader->size, (unsigned long long)(header->data.offset + header->data.size));
	return 0;
}

static int read_attrs(struct reader *reader)
{
	const struct perf_header *header = &reader->header;
	size_t size = header->attr_size;

	if (size < PERF_ATTR_SIZE_VER0 + sizeof(struct perf_section) || header->attrs.size < size)
		return fail(-EBADMSG, "its attributes are damaged");
	for (size_t at = 0; at + size <= header->attrs.size; at += size) {
		const uint8_t *attr = reader->bytes + header->attrs.offset + at;
		struct perf_section ids;
		int err;

		memcpy(&ids, attr + size - sizeof(ids), sizeof(ids));
		if (!inside(reader, &ids))
			return fail(-EBADMSG, "its attributes are damaged");
		err = perf_events_add_attr(&reader->events, attr, size - sizeof(ids),
					   reader->bytes + ids.offset, ids.size / 8);
		if (err)
			return err;
	}
	return 0;
}

/*
 * The table behind the data has an entry for each bit that is set, in order. The AUX traces must be read
 * before: our own section speaks of them.
 */
static int read_features(struct reader *reader, bool *ret_is_ours)
{
	const struct perf_header *header = &reader->header;
	struct perf_section entry = {header->data.offset + header->data.size, sizeof(entry)};

	*ret_is_ours = false;
	for (unsigned int feature = 0; feature < 256; feature++) {
		struct perf_section section;
		int err;

		if (!(header->features[feature / 64] >> feature % 64 & 1))
			continue;
		if (!inside(reader, &entry))
			return fail(-EBADMSG, "it is cut off: its last sections are missing");
		memcpy(&section, reader->bytes + entry.offset, sizeof(section));
		entry.offset += sizeof(entry);
		if (!inside(reader, &section))
			return fail(-EBADMSG, "it is cut off: its last sections are missing");
		*ret_is_ours |= feature == PERF_FEATURE_TRAILCAM;
		err = perf_feature_read(reader->events.snapshot, feature, reader->bytes + section.offset,
					section.size);
		if (err)
			return err;
	}
	return 0;
}

static bool read_at(int fd, uint64_t offset, void *bytes, size_t size)
{
	return offset <= INT64_MAX && pread(fd, bytes, size, (off_t)offset) == (ssize_t)size;
}

/* The table's entries stand in the order of the features' bits, and ours is the only one of its word. */
bool perf_data_is_ours(int fd)
{
	const unsigned int word = PERF_FEATURE_TRAILCAM / 64, bit = PERF_FEATURE_TRAILCAM % 64;
	struct perf_header header;
	struct perf_section section;
	uint64_t table;
	uint8_t head[8];

	if (!read_at(fd, 0, &header, sizeof(header)) || memcmp(header.magic, "PERFILE2", 8) ||
	    header.size != sizeof(header) || header.features[word] != 1ull << bit)
		return false;
	table = header.data.offset + header.data.size;
	for (unsigned int i = 0; i < word; i++)
		table += (uint64_t)__builtin_popcountll(header.features[i]) * sizeof(section);
	return read_at(fd, table, &section, sizeof(section)) &&
	       read_at(fd, section.offset, head, sizeof(head)) && trailcam_section_is(head, sizeof(head));
}

/* What our own recordings tell, perf's do not. */
static int fill_in(struct snapshot *snapshot)
{
	if (!snapshot->source)
		snapshot->source = strdup("intel_pt");
	snapshot->stopped_by = strdup("");
	if (!snapshot->command)
		snapshot->command = strdup("");
	return snapshot->source && snapshot->stopped_by && snapshot->command ? 0 : -ENOMEM;
}

static int read_all(struct reader *reader)
{
	const struct perf_header *header = &reader->header;
	bool is_pipe, is_ours = false;
	int err = read_header(reader);

	if (err)
		return err;
	is_pipe = header->size == PIPE_HEADER_BYTES;
	if (!is_pipe)
		err = read_attrs(reader);
	if (!err)
		err = is_pipe ? perf_events_read(&reader->events, reader->bytes + PIPE_HEADER_BYTES,
						 reader->size - PIPE_HEADER_BYTES)
			      : perf_events_read(&reader->events, reader->bytes + header->data.offset,
						 header->data.size);
	if (!err && !is_pipe)
		err = read_features(reader, &is_ours);
	if (!err && is_ours && reader->events.is_open)
		err = fail(-EBADMSG, "a compressed part of it is missing");
	if (!err)
		err = perf_events_finish(&reader->events);
	return err || is_ours ? err : fill_in(reader->events.snapshot);
}

int perf_data_read(struct snapshot *snapshot, const uint8_t *bytes, size_t size)
{
	struct reader reader = {.bytes = bytes, .size = size, .events = {.snapshot = snapshot}};
	int err = read_all(&reader);

	perf_events_release(&reader.events);
	return err;
}
