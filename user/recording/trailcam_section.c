/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our own section: "TRAILCAM", a version, then fields in fixed order, little-endian; strings and arrays have
 * their length in front as u32. The list of code copies names files by pid and address, which hold the bytes.
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

/*
 * Of hits. Version 4 was what the BPF program wrote then, padded to 64 addresses of a stack; those before it
 * are as old as the version 4 of the section, which is not read either.
 */
enum { HITS_VERSION = 5, HITS_VERSION_FIXED = 4 };

/* Version 5 ends before the allocations, 6 before the values of hits, 7 before the sections. */
enum {
	SECTION_VERSION = 8,
	SECTION_VERSION_NO_SECTIONS = 7,
	SECTION_VERSION_NO_VALUES = 6,
	SECTION_VERSION_NO_ALLOCS = 5
};

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

/* What is of a version that is not read here. */
struct misfit {
	const char *part; /* NULL: nothing */
	uint32_t version, known;
};

static char *take_string(struct cursor *cursor)
{
	uint32_t len = cursor_u32(cursor);
	const uint8_t *bytes = cursor_take(cursor, len);
	char *text = bytes ? strndup((const char *)bytes, len) : NULL;

	if (!text)
		cursor->bad = true;
	return text;
}

/* The version of a part, from `oldest` to `newest`; others end the reading. */
static uint32_t take_version(struct cursor *cursor, const char *part, uint32_t oldest, uint32_t newest,
			     struct misfit *misfit)
{
	uint32_t version = cursor_u32(cursor);

	if (cursor->bad || (version >= oldest && version <= newest))
		return version;
	*misfit = (struct misfit){part, version, version > newest ? newest : oldest};
	cursor->bad = true;
	return version;
}

static int fail_misfit(const struct misfit *misfit)
{
	if (misfit->version > misfit->known)
		return fail(-ENOTSUP,
			    "this recording was made by a newer trailcam (%s version %u; this one knows %u)",
			    misfit->part, misfit->version, misfit->known);
	return fail(
		-ENOTSUP,
		"this recording was made by an older trailcam (%s version %u; this one reads %u and later)",
		misfit->part, misfit->version, misfit->known);
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

/* Of HITS_VERSION_FIXED. */
struct fixed_hit {
	uint64_t time_ns;
	uint32_t cpu, pid, tid, trigger, action, stack_cnt;
	uint64_t begin_ns;
	uint32_t args_known, unused;
	uint64_t args[12], stopped_ns, goroutine, return_address, regs[21], stack[64];
	char comm[16];
};

static void take_fixed_hit(struct cursor *cursor, struct caught_hit *caught)
{
	const uint8_t *bytes = cursor_take(cursor, sizeof(struct fixed_hit));
	struct fixed_hit fixed;

	if (!bytes)
		return;
	memcpy(&fixed, bytes, sizeof(fixed));
	if (fixed.stack_cnt > ARRAY_SIZE(fixed.stack)) {
		cursor->bad = true;
		return;
	}
	caught->hit = (struct hit){.time_ns = fixed.time_ns,
				   .begin_ns = fixed.begin_ns,
				   .stopped_ns = fixed.stopped_ns,
				   .goroutine = fixed.goroutine,
				   .return_address = fixed.return_address,
				   .cpu = fixed.cpu,
				   .pid = fixed.pid,
				   .tid = fixed.tid,
				   .trigger = fixed.trigger,
				   .action = (uint16_t)fixed.action,
				   .args_known = (uint16_t)fixed.args_known,
				   .stack_cnt = (uint16_t)fixed.stack_cnt};
	memcpy(caught->hit.comm, fixed.comm, sizeof(fixed.comm));
	memcpy(caught->regs, fixed.regs, sizeof(fixed.regs));
	memcpy(caught->args, fixed.args, sizeof(fixed.args));
	memcpy(caught->stack, fixed.stack, sizeof(fixed.stack));
}

static void take_hits(struct cursor *cursor, struct snapshot *snapshot, struct misfit *misfit)
{
	uint32_t version = take_version(cursor, "hits", HITS_VERSION_FIXED, HITS_VERSION, misfit),
		 cnt = cursor_u32(cursor);
	struct caught_hit caught = {0};

	for (uint32_t i = 0; i < cnt && !cursor->bad; i++) {
		if (version == HITS_VERSION)
			take_hit(cursor, &caught);
		else
			take_fixed_hit(cursor, &caught);
		/* Version 4: that of a program that ended. */
		if (!caught.hit.stack_cnt)
			caught.stack[caught.hit.stack_cnt++] = caught.regs[HIT_IP];
		if (cursor->bad || caught.hit.trigger >= snapshot->trigger_cnt ||
		    hit_list_add(snapshot->hits, &caught))
			cursor->bad = true;
	}
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
		copy->name = take_string(cursor);
	}
}

static void take_allocs(struct cursor *cursor, struct snapshot *snapshot, struct misfit *misfit)
{
	uint32_t cnt;

	take_version(cursor, "allocations", ALLOC_VERSION, ALLOC_VERSION, misfit);
	snapshot->alloc_interval = cursor_u64(cursor);
	take_names(cursor, &snapshot->alloc_functions, &snapshot->alloc_function_cnt,
		   &snapshot->alloc_function_cap);
	cnt = cursor_u32(cursor);
	for (uint32_t i = 0; i < cnt && !cursor->bad; i++) {
		const uint8_t *bytes = cursor_take(cursor, sizeof(struct alloc));
		struct alloc alloc;

		if (!bytes)
			return;
		memcpy(&alloc, bytes, sizeof(alloc));
		if (ARRAY_PUSH(snapshot->allocs, snapshot->alloc_cnt, snapshot->alloc_cap, alloc))
			cursor->bad = true;
	}
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
	struct misfit misfit = {0};
	uint32_t version;

	if (!trailcam_section_is(bytes, size))
		return fail(-EBADMSG, "its trailcam section is damaged");
	cursor_take(&cursor, sizeof(magic));
	version = take_version(&cursor, "layout", SECTION_VERSION_NO_ALLOCS, SECTION_VERSION, &misfit);
	if (misfit.part)
		return fail_misfit(&misfit);
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
	take_hits(&cursor, snapshot, &misfit);
	take_copies(&cursor, snapshot);
	if (version >= SECTION_VERSION_NO_VALUES)
		take_allocs(&cursor, snapshot, &misfit);
	if (version >= SECTION_VERSION_NO_SECTIONS)
		take_values(&cursor, snapshot);
	if (misfit.part)
		return fail_misfit(&misfit);
	if (cursor.bad)
		return fail(-EBADMSG, "its trailcam section is damaged");
	return version >= SECTION_VERSION ? sections_read(snapshot, cursor.at, cursor_left(&cursor)) : 0;
}
