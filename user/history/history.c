/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records are replayed in time order, and between them the code that came later than its mapping. A copy
 * without a time belongs to every mapping of its name that covers it. For the decoder each version of an
 * image becomes a list of sections and the TSC it begins at. A child begins with its parent's mappings.
 */
#include "history/history.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/error.h"
#include "history/late_code.h"
#include "image/replay.h"
#include "probe/address_filters.h"

struct history_process *history_process(struct history *history, int32_t pid)
{
	uint64_t hash = hash_number(0, (uint32_t)pid);

	for (size_t at = 0, i; (i = hash_index_next(&history->by_pid, hash, &at)) != HASH_INDEX_END;)
		if (history->processes[i].pid == pid)
			return &history->processes[i];
	return NULL;
}

static struct history_thread *find_thread(const struct history *history, int32_t tid)
{
	uint64_t hash = hash_number(0, (uint32_t)tid);

	for (size_t at = 0, i; (i = hash_index_next(&history->by_tid, hash, &at)) != HASH_INDEX_END;)
		if (history->threads[i].tid == tid)
			return &history->threads[i];
	return NULL;
}

const struct symbol *history_symbol_at(struct history *history, int32_t pid, uint64_t ip, uint64_t time_ns)
{
	const struct history_process *process = history_process(history, pid);

	return process ? image_symbol_at(process->image, image_version_at(process->image, time_ns), ip)
		       : NULL;
}

const struct history_thread *history_thread(const struct history *history, int32_t tid)
{
	return find_thread(history, tid);
}

static int process_get(struct history *history, int32_t pid, struct history_process **ret_process)
{
	struct history_process fresh = {.pid = pid};
	int err;

	*ret_process = history_process(history, pid);
	if (*ret_process)
		return 0;
	err = image_new(&fresh.image, history->objects);
	if (!err)
		err = hash_index_add(&history->by_pid, hash_number(0, (uint32_t)pid), history->process_cnt);
	if (!err)
		err = ARRAY_PUSH(history->processes, history->process_cnt, history->process_cap, fresh);
	if (err) {
		image_free(fresh.image);
		return err;
	}
	*ret_process = &history->processes[history->process_cnt - 1];
	return 0;
}

static int name_thread(struct history *history, int32_t pid, int32_t tid, const char *name)
{
	struct history_thread fresh = {.tid = tid, .pid = pid, .name = strdup(name)},
			      *known = find_thread(history, tid);

	if (!fresh.name)
		return -ENOMEM;
	if (known) {
		fresh.born_ns = known->born_ns;
		free(known->name);
		*known = fresh;
		return 0;
	}
	if (hash_index_add(&history->by_tid, hash_number(0, (uint32_t)tid), history->thread_cnt) ||
	    ARRAY_PUSH(history->threads, history->thread_cnt, history->thread_cap, fresh)) {
		free(fresh.name);
		return -ENOMEM;
	}
	return 0;
}

/* The vDSO is the same in every process; where the process's own was not to be had, the recorder's serves. */
static int lay_vdso(const struct snapshot *snapshot, struct image *image,
		    const struct sideband_mapping *mapping)
{
	for (size_t i = 0; i < snapshot->copy_cnt; i++) {
		const struct code_copy *copy = &snapshot->copies[i];
		const struct image_section section = {.addr = mapping->addr,
						      .size = copy->size,
						      .path = copy->path,
						      .object = mapping->name};

		if (copy->pid == -1 && !strcmp(copy->name, mapping->name) && copy->size == mapping->size)
			return image_overlay(image, &section);
	}
	return 0;
}

/* What the mapping holds from its beginning, at time_ns, on. */
static int lay_copies(const struct snapshot *snapshot, struct image *image, int32_t pid,
		      const struct sideband_mapping *mapping, uint64_t time_ns)
{
	if (!strcmp(mapping->name, "[vdso]") && lay_vdso(snapshot, image, mapping))
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->copy_cnt; i++) {
		const struct code_copy *copy = &snapshot->copies[i];
		struct image_section section = late_code_section(copy);
		int err;

		if (copy->pid != pid || copy->from_ns > time_ns || copy->addr < mapping->addr ||
		    copy->addr - mapping->addr >= mapping->size || strcmp(copy->name, mapping->name))
			continue;
		err = image_overlay(image, &section);
		if (err)
			return err;
	}
	return 0;
}

