/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/containers/arena.h"
#include "base/spill.h"

int snapshot_new(struct snapshot **ret_snapshot)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot)
		return -ENOMEM;
	if (hit_list_new(&snapshot->hits)) {
		free(snapshot);
		return -ENOMEM;
	}
	*ret_snapshot = snapshot;
	return 0;
}

void aux_trace_let_go(const struct aux_trace *aux)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = ((uintptr_t)aux->bytes + page - 1) & -page,
		  end = ((uintptr_t)aux->bytes + aux->size) & -page;

	if (aux->is_borrowed && end > begin)
		madvise((void *)begin, end - begin, MADV_DONTNEED);
}

const uint8_t *stack_sample_stack(const struct stack_sample *sample, uint8_t *room)
{
	if (sample->pool)
		stack_pool_read(sample->pool, sample->pool_first, sample->regs[HIT_SP] % STACK_PAGE, room,
				sample->stack_size < SAMPLE_STACK_MAX ? sample->stack_size
								      : SAMPLE_STACK_MAX);
	return sample->pool ? room : sample->stack;
}

uint64_t *stack_sample_add_regs(struct stack_sample *sample)
{
	sample->regs = calloc(HIT_REG_CNT, sizeof(*sample->regs));
	sample->flags |= sample->regs ? SAMPLE_HAS_REGS : 0;
	return sample->regs;
}

void stack_sample_release(const struct stack_sample *sample)
{
	free(sample->ips);
	free(sample->regs);
	free(sample->call.about);
	if (sample->is_stack_owned)
		free((void *)sample->stack);
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	for (size_t i = 0; i < snapshot->aux_cnt; i++) {
		if (snapshot->aux[i].is_mapped)
			munmap(snapshot->aux[i].bytes, snapshot->aux[i].size);
		else if (!snapshot->aux[i].is_borrowed)
			free(snapshot->aux[i].bytes);
	}
	for (size_t i = 0; i < snapshot->trigger_cnt; i++)
		free(snapshot->triggers[i]);
	for (size_t i = 0; i < snapshot->place_cnt; i++) {
		free(snapshot->places[i].path);
		free(snapshot->places[i].function);
	}
	for (size_t i = 0; i < snapshot->gap_reason_cnt; i++)
		free(snapshot->gap_reasons[i].text);
	for (size_t i = 0; i < snapshot->alloc_function_cnt; i++)
		free(snapshot->alloc_functions[i]);
	for (size_t i = 0; i < snapshot->copy_cnt; i++) {
		free(snapshot->copies[i].name);
		free(snapshot->copies[i].bytes);
		free(snapshot->copies[i].path);
	}
	for (size_t i = 0; i < snapshot->sample_cnt; i++)
		stack_sample_release(&snapshot->samples[i]);
	for (size_t i = 0; i < snapshot->sample_event_cnt; i++)
		free(snapshot->sample_events[i]);
	if (snapshot->file)
		munmap(snapshot->file, snapshot->file_size);
	free(snapshot->source);
	free(snapshot->stopped_by);
	free(snapshot->filter);
	free(snapshot->command);
	spill_free(snapshot->samples);
	stack_pool_release(&snapshot->stacks);
	free(snapshot->sample_events);
	free(snapshot->other_cpu);
	free(snapshot->aux);
	free(snapshot->sideband);
	hit_list_free(snapshot->hits);
	for (size_t i = 0; i < snapshot->value_cnt; i++)
		free(snapshot->values[i].text);
	for (size_t i = 0; i < snapshot->value_name_cnt; i++)
		free(snapshot->value_names[i]);
	free(snapshot->values);
	free(snapshot->value_names);
	free(snapshot->triggers);
	free(snapshot->places);
	free(snapshot->gap_reasons);
	free(snapshot->alloc_functions);
	free(snapshot->allocs);
	word_pool_free(snapshot->alloc_stacks);
	free(snapshot->alloc_stack_of);
	free(snapshot->calls);
	free(snapshot->copies);
	for (size_t i = 0; i < snapshot->build_id_cnt; i++)
		free(snapshot->build_ids[i].name);
	free(snapshot->build_ids);
	hash_index_release(&snapshot->build_id_index);
	free(snapshot);
}

int snapshot_add_place(struct snapshot *snapshot, const struct probe_place *place)
{
	struct probe_place copy = *place;

	copy.path = strdup(place->path);
	copy.function = strdup(place->function);
	if (copy.path && copy.function &&
	    !ARRAY_PUSH(snapshot->places, snapshot->place_cnt, snapshot->place_cap, copy))
		return 0;
	free(copy.path);
	free(copy.function);
	return -ENOMEM;
}

int snapshot_add_gap_reason(struct snapshot *snapshot, const struct gap_reason *reason)
{
	struct gap_reason copy = *reason;

	copy.text = strdup(reason->text);
	if (copy.text &&
	    !ARRAY_PUSH(snapshot->gap_reasons, snapshot->gap_reason_cnt, snapshot->gap_reason_cap, copy))
		return 0;
	free(copy.text);
	return -ENOMEM;
}

