/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/sections.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/containers/arena.h"
#include "base/cursor.h"
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

/* ---- places of triggers ---- */

enum { PLACES_VERSION = 1 };

/* As it is stored: the two texts follow, without their 0. */
struct stored_place {
	uint64_t file_offset;
	uint32_t trigger, path_len, function_len, zero;
};

_Static_assert(sizeof(struct stored_place) == 24, "as recordings have it");

static size_t places_size(const struct snapshot *snapshot)
{
	size_t size = 0;

	for (size_t i = 0; i < snapshot->place_cnt; i++)
		size += sizeof(struct stored_place) + strlen(snapshot->places[i].path) +
			strlen(snapshot->places[i].function);
	return size;
}

static void places_write(const struct snapshot *snapshot, FILE *file)
{
	for (size_t i = 0; i < snapshot->place_cnt; i++) {
		const struct probe_place *place = &snapshot->places[i];
		const struct stored_place stored = {.file_offset = place->file_offset,
						    .trigger = place->trigger,
						    .path_len = (uint32_t)strlen(place->path),
						    .function_len = (uint32_t)strlen(place->function)};

		fwrite(&stored, sizeof(stored), 1, file);
		fwrite(place->path, 1, stored.path_len, file);
		fwrite(place->function, 1, stored.function_len, file);
	}
}

static int read_place(struct snapshot *snapshot, const struct stored_place *stored, const char *texts)
{
	CLEANUP(freep) char *path = strndup(texts, stored->path_len);
	CLEANUP(freep) char *function = strndup(texts + stored->path_len, stored->function_len);
	const struct probe_place place = {stored->trigger, stored->file_offset, path, function};

	return path && function ? snapshot_add_place(snapshot, &place) : -ENOMEM;
}

static int places_read(struct snapshot *snapshot, const uint8_t *bytes, size_t size)
{
	struct cursor cursor = cursor_of(bytes, size);
	int err = 0;

	while (!err && cursor_left(&cursor)) {
		const uint8_t *head = cursor_take(&cursor, sizeof(struct stored_place)), *texts = NULL;
		struct stored_place stored;

		if (head) {
			memcpy(&stored, head, sizeof(stored));
			texts = cursor_take(&cursor, (uint64_t)stored.path_len + stored.function_len);
		}
		if (!texts || stored.trigger >= snapshot->trigger_cnt)
			return -EBADMSG;
		err = read_place(snapshot, &stored, (const char *)texts);
	}
	return err;
}

/* ---- reasons of gaps ---- */

enum { GAP_REASONS_VERSION = 1 };

/* As it is stored: the text follows, without its 0. */
struct stored_gap_reason {
	uint64_t time_ns;
	int32_t tid;
	uint32_t len;
};

_Static_assert(sizeof(struct stored_gap_reason) == 16, "as recordings have it");

static size_t gap_reasons_size(const struct snapshot *snapshot)
{
	size_t size = 0;

	for (size_t i = 0; i < snapshot->gap_reason_cnt; i++)
		size += sizeof(struct stored_gap_reason) + strlen(snapshot->gap_reasons[i].text);
	return size;
}

static void gap_reasons_write(const struct snapshot *snapshot, FILE *file)
{
	for (size_t i = 0; i < snapshot->gap_reason_cnt; i++) {
		const struct gap_reason *reason = &snapshot->gap_reasons[i];
		const struct stored_gap_reason stored = {reason->time_ns, reason->tid,
							 (uint32_t)strlen(reason->text)};

		fwrite(&stored, sizeof(stored), 1, file);
		fwrite(reason->text, 1, stored.len, file);
	}
}

static int gap_reasons_read(struct snapshot *snapshot, const uint8_t *bytes, size_t size)
{
	struct cursor cursor = cursor_of(bytes, size);
	int err = 0;

	while (!err && cursor_left(&cursor)) {
		const uint8_t *head = cursor_take(&cursor, sizeof(struct stored_gap_reason)), *chars = NULL;
		CLEANUP(freep) char *text = NULL;
		struct stored_gap_reason stored;

		if (head) {
			memcpy(&stored, head, sizeof(stored));
			chars = cursor_take(&cursor, stored.len);
		}
		if (!chars)
			return -EBADMSG;
		text = strndup((const char *)chars, stored.len);
		err = text ? snapshot_add_gap_reason(snapshot,
						     &(struct gap_reason){stored.tid, stored.time_ns, text})
			   : -ENOMEM;
	}
	return err;
}

/* ---- call stacks of allocations ---- */

enum { ALLOC_STACKS_VERSION = 2 };

