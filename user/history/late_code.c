/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each change makes a version of the image, which costs: none is made where no decoder could tell, because
 * nothing was traced yet, or because nothing was known before of what is now there.
 */
#include "history/late_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"

struct image_section late_code_section(const struct code_copy *copy)
{
	return (struct image_section){.addr = copy->addr,
				      .size = copy->size,
				      .path = copy->path,
				      .file_offset = copy->file_offset,
				      .object = copy->name};
}

static int add(struct late_code *late, uint64_t since, int32_t pid, struct image_section section)
{
	const struct late_section item = {.key = {since, late->cnt}, .pid = pid, .section = section};

	return ARRAY_PUSH(late->items, late->cnt, late->cap, item);
}

static struct late_jit *jit_of(struct late_code *late, int32_t pid)
{
	const struct late_jit fresh = {.pid = pid};

	for (size_t i = 0; i < late->jit_cnt; i++)
		if (late->jits[i].pid == pid)
			return &late->jits[i];
	return ARRAY_PUSH(late->jits, late->jit_cnt, late->jit_cap, fresh) ? NULL
									   : &late->jits[late->jit_cnt - 1];
}

/*
 * Whether the process's code travels as it ran. Its compiler told what the code was before it was patched, as
 * Erlang's does where a native function is loaded.
 */
static bool has_what_ran(const struct snapshot *snapshot, int32_t pid)
{
	for (size_t i = 0; i < snapshot->copy_cnt; i++)
		if (snapshot->copies[i].pid == pid && snapshot->copies[i].has_run)
			return true;
	return false;
}

/* The functions from `first` on are those of the file `path`. */
static int add_functions(struct late_code *late, const struct snapshot *snapshot, struct late_jit *jit,
			 size_t first, const char *path)
{
	bool names_only = has_what_ran(snapshot, jit->pid);
	int err = 0;

	for (size_t i = first; i < jit->symbols.cnt && !err; i++) {
		struct jit_function *function = &jit->symbols.items[i];
		const struct image_section section = {.addr = function->symbol.start,
						      .size = function->symbol.end - function->symbol.start,
						      .path = path,
						      .file_offset = function->code_offset};

		if (function->since)
			function->since = trace_clock_from_monotonic(&snapshot->clock, function->since);
		if (function->code_offset && !names_only)
			err = add(late, function->since, jit->pid, section);
	}
	return err;
}

/* What reads a copy of this name; NULL: it is code. */
static int (*jit_reader(const char *name))(struct jit_symbols *symbols, const char *path)
{
	static const struct {
		const char *name;
		int (*read)(struct jit_symbols *symbols, const char *path);
	} readers[] = {
		{JIT_PERF_MAP, jit_symbols_read_map},
		{JIT_DUMP, jit_symbols_read_dump},
		{JIT_JVM, jit_symbols_read_jvm},
	};

	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		if (!strcmp(name, readers[i].name))
			return readers[i].read;
	return NULL;
}

/*
 * What JIT compilers told of their code travels as copies that stand at no address. A file that is damaged is
 * left out.
 */
static int add_jit(struct late_code *late, const struct snapshot *snapshot, const struct code_copy *copy)
{
	struct late_jit *jit = jit_of(late, copy->pid);
	int (*read)(struct jit_symbols * symbols, const char *path) = jit_reader(copy->name);
	size_t first = jit ? jit->symbols.cnt : 0;
	int err;

	if (!jit)
		return -ENOMEM;
	err = read(&jit->symbols, copy->path);
	return err == -ENOMEM ? err : add_functions(late, snapshot, jit, first, copy->path);
}

int late_code_read(struct late_code *late, const struct snapshot *snapshot)
{
	int err = 0;

	late->trace_ns = UINT64_MAX;
	for (size_t i = 0; i < snapshot->aux_cnt; i++) {
		uint64_t begin_ns = trace_clock_ns(&snapshot->clock, snapshot->aux[i].ref_tsc);

		if (begin_ns < late->trace_ns)
			late->trace_ns = begin_ns;
	}
	for (size_t i = 0; i < snapshot->copy_cnt && !err; i++) {
		const struct code_copy *copy = &snapshot->copies[i];

		if (!copy->path)
			continue;
		if (jit_reader(copy->name))
			err = add_jit(late, snapshot, copy);
		else if (copy->from_ns)
			err = add(late, copy->from_ns, copy->pid, late_code_section(copy));
	}
	sort_array(late->items, late->cnt, sizeof(*late->items), sort_by_key);
	return err;
}

void late_code_release(struct late_code *late)
{
	for (size_t i = 0; i < late->jit_cnt; i++)
		jit_symbols_release(&late->jits[i].symbols);
	free(late->jits);
	free(late->items);
}

const struct late_section *late_code_next(struct late_code *late, uint64_t until_ns)
{
	if (late->next == late->cnt || late->items[late->next].key.value > until_ns)
		return NULL;
	return &late->items[late->next++];
}

int late_code_lay(const struct late_code *late, const struct late_section *next, struct image *image)
{
	const struct image_section *below =
		image_section_at(image, image_version_cnt(image) - 1, next->section.addr);
	struct image_section section = next->section;
	bool says_more = section.object; /* a copy: it was seen to take the place of something */

	/* Its mapping may be gone. */
	if (section.object && (!below || strcmp(below->object, section.object)))
		return 0;
	if (!section.object)
		section.object = below ? below->object : "//anon";
	if (below && below->path && !strcmp(below->path, section.path))
		says_more = true; /* an older function of the same compiler's */
	if (!says_more || next->key.value <= late->trace_ns)
		return image_overlay(image, &section);
	return image_overlay_at(image, next->key.value, &section);
}

int late_code_lay_again(const struct late_code *late, int32_t pid, const struct sideband_mapping *mapping,
			struct image *image)
{
	int err = 0;

	for (size_t i = 0; i < late->next && !err; i++) {
		struct image_section section = late->items[i].section;

		if (late->items[i].pid != pid || section.object ||
		    section.addr - mapping->addr >= mapping->size)
			continue;
		section.object = mapping->name;
		err = image_overlay(image, &section);
	}
	return err;
}