static int replay_mapping(struct history *history, const struct snapshot *snapshot,
			  const struct late_code *late, const struct sideband_record *record)
{
	const struct sideband_mapping *mapping = &record->mapping;
	struct history_process *process;
	const char *path = NULL;
	int err;

	if (record->pid == -1)
		return 0; /* the kernel's: see read_kernel() */
	err = process_get(history, record->pid, &process);
	if (!err && sideband_is_file(mapping->name))
		err = binaries_find(history->binaries, mapping->name, &path);
	if (!err)
		err = image_replay(process->image, record->time_ns, record, path);
	if (!err && uprobe_page_is(mapping->name))
		err = ARRAY_PUSH(process->uprobes, process->uprobe_cnt, process->uprobe_cap,
				 ((struct history_range){mapping->addr, mapping->addr + mapping->size}));
	if (!err)
		err = lay_copies(snapshot, process->image, record->pid, mapping, record->time_ns);
	return err ? err : late_code_lay_again(late, record->pid, mapping, process->image);
}

static int replay_exec(struct history *history, const struct snapshot *snapshot,
		       const struct sideband_record *record)
{
	struct history_process *process;
	int err = process_get(history, record->pid, &process);

	if (!err)
		err = image_replay(process->image, record->time_ns, record, NULL);
	return err ? err
		   : ARRAY_PUSH(process->execs, process->exec_cnt, process->exec_cap,
				trace_clock_tsc(&snapshot->clock, record->time_ns));
}

static void note_birth(struct history *history, int32_t tid, uint64_t time_ns)
{
	struct history_thread *known = find_thread(history, tid);

	if (known)
		known->born_ns = time_ns;
}

/* A new thread has its creator's name, a new process also its mappings. */
static int replay_fork(struct history *history, const struct sideband_record *record)
{
	const struct history_thread *creator = history_thread(history, record->parent_tid);
	struct history_process *child, *parent;
	int err = creator ? name_thread(history, record->pid, record->tid, creator->name) : 0;

	note_birth(history, record->tid, record->time_ns);
	if (err || record->pid == record->parent_pid || history_process(history, record->pid) ||
	    !history_process(history, record->parent_pid))
		return err;
	err = process_get(history, record->pid, &child);
	if (err)
		return err;
	parent = history_process(history, record->parent_pid);
	IMAGE_FOR_EACH_SECTION (section, parent->image, image_version_cnt(parent->image) - 1) {
		err = image_map(child->image, record->time_ns, section);
		if (err)
			return err;
	}
	return 0;
}

static int replay_switch(struct history *history, const struct snapshot *snapshot,
			 const struct sideband_record *record)
{
	struct history_switch event = {
		.tsc = trace_clock_tsc(&snapshot->clock, record->time_ns),
		.cpu = record->cpu,
		.pid = record->pid,
		.tid = record->tid,
		.out = record->out,
		.preempted = record->preempted,
	};

	return ARRAY_PUSH(history->switches, history->switch_cnt, history->switch_cap, event);
}

static int replay_record(struct history *history, const struct snapshot *snapshot,
			 const struct late_code *late, const struct sideband_record *record)
{
	int err = 0;

	switch (record->type) {
	case PERF_RECORD_MMAP2:
		return replay_mapping(history, snapshot, late, record);
	case PERF_RECORD_COMM:
		if (record->exec)
			err = replay_exec(history, snapshot, record);
		return err ? err : name_thread(history, record->pid, record->tid, record->name);
	case PERF_RECORD_FORK:
		return replay_fork(history, record);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_ITRACE_START:
		return replay_switch(history, snapshot, record);
	default:
		return 0;
	}
}

static int lay_late(struct history *history, struct late_code *late, uint64_t until_ns)
{
	const struct late_section *next;
	int err = 0;

	while (!err && (next = late_code_next(late, until_ns))) {
		const struct history_process *process = history_process(history, next->pid);

		if (process)
			err = late_code_lay(late, next, process->image);
	}
	return err;
}

