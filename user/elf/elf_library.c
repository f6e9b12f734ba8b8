/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Libraries as the dynamic loader finds them (ld.so(8)): DT_RPATH of the file that needs one and of the
 * executable, where the file has no DT_RUNPATH; LD_LIBRARY_PATH; DT_RUNPATH; /etc/ld.so.cache; the default
 * directories.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/error.h"
#include "base/rights.h"
#include "elf/elf_internal.h"

/* What a file says of the libraries it needs. */
struct needs {
	char *origin; /* its directory */
	char **names;
	size_t cnt, cap;
	char *rpath, *runpath; /* or NULL */
};

static void needs_release(struct needs *needs)
{
	for (size_t i = 0; i < needs->cnt; i++)
		free(needs->names[i]);
	free(needs->names);
	free(needs->rpath);
	free(needs->runpath);
	free(needs->origin);
}

static int add_entry(struct needs *needs, int64_t tag, const char *text)
{
	char **path = tag == DT_RPATH ? &needs->rpath : tag == DT_RUNPATH ? &needs->runpath : NULL;
	CLEANUP(freep) char *copy = text && (path || tag == DT_NEEDED) ? strdup(text) : NULL;

	if (!text || (!path && tag != DT_NEEDED))
		return 0;
	if (!copy)
		return -ENOMEM;
	if (path) {
		free(*path);
		*path = TAKE_PTR(copy);
		return 0;
	}
	if (ARRAY_PUSH(needs->names, needs->cnt, needs->cap, copy))
		return -ENOMEM;
	copy = NULL;
	return 0;
}

static int read_dynamic(struct needs *needs, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t cnt = data ? data->d_size / sizeof(Elf64_Dyn) : 0;
	int err = 0;

	for (size_t i = 0; i < cnt && i < INT32_MAX && !err; i++) {
		GElf_Dyn entry;

		if (gelf_getdyn(data, (int)i, &entry))
			err = add_entry(needs, entry.d_tag,
					elf_strptr(elf, header->sh_link, entry.d_un.d_val));
	}
	return err;
}

static int needs_read(struct needs *ret_needs, const char *path)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	CLEANUP(needs_release) struct needs needs = {0};
	int err = elf_file_open(&file, path);

	if (err)
		return err;
	needs.origin = realpath(path, NULL);
	if (!needs.origin)
		return fail_errno(-errno, "cannot resolve %s", path);
	*strrchr(needs.origin, '/') = '\0';
	for (Elf_Scn *section = NULL; !err && (section = elf_nextscn(file->elf, section));) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNAMIC)
			err = read_dynamic(&needs, file->elf, section, &header);
	}
	if (err)
		return err;
	*ret_needs = needs;
	needs = (struct needs){0};
	return 0;
}

/* ---- searching ---- */

int elf_library_is_usable(const char *path)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;

	return !elf_file_open(&file, path);
}

bool elf_library_is_called(const char *base, const char *name)
{
	size_t len = strlen(name);

	return !strcmp(base, name) || (!strncmp(base, name, len) && !strncmp(base + len, ".so", 3) &&
				       (!base[len + 3] || base[len + 3] == '.'));
}

/* Length of $ORIGIN at the beginning of a directory, or 0. */
static size_t origin_token(const char *dir, size_t len)
{
	static const char *const tokens[] = {"$ORIGIN", "${ORIGIN}"};

	for (size_t i = 0; i < ARRAY_SIZE(tokens); i++)
		if (len >= strlen(tokens[i]) && !strncmp(dir, tokens[i], strlen(tokens[i])))
			return strlen(tokens[i]);
	return 0;
}

/* One directory of a search path. NULL where the library is not there. */
static char *try_directory(const char *dir, size_t len, const char *origin, const char *name)
{
	CLEANUP(freep) char *path = NULL;
	size_t token = origin_token(dir, len);

	if (asprintf(&path, "%s%.*s/%s", token ? origin : "", (int)(len - token), dir + token, name) < 0)
		path = NULL;
	return path && elf_library_is_usable(path) ? TAKE_PTR(path) : NULL;
}

