/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our own section: "TRAILCAM", a version, then fields in fixed order, little-endian; strings and arrays have
 * their length in front as u32. The list of code copies says where their bytes are (code_copy_path()).
 * Sections follow at the end (sections.h).
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/containers/packed.h"
#include "base/cursor.h"
#include "base/error.h"
#include "recording/perf_data.h"
#include "recording/sections.h"

enum { SECTION_VERSION = 9, HITS_VERSION = 5 };

static const char magic[8] = {'T', 'R', 'A', 'I', 'L', 'C', 'A', 'M'};

/* ---- writing ---- */

static void put_u32(FILE *file, uint32_t value)
{
	fwrite(&value, sizeof(value), 1, file);
}

static void put_u64(FILE *file, uint64_t value)
{
	fwrite(&value, sizeof(value), 1, file);
}

static void put_string(FILE *file, const char *text)
{
	put_u32(file, (uint32_t)strlen(text));
	fwrite(text, 1, strlen(text), file);
}

static void put_allocs(const struct snapshot *snapshot, FILE *file)
{
	put_u32(file, ALLOC_VERSION);
	put_u64(file, snapshot->alloc_interval);
	put_u32(file, (uint32_t)snapshot->alloc_function_cnt);
	for (size_t i = 0; i < snapshot->alloc_function_cnt; i++)
		put_string(file, snapshot->alloc_functions[i]);
	put_u32(file, (uint32_t)snapshot->alloc_cnt);
	if (snapshot->alloc_cnt)
		fwrite(snapshot->allocs, sizeof(struct alloc), snapshot->alloc_cnt, file);
}

static void put_values(const struct snapshot *snapshot, FILE *file)
{
	put_u32(file, (uint32_t)snapshot->value_name_cnt);
	for (size_t i = 0; i < snapshot->value_name_cnt; i++)
		put_string(file, snapshot->value_names[i]);
	put_u32(file, (uint32_t)snapshot->value_cnt);
	for (size_t i = 0; i < snapshot->value_cnt; i++) {
		const struct hit_value *value = &snapshot->values[i];

		put_u32(file, value->hit);
		put_u32(file, value->name);
		put_u32(file, value->text ? value->kind : 0);
		if (value->text)
			put_string(file, value->text);
	}
}

static void put_hit(const struct hit *hit, FILE *file)
{
	const uint64_t times[] = {hit->time_ns, hit->begin_ns, hit->stopped_ns, hit->goroutine,
				  hit->return_address};
	const uint32_t facts[] = {hit->cpu,    hit->pid,	hit->tid,      hit->trigger,
				  hit->action, hit->args_known, hit->stack_cnt};

	fwrite(times, sizeof(times), 1, file);
	fwrite(facts, sizeof(facts), 1, file);
	fwrite(hit->comm, sizeof(hit->comm), 1, file);
	fwrite(hit->state, 1, packed_size(hit->state, SIZE_MAX, HIT_STATE_CNT), file);
	fwrite(hit->stack, sizeof(*hit->stack), hit->stack_cnt, file);
}

static void put_hits(const struct hit_list *hits, FILE *file)
{
	put_u32(file, HITS_VERSION);
	put_u32(file, (uint32_t)hits->cnt);
	for (size_t i = 0; i < hits->cnt; i++)
		put_hit(hits->hits[i], file);
}

static void put_fields(const struct snapshot *snapshot, FILE *file)
{
	const struct trace_params *params = &snapshot->params;
	const struct trace_clock *clock = &snapshot->clock;
	uint32_t copy_cnt = 0;

	fwrite(magic, sizeof(magic), 1, file);
	put_u32(file, SECTION_VERSION);
	put_string(file, snapshot->source ? snapshot->source : "");
	put_string(file, snapshot->stopped_by ? snapshot->stopped_by : "");
	put_string(file, snapshot->command ? snapshot->command : "");
	put_u32(file, params->family);
	put_u32(file, params->model);
	put_u32(file, params->stepping);
	put_u64(file, clock->monotonic_ns);
	put_u64(file, clock->trace_ns);
	put_u64(file, clock->realtime_ns);
	put_u32(file, (uint32_t)snapshot->aux_cnt);
	for (size_t i = 0; i < snapshot->aux_cnt; i++) {
		put_u32(file, (uint32_t)snapshot->aux[i].pid);
		put_u64(file, snapshot->aux[i].size);
		put_u32(file, snapshot->aux[i].continues);
	}
	put_u32(file, (uint32_t)snapshot->trigger_cnt);
	for (size_t i = 0; i < snapshot->trigger_cnt; i++)
		put_string(file, snapshot->triggers[i]);
	put_hits(snapshot->hits, file);
	for (size_t i = 0; i < snapshot->copy_cnt; i++)
		copy_cnt += !code_copy_is_kernel(&snapshot->copies[i]);
	put_u32(file, copy_cnt);
	for (size_t i = 0; i < snapshot->copy_cnt; i++) {
		if (code_copy_is_kernel(&snapshot->copies[i]))
			continue;
		put_u32(file, (uint32_t)snapshot->copies[i].pid);
		put_u64(file, snapshot->copies[i].addr);
		put_u64(file, snapshot->copies[i].size);
		put_u64(file, snapshot->copies[i].from_ns);
		put_u64(file, snapshot->copies[i].file_offset);
		put_u32(file, snapshot->copies[i].has_run);
		put_string(file, snapshot->copies[i].name);
	}
	put_allocs(snapshot, file);
	put_values(snapshot, file);
	sections_write(snapshot, file);
}

