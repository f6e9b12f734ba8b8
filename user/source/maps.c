/* SPDX-License-Identifier: BSD-2-Clause */
/* Format: proc(5), "/proc/[pid]/maps". Only mappings that can be executed are kept. */
#include "source/maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"

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
	if (!map.mapping.name)
		return -ENOMEM;
	*ret_map = map;
	return 1;
}

int maps_read(struct maps *ret_maps, pid_t pid)
{
	CLEANUP(maps_release) struct maps maps = {0};
	CLEANUP(fclosep) FILE *file = NULL;
	CLEANUP(freep) char *line = NULL;
	size_t line_cap = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return fail_errno(-errno, "cannot read %s", path);
	while (getline(&line, &line_cap, file) > 0) {
		struct map map;
		int err = parse_line(&map, line);

		if (err > 0) {
			err = ARRAY_PUSH(maps.items, maps.cnt, maps.cap, map);
			if (err)
				free((char *)map.mapping.name);
		}
		if (err < 0)
			return err;
	}
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

bool maps_has(const struct maps *maps, const struct map *map)
{
	const struct map *same = maps_find(maps, map->mapping.addr);

	return same && same->mapping.addr == map->mapping.addr && same->mapping.size == map->mapping.size &&
	       same->mapping.file_offset == map->mapping.file_offset &&
	       same->mapping.ino == map->mapping.ino && same->mapping.maj == map->mapping.maj &&
	       same->mapping.min == map->mapping.min && !strcmp(same->mapping.name, map->mapping.name);
}