static int name_jit(struct history *history, struct late_jit *jit)
{
	const struct history_process *process = history_process(history, jit->pid);

	return process ? image_set_jit(process->image, &jit->symbols) : 0;
}

/* ---- the kernel ---- */

static int read_kernel(struct history *history, const struct snapshot *snapshot)
{
	struct jit_symbols symbols = {0};
	int err = image_new(&history->kernel, history->objects);

	for (size_t i = 0; i < snapshot->copy_cnt && !err; i++) {
		const struct code_copy *copy = &snapshot->copies[i];
		struct image_section section = late_code_section(copy);

		if (!copy->path || !code_copy_is_kernel(copy))
			continue;
		if (!strcmp(copy->name, KERNEL_CODE))
			err = image_overlay(history->kernel, &section);
		else if (!strcmp(copy->name, KERNEL_NAMES) &&
			 jit_symbols_read_kernel(&symbols, copy->path) == -ENOMEM)
			err = -ENOMEM;
	}
	if (!err)
		err = image_set_jit(history->kernel, &symbols);
	jit_symbols_release(&symbols);
	return err;
}

/* ---- for the decoder ---- */

static void take_sections(struct code_section *sections, size_t *cnt, const struct image *image,
			  size_t version)
{
	IMAGE_FOR_EACH_SECTION (section, image, version)
		if (section->path)
			sections[(*cnt)++] = (struct code_section){.path = section->path,
								   .file_offset = section->file_offset,
								   .size = section->size,
								   .addr = section->addr};
}

int history_sections(void *ctx, size_t image, struct code_section **ret_sections, size_t *ret_cnt)
{
	const struct history *history = ctx;
	const struct history_owner *owner = &history->owners[image];
	size_t cnt = image_section_cnt(history->kernel, 0);
	struct code_section *sections;

	if (owner->process)
		cnt += image_section_cnt(owner->process->image, owner->version);
	sections = calloc(cnt + 1, sizeof(*sections));
	if (!sections)
		return -ENOMEM;
	*ret_cnt = 0;
	if (owner->process)
		take_sections(sections, ret_cnt, owner->process->image, owner->version);
	take_sections(sections, ret_cnt, history->kernel, 0);
	*ret_sections = sections;
	return 0;
}

static int add_range(struct code_image *image, const struct address_filter *filter, uint64_t begin)
{
	size_t cnt = image->range_cnt;
	struct code_range *ranges =
		reallocarray((struct code_range *)image->ranges, cnt + 1, sizeof(*ranges));

	if (!ranges)
		return -ENOMEM;
	ranges[cnt] = (struct code_range){begin, begin + filter->size, filter->stops};
	image->ranges = ranges;
	image->range_cnt++;
	return 0;
}

static bool is_of(const struct image_section *section, const struct address_filter *filter)
{
	return section->object && strlen(section->object) == filter->file_len &&
	       !memcmp(section->object, filter->file, filter->file_len) &&
	       filter->offset - section->file_offset < section->size;
}

/* Where a filter is in this image. One of a file that is not mapped leaves the others as they are. */
static int take_filter(struct code_image *added, const struct address_filter *filter,
		       const struct image *image, size_t version)
{
	if (!filter->file)
		return add_range(added, filter, filter->offset);
	if (!image)
		return 0;
	IMAGE_FOR_EACH_SECTION (section, image, version)
		if (is_of(section, filter) &&
		    add_range(added, filter, section->addr + (filter->offset - section->file_offset)))
			return -ENOMEM;
	return 0;
}

/* A version of a process's image, NULL for none, and the kernel's. */
static int add_image(struct history *history, const struct snapshot *snapshot,
		     const struct history_process *process, size_t version)
{
	const struct image *image = process ? process->image : NULL;
	struct code_image added = {0};
	const char *text = snapshot->filter;
	struct address_filter filter;
	int err = 0;

	while (text && !err && filters_next(&text, &filter))
		err = take_filter(&added, &filter, image, version);
	if (err || ARRAY_PUSH(history->images, history->image_cnt, history->image_cap, added)) {
		free((void *)added.ranges);
		return -ENOMEM;
	}
	return ARRAY_PUSH(history->owners, history->owner_cnt, history->owner_cap,
			  ((struct history_owner){process, version}));
}