int trailcam_section_write(const struct snapshot *snapshot, uint8_t **ret_bytes, size_t *ret_size)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&bytes, &size);

	if (!file)
		return -ENOMEM;
	put_fields(snapshot, file);
	if (fclose(file)) {
		free(bytes);
		return -ENOMEM;
	}
	*ret_bytes = (uint8_t *)bytes;
	*ret_size = size;
	return 0;
}

/* ---- reading ---- */

static char *take_string(struct cursor *cursor)
{
	uint32_t len = cursor_u32(cursor);
	const uint8_t *bytes = cursor_take(cursor, len);
	char *text = bytes ? strndup((const char *)bytes, len) : NULL;

	if (!text)
		cursor->bad = true;
	return text;
}

/* The version of a part. 0, or -ENOTSUP with a sentence: it is not the one that is read here. */
static int take_version(struct cursor *cursor, const char *part, uint32_t known)
{
	uint32_t version = cursor_u32(cursor);

	return cursor->bad ? 0 : section_check_version(part, version, known);
}

static void take_aux(struct cursor *cursor, struct snapshot *snapshot)
{
	uint32_t cnt = cursor_u32(cursor);

	if (cnt != snapshot->aux_cnt)
		cursor->bad = true;
	for (uint32_t i = 0; i < cnt && !cursor->bad; i++) {
		uint64_t size;

		snapshot->aux[i].pid = (int32_t)cursor_u32(cursor);
		size = cursor_u64(cursor);
		snapshot->aux[i].continues = cursor_u32(cursor);
		/* perf's record is filled up to a multiple of 8. */
		if (size > snapshot->aux[i].size || snapshot->aux[i].size - size > 7)
			cursor->bad = true;
		else
			snapshot->aux[i].size = size;
	}
}

static void take_names(struct cursor *cursor, char ***names, size_t *name_cnt, size_t *name_cap)
{
	uint32_t cnt = cursor_u32(cursor);

	for (uint32_t i = 0; i < cnt && !cursor->bad; i++)
		if (ARRAY_TAKE(*names, *name_cnt, *name_cap, take_string(cursor)))
			cursor->bad = true;
}

/* As put_hit() wrote it. */
static void take_hit(struct cursor *cursor, struct caught_hit *caught)
{
	struct hit *hit = &caught->hit;
	const uint8_t *comm, *state, *stack;
	size_t size;
	uint32_t stack_cnt;

	hit->time_ns = cursor_u64(cursor);
	hit->begin_ns = cursor_u64(cursor);
	hit->stopped_ns = cursor_u64(cursor);
	hit->goroutine = cursor_u64(cursor);
	hit->return_address = cursor_u64(cursor);
	hit->cpu = cursor_u32(cursor);
	hit->pid = cursor_u32(cursor);
	hit->tid = cursor_u32(cursor);
	hit->trigger = cursor_u32(cursor);
	hit->action = (uint16_t)cursor_u32(cursor);
	hit->args_known = (uint16_t)cursor_u32(cursor);
	stack_cnt = cursor_u32(cursor);
	comm = cursor_take(cursor, sizeof(hit->comm));
	size = comm ? packed_size(cursor->at, cursor_left(cursor), HIT_STATE_CNT) : 0;
	state = cursor_take(cursor, size);
	if (!size || stack_cnt > HIT_STACK_MAX)
		cursor->bad = true;
	stack = cursor_take(cursor, stack_cnt * sizeof(*caught->stack));
	if (!stack)
		return;
	memcpy(hit->comm, comm, sizeof(hit->comm));
	packed_get(state, caught->state, HIT_STATE_CNT);
	memcpy(caught->stack, stack, stack_cnt * sizeof(*caught->stack));
	hit->stack_cnt = (uint16_t)stack_cnt;
}

