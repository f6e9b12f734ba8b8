/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/sections.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"

enum { NAME_BYTES = 16 };

struct header {
	char name[NAME_BYTES]; /* filled up with 0 */
	uint32_t version, zero;
	uint64_t size; /* of what follows */
};

_Static_assert(sizeof(struct header) == 32, "as recordings have it");

/* ---- calls ---- */

static size_t calls_size(const struct snapshot *snapshot)
{
	return snapshot->call_cnt * sizeof(struct call);
}

static void calls_write(const struct snapshot *snapshot, FILE *file)
{
	fwrite(snapshot->calls, sizeof(struct call), snapshot->call_cnt, file);
}

static int calls_read(struct snapshot *snapshot, const uint8_t *bytes, size_t size)
{
	size_t cnt = size / sizeof(struct call);

	if (size % sizeof(struct call))
		return -EBADMSG;
	if (array_reserve(&snapshot->calls, &snapshot->call_cap, cnt, sizeof(struct call)))
		return -ENOMEM;
	memcpy(snapshot->calls, bytes, size);
	snapshot->call_cnt = cnt;
	for (size_t i = 0; i < cnt; i++)
		if (snapshot->calls[i].edge >= CALL_EDGE_CNT)
			return -EBADMSG;
	return 0;
}

/* ---- all ---- */

static const struct section {
	const char *name;
	uint32_t version;
	size_t (*size)(const struct snapshot *snapshot); /* 0: it has none */
	void (*write)(const struct snapshot *snapshot, FILE *file);
	int (*read)(struct snapshot *snapshot, const uint8_t *bytes, size_t size);
} sections[] = {
	{"calls", CALL_VERSION, calls_size, calls_write, calls_read},
};

void sections_write(const struct snapshot *snapshot, FILE *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		const struct section *section = &sections[i];
		struct header header = {.version = section->version, .size = section->size(snapshot)};

		if (!header.size)
			continue;
		memcpy(header.name, section->name, strlen(section->name));
		fwrite(&header, sizeof(header), 1, file);
		section->write(snapshot, file);
	}
}

static int read_section(struct snapshot *snapshot, const struct header *header, const uint8_t *bytes)
{
	const struct section *section = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (!strncmp(sections[i].name, header->name, NAME_BYTES))
			section = &sections[i];
	if (!section) {
		log_warn("this trailcam does not know the recording's section '%.*s': it is not shown",
			 NAME_BYTES, header->name);
		return 0;
	}
	if (header->version != section->version)
		return fail(-ENOTSUP,
			    "this recording was made by %s trailcam (%s version %u; this one knows %u)",
			    header->version > section->version ? "a newer" : "an older", section->name,
			    header->version, section->version);
	return section->read(snapshot, bytes, header->size);
}

int sections_read(struct snapshot *snapshot, const uint8_t *bytes, size_t size)
{
	struct header header;
	int err = 0;

	for (size_t at = 0; at < size && !err; at += header.size) {
		if (size - at < sizeof(header))
			return fail(-EBADMSG, "its trailcam section is damaged");
		memcpy(&header, bytes + at, sizeof(header));
		at += sizeof(header);
		if (header.size > size - at)
			return fail(-EBADMSG, "its trailcam section is damaged");
		err = read_section(snapshot, &header, bytes + at);
		if (err == -EBADMSG)
			return fail(err, "its trailcam section is damaged");
	}
	return err;
}
