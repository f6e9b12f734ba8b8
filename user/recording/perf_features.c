/* SPDX-License-Identifier: BSD-2-Clause */
/* A string is its length as u32, padded, then its bytes with a terminator. */
#include "recording/perf_features.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "recording/perf_data.h"

static int damaged(const char *what)
{
	return fail(-EBADMSG, "its %s is damaged", what);
}

/* The string at *at, which is moved behind it; NULL: there is none. */
static const char *take_string(const uint8_t *bytes, size_t size, size_t *at)
{
	uint32_t len;
	const char *text;

	if (size - *at < sizeof(len))
		return NULL;
	memcpy(&len, bytes + *at, sizeof(len));
	text = (const char *)bytes + *at + sizeof(len);
	if (!len || len > size - *at - sizeof(len) || !memchr(text, 0, len))
		return NULL;
	*at += sizeof(len) + len;
	return text;
}

static int read_arch(const uint8_t *bytes, size_t size)
{
	size_t at = 0;
	const char *arch = take_string(bytes, size, &at);

	if (!arch)
		return damaged("architecture");
	return arch_is_machine(arch)
		       ? 0
		       : fail(-ENOTSUP,
			      "it was recorded on %.20s; this trailcam reads what was recorded on " ARCH_NAME,
			      arch);
}

/* "GenuineIntel,family,model,stepping" */
static int read_cpuid(struct snapshot *snapshot, const uint8_t *bytes, size_t size)
{
	unsigned int family, model, stepping;
	size_t at = 0;
	const char *cpuid = take_string(bytes, size, &at);

	if (!cpuid)
		return damaged("processor's name");
	if (strncmp(cpuid, "GenuineIntel,", 13) != 0) {
		free(snapshot->other_cpu);
		snapshot->other_cpu = strdup(cpuid);
		return snapshot->other_cpu ? 0 : -ENOMEM;
	}
	if (sscanf(cpuid + 13, "%u,%u,%u", &family, &model, &stepping) != 3)
		return damaged("processor's name");
	snapshot->params.family = (uint16_t)family;
	snapshot->params.model = (uint8_t)model;
	snapshot->params.stepping = (uint8_t)stepping;
	return 0;
}

/* perf's own command line; what it ran stands behind "--", if it has any. */
static int read_command_line(struct snapshot *snapshot, const uint8_t *bytes, size_t size)
{
	CLEANUP(freep) char *line = NULL;
	size_t at = 4, len = 0;
	uint32_t cnt;

	if (size < sizeof(cnt))
		return damaged("command line");
	memcpy(&cnt, bytes, sizeof(cnt));
	line = calloc(1, size + 1);
	if (!line)
		return -ENOMEM;
	for (uint32_t i = 0; i < cnt; i++) {
		const char *word = take_string(bytes, size, &at);

		if (!word)
			return damaged("command line");
		if (!strcmp(word, "--"))
			len = 0;
		else
			len += (size_t)sprintf(line + len, "%s%s", len ? " " : "", word);
	}
	free(snapshot->command);
	snapshot->command = TAKE_PTR(line);
	return 0;
}

static int read_build_ids(struct snapshot *snapshot, const uint8_t *bytes, size_t size)
{
	size_t at = 0;

	while (size - at > sizeof(struct perf_build_id)) {
		const char *name = (const char *)bytes + at + sizeof(struct perf_build_id);
		struct perf_build_id head;
		struct build_id id = {.size = sizeof(id.bytes)};

		memcpy(&head, bytes + at, sizeof(head));
		if (head.size <= sizeof(head) || head.size > size - at ||
		    !memchr(name, 0, head.size - sizeof(head)))
			return damaged("list of build-ids");
		if (head.misc & PERF_BUILD_ID_SIZED && head.id_size <= sizeof(id.bytes))
			id.size = head.id_size;
		memcpy(id.bytes, head.id, id.size);
		if (snapshot_add_build_id(snapshot, name, &id))
			return -ENOMEM;
		at += head.size;
	}
	return 0;
}

/* Of each event: its attributes, and its name with the ids behind it. */
static int read_event_names(struct snapshot *snapshot, const uint8_t *bytes, size_t size)
{
	uint32_t cnt, attr_size, id_cnt;
	size_t at = 8;

	if (size < at)
		return damaged("list of events");
	memcpy(&cnt, bytes, 4);
	memcpy(&attr_size, bytes + 4, 4);
	for (uint32_t i = 0; i < cnt; i++) {
		const char *text;

		if (attr_size > size - at || size - at - attr_size < 4)
			return damaged("list of events");
		memcpy(&id_cnt, bytes + at + attr_size, 4);
		at += attr_size + 4;
		text = take_string(bytes, size, &at);
		if (!text || id_cnt > (size - at) / 8)
			return damaged("list of events");
		at += 8 * (size_t)id_cnt;
		if (ARRAY_TAKE(snapshot->sample_events, snapshot->sample_event_cnt,
			       snapshot->sample_event_cap, strndup(text, strcspn(text, "/:"))))
			return -ENOMEM;
	}
	return 0;
}

int perf_feature_read(struct snapshot *snapshot, uint64_t feature, const uint8_t *bytes, size_t size)
{
	switch (feature) {
	case PERF_FEATURE_BUILD_ID:
		return read_build_ids(snapshot, bytes, size);
	case PERF_FEATURE_ARCH:
		return read_arch(bytes, size);
	case PERF_FEATURE_CPUID:
		return read_cpuid(snapshot, bytes, size);
	case PERF_FEATURE_EVENT_DESC:
		return read_event_names(snapshot, bytes, size);
	case PERF_FEATURE_CMDLINE:
		return read_command_line(snapshot, bytes, size);
	case PERF_FEATURE_TRAILCAM:
		return trailcam_section_read(snapshot, bytes, size);
	default:
		return 0;
	}
}
