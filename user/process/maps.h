/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "model/sideband.h"

/* The executable mappings of a process, sorted by address. */
struct maps {
	struct map {
		struct sideband_mapping mapping; /* mapping.name is this entry's own */
		bool writable;
	} * items;
	size_t cnt, cap;
};

/*
 * Reads /proc/PID/maps. A file that its name does not lead us to, because the process lives in another file
 * system tree or the file was replaced, is named /proc/PID/root/... or /proc/PID/exe. 0, or a negative errno
 * with a sentence (the process is gone: -ENOENT, -ESRCH).
 */
int maps_read(struct maps *ret_maps, pid_t pid);

/*
 * Where the name of a mapping of the process does not lead us to its file: a name that does, as maps_read()
 * gives it, the caller's to free. NULL: it does, or nothing else would.
 */
char *maps_reachable_name(pid_t pid, const struct sideband_mapping *mapping);

/* Whether the names of its files are good for us, too: same root directory and mount namespace. */
bool maps_shares_tree(pid_t pid);

void maps_release(struct maps *maps);

/* The mapping that holds addr, or NULL. */
const struct map *maps_find(const struct maps *maps, uint64_t addr);

/* Whether `maps` holds the very same mapping (range, file, offset). */
bool maps_has(const struct maps *maps, const struct map *map);