static int fill_versions(struct history *history, const struct snapshot *snapshot,
			 struct history_process *process)
{
	size_t cnt = image_version_cnt(process->image);

	process->versions = calloc(cnt + 1, sizeof(*process->versions));
	process->recent = calloc(HISTORY_RECENT, sizeof(*process->recent));
	if (!process->versions || !process->recent)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		uint64_t start = trace_clock_tsc(&snapshot->clock, image_version_start(process->image, i));
		int err = add_image(history, snapshot, process, i);

		if (err)
			return err;
		process->versions[process->version_cnt++] = (struct code_version){
			.start_tsc = start, .enable_tsc = start, .image = history->image_cnt - 1};
	}
	return 0;
}

bool history_is_uprobe_code(const struct history_process *process, uint64_t ip)
{
	for (size_t i = 0; i < process->uprobe_cnt; i++)
		if (ip >= process->uprobes[i].begin && ip < process->uprobes[i].end)
			return true;
	return false;
}

/*
 * Not where a jump may be a raise or leads into code for uprobes, nor where a symbol stands for more than a
 * function or has others inside.
 */
struct decoder_function history_function_at(void *ctx, size_t image, uint64_t ip)
{
	const struct history *history = ctx;
	const struct history_owner *owner = &history->owners[image];
	const struct symbol *symbol = NULL;

	if (arch_is_kernel(ip))
		symbol = image_symbol_at(history->kernel, 0, ip);
	else if (owner->process && !history_is_uprobe_code(owner->process, ip))
		symbol = image_symbol_at(owner->process->image, owner->version, ip);
	if (!symbol || symbol->role == SYMBOL_OCAML || symbol->is_divided || !symbol_is_function(symbol))
		return (struct decoder_function){0};
	return (struct decoder_function){symbol->start, symbol->end};
}

void history_find_sources(const struct history *history)
{
	image_find_sources(history->kernel);
	for (size_t i = 0; i < history->process_cnt; i++)
		image_find_sources(history->processes[i].image);
}

int history_new(struct history **ret_history, const struct snapshot *snapshot, const char *symfs)
{
	CLEANUP(history_freep) struct history *history = calloc(1, sizeof(*history));
	CLEANUP(late_code_release) struct late_code late = {0};
	struct sideband_record record;
	size_t pos = 0;
	int err;

	if (!history)
		return -ENOMEM;
	err = image_objects_new(&history->objects);
	if (!err)
		err = binaries_new(&history->binaries, snapshot, symfs);
	if (!err)
		err = late_code_read(&late, snapshot);
	if (err)
		return err;
	while ((err = sideband_next(snapshot, &pos, &record)) > 0) {
		err = lay_late(history, &late, record.time_ns);
		if (!err)
			err = replay_record(history, snapshot, &late, &record);
		if (err)
			return err;
	}
	if (!err)
		err = lay_late(history, &late, UINT64_MAX);
	if (err)
		return err;
	err = read_kernel(history, snapshot);
	if (!err)
		err = add_image(history, snapshot, NULL, 0);
	for (size_t i = 0; i < history->process_cnt && !err; i++)
		err = fill_versions(history, snapshot, &history->processes[i]);
	for (size_t i = 0; i < late.jit_cnt && !err; i++)
		err = name_jit(history, &late.jits[i]);
	if (err)
		return err;
	*ret_history = TAKE_PTR(history);
	return 0;
}

void history_free(struct history *history)
{
	if (!history)
		return;
	for (size_t i = 0; i < history->process_cnt; i++) {
		struct history_process *process = &history->processes[i];

		free((void *)process->recent);
		free(process->versions);
		free(process->execs);
		free(process->uprobes);
		image_free(process->image);
	}
	for (size_t i = 0; i < history->thread_cnt; i++)
		free(history->threads[i].name);
	for (size_t i = 0; i < history->image_cnt; i++)
		free((void *)history->images[i].ranges);
	free(history->images);
	free(history->owners);
	free(history->switches);
	free(history->processes);
	free(history->threads);
	hash_index_release(&history->by_pid);
	hash_index_release(&history->by_tid);
	image_free(history->kernel);
	image_objects_free(history->objects);
	binaries_free(history->binaries);
	free(history);
}
