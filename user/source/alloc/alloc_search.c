/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which file has the allocator. The loader's order decides where several have it. An allocator that stands
 * beside others in one file is known by a function that only it has.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file/path.h"
#include "base/rights.h"
#include "process/maps.h"
#include "source/alloc/allocators.h"

/* By which names an allocator is known in a file that has others, too. */
static const struct family {
	const char *name;
	const char *marks[4];
} families[] = {
	{"jemalloc", {"mallocx", "je_malloc", "_rjem_malloc"}},
	{"tcmalloc", {"tc_malloc"}},
	{"mimalloc", {"mi_malloc"}},
};

struct search {
	int (*take)(struct search *search, struct elf_file *file);
	struct alloc_functions *functions;
	const struct family *family; /* NULL: whoever has ... */
	const char *name;	     /* ... this function */
	enum alloc_sampler sampler;
	bool any;
};

static bool defines(struct elf_file *file, const char *name)
{
	const struct elf_symbol *symbol;

	return elf_file_find(file, name, &symbol, 1) && !symbol->is_plt && symbol->bind != STB_LOCAL;
}

static bool has_family(struct elf_file *file, const struct family *family)
{
	for (size_t i = 0; i < ARRAY_SIZE(family->marks) && family->marks[i]; i++)
		if (defines(file, family->marks[i]))
			return true;
	return false;
}

/* USDT probes are never mixed with functions: drops functions of the program that were found before. */
static int take_usdts(struct search *search, struct elf_file *file)
{
	CLEANUP(alloc_functions_release) struct alloc_functions told = {0};
	int err = alloc_usdts_of_file(&told, file, search->sampler == ALLOC_SAMPLER_AUTO, &search->any);

	if (!err && search->any) {
		alloc_functions_release(search->functions);
		*search->functions = told;
		told = (struct alloc_functions){0};
	}
	return err;
}

static int take_file(struct search *search, struct elf_file *file)
{
	int err;

	search->any = false;
	err = search->sampler != ALLOC_SAMPLER_UPROBES ? take_usdts(search, file) : 0;
	if (err || search->any || search->sampler == ALLOC_SAMPLER_USDT)
		return err;
	return alloc_functions_of_file(search->functions, file, &search->any);
}

/* 1: found. A program cannot load a file that cannot be read. */
static int search_file(void *ctx, const char *path)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	struct search *search = ctx;
	int err = elf_file_open(&file, path);

	if (err)
		return err == -ENOMEM ? err : 0;
	if (search->sampler != ALLOC_SAMPLER_USDT &&
	    (search->family ? !has_family(file, search->family) : !defines(file, search->name)))
		return 0;
	err = search->take(search, file);
	return err ? err : search->any;
}

/* Its own allocators, beside the malloc that it calls. */
static int search_program(struct search *search, const char *exe)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	bool has = false;
	int err = elf_file_open(&file, exe);

	if (err)
		return err;
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		has = has || has_family(file, &families[i]);
	if (defines(file, search->name))
		return search_file(search, exe);
	return has ? alloc_functions_of_file(search->functions, file, &search->any) : 0;
}

static int search_preloaded(struct search *search, const char *exe)
{
	const char *preload = rights_getenv("LD_PRELOAD");
	CLEANUP(freep) char *names = strdup(preload ? preload : "");
	char *rest = names;
	int found = 0;

	for (char *name; !found && (name = strsep(&rest, ": "));) {
		CLEANUP(freep) char *path = NULL;

		if (*name && !trigger_find_file(name, exe, &path))
			found = search_file(search, path);
	}
	return names ? found : -ENOMEM;
}

/* libc and the loader have the malloc that other allocators replace. */
static bool is_last_resort(const char *path)
{
	const char *name = path_name(path);

	return !strncmp(name, "libc.", 5) || !strncmp(name, "libc-", 5) || !strncmp(name, "ld-", 3);
}

static int search_mapped(struct search *search, pid_t pid)
{
	CLEANUP(maps_release) struct maps maps = {0};
	int found = maps_read(&maps, pid);

	for (int last = 0; last < 2 && !found; last++)
		for (size_t i = 0; i < maps.cnt && !found; i++)
			if (maps.items[i].mapping.name[0] == '/' &&
			    is_last_resort(maps.items[i].mapping.name) == last)
				found = search_file(search, maps.items[i].mapping.name);
	return found;
}

static int search_everywhere(struct search *search, const char *exe, pid_t pid)
{
	int found = search->family || search->sampler == ALLOC_SAMPLER_USDT ? search_file(search, exe)
									    : search_program(search, exe);

	if (found)
		return found;
	if (pid)
		return search_mapped(search, pid);
	found = search_preloaded(search, exe);
	return found ? found : elf_library_each(exe, search_file, search);
}

static int find_in_library(struct search *search, const char *exe, const char *library)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	CLEANUP(freep) char *path = NULL;
	int err = trigger_find_file(library, exe, &path);

	if (err == -ENOENT)
		return fail(err,
			    "--allocator: '%s' is neither a library that the program has nor one of "
			    "jemalloc, tcmalloc, mimalloc",
			    library);
	if (!err)
		err = elf_file_open(&file, path);
	if (!err)
		err = take_file(search, file);
	if (err || search->any)
		return err;
	return fail(-ENOENT, "%s has no %s", path,
		    search->sampler == ALLOC_SAMPLER_USDT ? "probes otel_memory:alloc and otel_memory:free"
							  : "known allocation function");
}

int alloc_functions_find(struct alloc_functions *functions, const char *exe, pid_t pid, const char *allocator,
			 enum alloc_sampler sampler)
{
	struct search search = {
		.take = take_file, .functions = functions, .name = "malloc", .sampler = sampler};
	int found;

	for (size_t i = 0; i < ARRAY_SIZE(families) && allocator; i++)
		if (!strcmp(allocator, families[i].name))
			search.family = &families[i];
	if (allocator && !search.family)
		return find_in_library(&search, exe, allocator);
	found = search_everywhere(&search, exe, pid);
	/* A library that has only some of the functions, and leaves the others to libc. */
	search.name = "free";
	if (!search.family && found > 0 && !alloc_functions_tell(functions) &&
	    !alloc_functions_has(functions, search.name)) {
		search.any = false;
		found = search_everywhere(&search, exe, pid);
	}
	if (found < 0 || functions->cnt)
		return found < 0 ? found : 0;
	if (sampler == ALLOC_SAMPLER_USDT)
		return fail(-ENOENT,
			    "neither %s nor its libraries have the probes otel_memory:alloc and "
			    "otel_memory:free: --sampler preload adds a library that has them",
			    exe);
	return fail(-ENOENT,
		    "neither %s nor its libraries have an allocation function of %s: name the file that "
		    "has one with --allocator",
		    exe, allocator ? allocator : "a known name");
}

static int take_mappings(struct search *search, struct elf_file *file)
{
	return alloc_mappings_of_file(search->functions, file, is_last_resort(elf_file_path(file)),
				      &search->any);
}

int alloc_functions_find_mappings(struct alloc_functions *functions, const char *exe, pid_t pid)
{
	struct search search = {.take = take_mappings,
				.functions = functions,
				.name = "mmap",
				.sampler = ALLOC_SAMPLER_UPROBES};
	int found = search_file(&search, exe);

	if (!found)
		found = pid ? search_mapped(&search, pid) : elf_library_each(exe, search_file, &search);
	if (found < 0)
		return found;
	return search.any ? 0 : fail(-ENOENT, "neither %s nor its libraries have an mmap()", exe);
}
