/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Format: proc(5), "/proc/[pid]/maps". Only executable mappings are kept. The names are those by which the
 * process knows its files. If it has another root or mount namespace (a container), or the file was deleted
 * or replaced, the name leads us nowhere or to another file. It is then replaced by a path that works as long
 * as the process lives.
 */
#include "process/maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "process/proc_status.h"

/* 1: an executable mapping; 0: another line; -ENOMEM. */
static int parse_line(struct map *ret_map, char *line)
{
	struct map map = {0};
	uint64_t end;
	char perms[5];
	int name_at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &map.mapping.addr,
		   &end, perms, &map.mapping.file_offset, &map.mapping.maj, &map.mapping.min,
		   &map.mapping.ino, &name_at) < 7 ||
	    perms[2] != 'x')
		return 0;
	line[strcspn(line, "\n")] = '\0';
	map.mapping.size = end - map.mapping.addr;
	map.mapping.name = strdup(line[name_at] ? line + name_at : "//anon");
	map.writable = perms[1] == 'w';
	map.shared = perms[3] == 's';
	if (!map.mapping.name)
		return -ENOMEM;
	*ret_map = map;
	return 1;
}

/* ---- files of another mount namespace ---- */

/* The inode number is enough: on overlayfs the device is not the one that stat(2) gives. */
static bool leads_there(const char *path, const struct sideband_mapping *mapping)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && st.st_ino == mapping->ino;
}

static bool same_place(pid_t pid, const char *what)
{
	char theirs[64], ours[64];
	struct stat a, b;

	snprintf(theirs, sizeof(theirs), "/proc/%d/%s", pid, what);
	snprintf(ours, sizeof(ours), "/proc/self/%s", what);
	return stat(theirs, &a) || stat(ours, &b) || (a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

bool maps_shares_tree(pid_t pid)
{
	return same_place(pid, "ns/mnt") && same_place(pid, "root");
}

/* The path through the process itself; NULL where there is none, or out of memory. */
static char *path_through_process(pid_t pid, const struct sideband_mapping *mapping)
{
	CLEANUP(freep) char *path = NULL;

	if (asprintf(&path, "/proc/%d/root%s", pid, mapping->name) < 0)
		return NULL;
	if (leads_there(path, mapping))
		return TAKE_PTR(path);
	snprintf(path, strlen(path) + 1, "/proc/%d/exe", pid);
	return leads_there(path, mapping) ? TAKE_PTR(path) : NULL;
}

static const char removed[] = " (deleted)";

static bool is_removed(const char *name)
{
	size_t len = strlen(name);

	return *name == '/' && len >= strlen(removed) && !strcmp(name + len - strlen(removed), removed);
}

static char *reachable_name(pid_t pid, const struct sideband_mapping *mapping, bool same_tree)
{
	if (!mapping->ino || mapping->name[0] != '/' || (same_tree && !is_removed(mapping->name)))
		return NULL;
	return path_through_process(pid, mapping);
}

char *maps_reachable_name(pid_t pid, const struct sideband_mapping *mapping)
{
	return reachable_name(pid, mapping, maps_shares_tree(pid));
}

char *maps_link(pid_t pid, const struct sideband_mapping *mapping)
{
	char *link;

	return asprintf(&link, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, mapping->addr,
			mapping->addr + mapping->size) < 0
		       ? NULL
		       : link;
}

char *maps_only_way(pid_t pid, const struct sideband_mapping *mapping)
{
	if (!strncmp(mapping->name, "/proc/", strlen("/proc/")))
		return strdup(mapping->name);
	return is_removed(mapping->name) ? maps_link(pid, mapping) : NULL;
}

char *maps_removed_name(const struct sideband_mapping *mapping)
{
	return is_removed(mapping->name) ? strndup(mapping->name, strlen(mapping->name) - strlen(removed))
					 : NULL;
}

static void make_reachable(struct maps *maps, pid_t pid)
{
	bool same_tree = maps_shares_tree(pid);

	for (size_t i = 0; i < maps->cnt; i++) {
		struct sideband_mapping *mapping = &maps->items[i].mapping;
		char *path = reachable_name(pid, mapping, same_tree);

		if (!path)
			continue;
		free((char *)mapping->name);
		mapping->name = path;
	}
}

/* Nothing is in it once its thread has ended. 0 or -errno. */
static int read_file(struct maps *maps, const char *path)
{
	CLEANUP(fclosep) FILE *file = fopen(path, "re");
	CLEANUP(freep) char *line = NULL;
	size_t line_cap = 0;

	if (!file)
		return -errno;
	while (getline(&line, &line_cap, file) > 0) {
		struct map map;
		int err = parse_line(&map, line);

		if (err > 0) {
			err = ARRAY_PUSH(maps->items, maps->cnt, maps->cap, map);
			if (err)
				free((char *)map.mapping.name);
		}
		if (err < 0)
			return err;
	}
	return 0;
}

/* The first thread of a process may end before the others. */
static int read_of_others(struct maps *maps, pid_t pid)
{
	CLEANUP(closedirp) DIR *threads = proc_threads(pid);
	char path[64];
	int err = -ESRCH;

	for (pid_t tid; !maps->cnt && (tid = proc_next(threads));) {
		snprintf(path, sizeof(path), "/proc/%d/maps", tid);
		err = read_file(maps, path);
	}
	return maps->cnt ? 0 : err;
}

int maps_read(struct maps *ret_maps, pid_t pid)
{
	CLEANUP(maps_release) struct maps maps = {0};
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	err = read_file(&maps, path);
	if ((!err && !maps.cnt) || err == -ESRCH)
		err = read_of_others(&maps, pid);
	if (err == -ENOENT || err == -ESRCH)
		return fail(err, "process %d has ended", pid);
	if (err)
		return fail_errno(err, "cannot read %s", path);
	make_reachable(&maps, pid);
	*ret_maps = maps;
	maps = (struct maps){0};
	return 0;
}

void maps_release(struct maps *maps)
{
	for (size_t i = 0; i < maps->cnt; i++)
		free((char *)maps->items[i].mapping.name);
	free(maps->items);
	*maps = (struct maps){0};
}

const struct map *maps_find(const struct maps *maps, uint64_t addr)
{
	for (size_t i = 0; i < maps->cnt; i++)
		if (addr - maps->items[i].mapping.addr < maps->items[i].mapping.size)
			return &maps->items[i];
	return NULL;
}

uint64_t maps_vdso_end(const struct maps *maps)
{
	for (size_t i = 0; i < maps->cnt; i++)
		if (!strcmp(maps->items[i].mapping.name, "[vdso]"))
			return maps->items[i].mapping.addr + maps->items[i].mapping.size;
	return 0;
}

bool maps_has(const struct maps *maps, const struct map *map)
{
	const struct map *same = maps_find(maps, map->mapping.addr);

	return same && same->mapping.addr == map->mapping.addr && same->mapping.size == map->mapping.size &&
	       same->mapping.file_offset == map->mapping.file_offset &&
	       same->mapping.ino == map->mapping.ino && same->mapping.maj == map->mapping.maj &&
	       same->mapping.min == map->mapping.min && !strcmp(same->mapping.name, map->mapping.name);
}