int snapshot_add_value(struct snapshot *snapshot, uint32_t hit, uint32_t name, enum value_kind kind,
		       char *text)
{
	struct hit_value value = {hit, name, kind, text};
	int err = ARRAY_PUSH(snapshot->values, snapshot->value_cnt, snapshot->value_cap, value);

	if (err)
		free(text);
	return err;
}

int snapshot_add_value_name(struct snapshot *snapshot, const char *name)
{
	char *copy = strdup(name);
	int err = copy ? ARRAY_PUSH(snapshot->value_names, snapshot->value_name_cnt, snapshot->value_name_cap,
				    copy)
		       : -ENOMEM;

	if (err)
		free(copy);
	return err;
}

struct aux_trace *snapshot_add_aux(struct snapshot *snapshot)
{
	struct aux_trace empty = {.cpu = -1};

	if (ARRAY_PUSH(snapshot->aux, snapshot->aux_cnt, snapshot->aux_cap, empty))
		return NULL;
	return &snapshot->aux[snapshot->aux_cnt - 1];
}

bool code_copy_is_file(const struct code_copy *copy)
{
	return copy->pid == -1 || !strcmp(copy->name, "[vdso]") || !strcmp(copy->name, JIT_PERF_MAP) ||
	       !strcmp(copy->name, JIT_DUMP) || !strcmp(copy->name, JIT_JVM);
}

bool code_copy_is_kernel(const struct code_copy *copy)
{
	return copy->pid == -1 && (!strcmp(copy->name, KERNEL_CODE) || !strcmp(copy->name, KERNEL_NAMES) ||
				   !strcmp(copy->name, KERNEL_MODULES));
}

struct code_copy *snapshot_add_copy(struct snapshot *snapshot)
{
	struct code_copy empty = {0};

	if (ARRAY_PUSH(snapshot->copies, snapshot->copy_cnt, snapshot->copy_cap, empty))
		return NULL;
	return &snapshot->copies[snapshot->copy_cnt - 1];
}

int snapshot_take_copy(struct snapshot *snapshot, int32_t pid, uint64_t addr, const char *name,
		       uint8_t *bytes, size_t size)
{
	struct code_copy *copy = snapshot_add_copy(snapshot);

	if (!copy) {
		free(bytes);
		return -ENOMEM;
	}
	*copy = (struct code_copy){
		.pid = pid, .addr = addr, .size = size, .name = strdup(name), .bytes = bytes};
	return copy->name ? 0 : -ENOMEM;
}

int snapshot_join_copy(struct snapshot *snapshot, const struct code_copy *from)
{
	struct code_copy *last = snapshot->copy_cnt ? &snapshot->copies[snapshot->copy_cnt - 1] : NULL;

	if (last && last->pid == from->pid && last->addr + last->size == from->addr &&
	    last->from_ns == from->from_ns && !strcmp(last->name, from->name)) {
		uint8_t *grown = realloc(last->bytes, last->size + from->size);

		if (!grown)
			return -ENOMEM;
		memcpy(grown + last->size, from->bytes, from->size);
		last->bytes = grown;
		last->size += from->size;
		return 0;
	}
	last = snapshot_add_copy(snapshot);
	if (!last)
		return -ENOMEM;
	*last = *from;
	last->name = strdup(from->name);
	last->bytes = malloc(from->size);
	if (!last->name || !last->bytes)
		return -ENOMEM;
	memcpy(last->bytes, from->bytes, from->size);
	return 0;
}

void snapshot_lay_copies(struct snapshot *snapshot)
{
	uint64_t end = 0;

	for (size_t i = 0; i < snapshot->copy_cnt; i++) {
		struct code_copy *copy = &snapshot->copies[i];

		if (code_copy_is_file(copy))
			continue;
		copy->file_offset = end;
		end += copy->size;
	}
}

int snapshot_add_build_id(struct snapshot *snapshot, const char *name, const struct build_id *id)
{
	struct named_build_id named = {.id = *id};

	if (snapshot_build_id(snapshot, name))
		return 0;
	named.name = strdup(name);
	if (!named.name ||
	    ARRAY_PUSH(snapshot->build_ids, snapshot->build_id_cnt, snapshot->build_id_cap, named)) {
		free(named.name);
		return -ENOMEM;
	}
	return hash_index_add(&snapshot->build_id_index, hash_text(0, name), snapshot->build_id_cnt - 1);
}

const struct build_id *snapshot_build_id(const struct snapshot *snapshot, const char *name)
{
	const struct hash_index *index = &snapshot->build_id_index;

	for (size_t at = 0, i; (i = hash_index_next(index, hash_text(0, name), &at)) != HASH_INDEX_END;)
		if (!strcmp(snapshot->build_ids[i].name, name))
			return &snapshot->build_ids[i].id;
	return NULL;
}