static int take_hits(struct cursor *cursor, struct snapshot *snapshot)
{
	struct caught_hit caught = {0};
	int err = take_version(cursor, "hits", HITS_VERSION);
	uint32_t cnt = cursor_u32(cursor);

	for (uint32_t i = 0; i < cnt && !err && !cursor->bad; i++) {
		take_hit(cursor, &caught);
		/* Of a program that ended. */
		if (!caught.hit.stack_cnt)
			caught.stack[caught.hit.stack_cnt++] = caught.regs[HIT_IP];
		if (cursor->bad || caught.hit.trigger >= snapshot->trigger_cnt ||
		    hit_list_add(snapshot->hits, &caught))
			cursor->bad = true;
	}
	return err;
}

static void take_copies(struct cursor *cursor, struct snapshot *snapshot)
{
	uint32_t cnt = cursor_u32(cursor);

	for (uint32_t i = 0; i < cnt && !cursor->bad; i++) {
		struct code_copy *copy = snapshot_add_copy(snapshot);

		if (!copy) {
			cursor->bad = true;
			return;
		}
		copy->pid = (int32_t)cursor_u32(cursor);
		copy->addr = cursor_u64(cursor);
		copy->size = cursor_u64(cursor);
		copy->from_ns = cursor_u64(cursor);
		copy->file_offset = cursor_u64(cursor);
		copy->has_run = cursor_u32(cursor);
		copy->name = take_string(cursor);
	}
}

static int take_allocs(struct cursor *cursor, struct snapshot *snapshot)
{
	int err = take_version(cursor, "allocations", ALLOC_VERSION);
	uint32_t cnt;

	if (err)
		return err;
	snapshot->alloc_interval = cursor_u64(cursor);
	take_names(cursor, &snapshot->alloc_functions, &snapshot->alloc_function_cnt,
		   &snapshot->alloc_function_cap);
	cnt = cursor_u32(cursor);
	for (uint32_t i = 0; i < cnt && !cursor->bad; i++) {
		const uint8_t *bytes = cursor_take(cursor, sizeof(struct alloc));
		struct alloc alloc;

		if (!bytes)
			return 0;
		memcpy(&alloc, bytes, sizeof(alloc));
		if (ARRAY_PUSH(snapshot->allocs, snapshot->alloc_cnt, snapshot->alloc_cap, alloc))
			cursor->bad = true;
	}
	return 0;
}

bool trailcam_section_is(const uint8_t *bytes, size_t size)
{
	return size >= sizeof(magic) && !memcmp(bytes, magic, sizeof(magic));
}

static void take_values(struct cursor *cursor, struct snapshot *snapshot)
{
	uint32_t cnt = cursor_u32(cursor);

	for (uint32_t i = 0; i < cnt && !cursor->bad; i++) {
		CLEANUP(freep) char *name = take_string(cursor);

		if (name && snapshot_add_value_name(snapshot, name))
			cursor->bad = true;
	}
	cnt = cursor_u32(cursor);
	for (uint32_t i = 0; i < cnt && !cursor->bad; i++) {
		uint32_t hit = cursor_u32(cursor), name = cursor_u32(cursor), kind = cursor_u32(cursor);
		char *text = kind ? take_string(cursor) : NULL;

		if (snapshot_add_value(snapshot, hit, name, kind, text) || hit >= snapshot->hits->cnt ||
		    name >= snapshot->value_name_cnt)
			cursor->bad = true;
	}
}

int trailcam_section_read(struct snapshot *snapshot, const uint8_t *bytes, size_t size)
{
	struct cursor cursor = cursor_of(bytes, size);
	int err;

	if (!trailcam_section_is(bytes, size))
		return fail(-EBADMSG, "its trailcam section is damaged");
	cursor_take(&cursor, sizeof(magic));
	err = take_version(&cursor, "layout", SECTION_VERSION);
	if (err)
		return err;
	snapshot->source = take_string(&cursor);
	snapshot->stopped_by = take_string(&cursor);
	snapshot->command = take_string(&cursor);
	snapshot->params.family = (uint16_t)cursor_u32(&cursor);
	snapshot->params.model = (uint8_t)cursor_u32(&cursor);
	snapshot->params.stepping = (uint8_t)cursor_u32(&cursor);
	snapshot->clock.monotonic_ns = cursor_u64(&cursor);
	snapshot->clock.trace_ns = cursor_u64(&cursor);
	snapshot->clock.realtime_ns = cursor_u64(&cursor);
	take_aux(&cursor, snapshot);
	take_names(&cursor, &snapshot->triggers, &snapshot->trigger_cnt, &snapshot->trigger_cap);
	err = take_hits(&cursor, snapshot);
	if (err)
		return err;
	take_copies(&cursor, snapshot);
	err = take_allocs(&cursor, snapshot);
	if (err)
		return err;
	take_values(&cursor, snapshot);
	if (cursor.bad)
		return fail(-EBADMSG, "its trailcam section is damaged");
	return sections_read(snapshot, cursor.at, cursor_left(&cursor));
}