static char *try_path(const char *dirs, const char *origin, const char *name)
{
	while (dirs && *dirs) {
		size_t len = strcspn(dirs, ":;");
		char *path = len ? try_directory(dirs, len, origin, name) : NULL;

		if (path)
			return path;
		dirs += len + (dirs[len] != '\0');
	}
	return NULL;
}

/* `needs`: of the file that needs the library; `exe`: of the executable. */
static char *find_library(const char *name, const struct needs *needs, const struct needs *exe)
{
	char *path = NULL;

	if (strchr(name, '/'))
		return elf_library_is_usable(name) ? strdup(name) : NULL;
	if (!needs->runpath) {
		path = try_path(needs->rpath, needs->origin, name);
		if (!path && !exe->runpath)
			path = try_path(exe->rpath, exe->origin, name);
	}
	if (!path)
		path = try_path(rights_getenv("LD_LIBRARY_PATH"), exe->origin, name);
	if (!path)
		path = try_path(needs->runpath, needs->origin, name);
	if (!path)
		path = elf_cache_find(name);
	return path ? path : try_path(ARCH_LIBRARY_DIRECTORIES, "", name);
}

/* ---- the closure ---- */

struct closure {
	char **paths;
	size_t cnt, cap;
};

static void closure_release(struct closure *closure)
{
	for (size_t i = 0; i < closure->cnt; i++)
		free(closure->paths[i]);
	free(closure->paths);
}

/* Takes the path. */
static int closure_add(struct closure *closure, char *path)
{
	bool known = false;

	for (size_t i = 0; i < closure->cnt && !known; i++)
		known = !strcmp(closure->paths[i], path);
	if (!known && !ARRAY_PUSH(closure->paths, closure->cnt, closure->cap, path))
		return 0;
	free(path);
	return known ? 0 : -ENOMEM;
}

static int closure_add_needs(struct closure *closure, const struct needs *needs, const struct needs *exe)
{
	for (size_t i = 0; i < needs->cnt; i++) {
		char *path = find_library(needs->names[i], needs, exe);

		if (path && closure_add(closure, path))
			return -ENOMEM;
	}
	return 0;
}

static int closure_add_library(struct closure *closure, const char *path, const struct needs *exe)
{
	CLEANUP(needs_release) struct needs needs = {0};
	int err = needs_read(&needs, path);

	return err ? err : closure_add_needs(closure, &needs, exe);
}

static int closure_each(const struct needs *exe, int (*fn)(void *ctx, const char *path), void *ctx)
{
	CLEANUP(closure_release) struct closure closure = {0};
	int err = closure_add_needs(&closure, exe, exe);

	for (size_t i = 0; i < closure.cnt && !err; i++) {
		err = fn(ctx, closure.paths[i]);
		if (!err)
			err = closure_add_library(&closure, closure.paths[i], exe);
	}
	return err;
}

int elf_library_each(const char *exe, int (*fn)(void *ctx, const char *path), void *ctx)
{
	CLEANUP(needs_release) struct needs needs = {0};
	int err = needs_read(&needs, exe);

	return err ? err : closure_each(&needs, fn, ctx);
}

struct name_search {
	const char *name;
	char *path;
};

static int match_name(void *ctx, const char *path)
{
	struct name_search *search = ctx;

	if (!elf_library_is_called(strrchr(path, '/') + 1, search->name))
		return 0;
	search->path = strdup(path);
	return search->path ? 1 : -ENOMEM;
}

int elf_library_find(const char *exe, const char *name, char **ret_path)
{
	CLEANUP(needs_release) struct needs needs = {0};
	struct name_search search = {.name = name};
	int err = needs_read(&needs, exe);

	if (!err)
		err = closure_each(&needs, match_name, &search);
	if (err < 0)
		return err;
	if (!search.path) /* no dependency: one that is opened while the program runs */
		search.path = find_library(name, &needs, &needs);
	if (!search.path)
		return fail(-ENOENT, "%s does not need a library '%s', and none of this name is installed",
			    exe, name);
	*ret_path = search.path;
	return 0;
}