/* Each is its number of words, and these; then comes which one each allocation has. */
static size_t alloc_stacks_size(const struct snapshot *snapshot)
{
	const struct word_pool *stacks = snapshot->alloc_stacks;
	size_t words = 1;

	for (size_t i = 0; stacks && i < stacks->cnt; i++)
		words += 1 + stacks->runs[i].cnt;
	return words > 1 ? words * sizeof(uint64_t) + snapshot->alloc_cnt * sizeof(uint32_t) : 0;
}

static void alloc_stacks_write(const struct snapshot *snapshot, FILE *file)
{
	const struct word_pool *stacks = snapshot->alloc_stacks;
	uint64_t cnt = stacks->cnt;

	fwrite(&cnt, sizeof(cnt), 1, file);
	for (size_t i = 0; i < stacks->cnt; i++) {
		cnt = stacks->runs[i].cnt;
		fwrite(&cnt, sizeof(cnt), 1, file);
		fwrite(stacks->runs[i].words, sizeof(uint64_t), stacks->runs[i].cnt, file);
	}
	fwrite(snapshot->alloc_stack_of, sizeof(uint32_t), snapshot->alloc_cnt, file);
}

/* Equal ones are one: a section that has one twice is damaged. */
static int take_stack(struct word_pool *stacks, struct cursor *cursor)
{
	CLEANUP(freep) uint64_t *words = NULL;
	size_t nth, before = stacks->cnt;
	uint64_t cnt = cursor_u64(cursor);
	int err;

	if (!cnt || cnt > cursor_left(cursor) / sizeof(*words))
		return -EBADMSG;
	words = malloc(cnt * sizeof(*words));
	if (!words)
		return -ENOMEM;
	memcpy(words, cursor_take(cursor, cnt * sizeof(*words)), cnt * sizeof(*words));
	err = word_pool_add(stacks, words, cnt, &nth);
	return err || nth == before ? err : -EBADMSG;
}

static int alloc_stacks_read(struct snapshot *snapshot, const uint8_t *bytes, size_t size)
{
	struct cursor cursor = cursor_of(bytes, size);
	uint64_t cnt = cursor_u64(&cursor);
	int err = 0;

	if (snapshot->alloc_stacks || cursor.bad)
		return -EBADMSG;
	snapshot->alloc_stacks = calloc(1, sizeof(*snapshot->alloc_stacks));
	if (!snapshot->alloc_stacks)
		return -ENOMEM;
	for (uint64_t i = 0; !err && i < cnt; i++)
		err = take_stack(snapshot->alloc_stacks, &cursor);
	size = cursor_left(&cursor);
	if (err || size != snapshot->alloc_cnt * sizeof(uint32_t))
		return err ? err : -EBADMSG;
	snapshot->alloc_stack_of = malloc(size + 1);
	if (!snapshot->alloc_stack_of)
		return -ENOMEM;
	memcpy(snapshot->alloc_stack_of, cursor.at, size);
	for (size_t i = 0; i < snapshot->alloc_cnt; i++)
		if (snapshot->alloc_stack_of[i] > cnt)
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
	{"places", PLACES_VERSION, places_size, places_write, places_read},
	{"gap_reasons", GAP_REASONS_VERSION, gap_reasons_size, gap_reasons_write, gap_reasons_read},
	{"alloc_stacks", ALLOC_STACKS_VERSION, alloc_stacks_size, alloc_stacks_write, alloc_stacks_read},
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

int section_check_version(const char *part, uint32_t version, uint32_t known)
{
	return version == known
		       ? 0
		       : fail(-ENOTSUP,
			      "this recording was made by %s trailcam (%s version %u; this one knows %u)",
			      version > known ? "a newer" : "an older", part, version, known);
}

static int read_section(struct snapshot *snapshot, const struct header *header, const uint8_t *bytes)
{
	const struct section *section = NULL;
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (!strncmp(sections[i].name, header->name, NAME_BYTES))
			section = &sections[i];
	if (!section) {
		log_warn("this trailcam does not know the recording's section '%.*s': it is not shown",
			 NAME_BYTES, header->name);
		return 0;
	}
	err = section_check_version(section->name, header->version, section->version);
	return err ? err : section->read(snapshot, bytes, header->size);
}

int sections_read(struct snapshot *snapshot, const uint8_t *bytes, size_t size)
{
	struct cursor cursor = cursor_of(bytes, size);
	int err = 0;

	while (!err && cursor_left(&cursor)) {
		const uint8_t *head = cursor_take(&cursor, sizeof(struct header)), *section = NULL;
		struct header header;

		if (head) {
			memcpy(&header, head, sizeof(header));
			section = cursor_take(&cursor, header.size);
		}
		err = section ? read_section(snapshot, &header, section) : -EBADMSG;
		if (err == -EBADMSG)
			return fail(err, "its trailcam section is damaged");
	}
	return err;
}
