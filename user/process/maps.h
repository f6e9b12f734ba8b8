/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "model/sideband.h"

/* The executable mappings of a process, sorted by address. */
struct maps {
	struct map {
		struct sideband_mapping mapping; /* mapping.name is this entry's own */
		bool writable, shared;
	} * items;
	size_t cnt, cap;
};

/*
 * Reads /proc/PID/maps. If a file's name does not lead us to the file, because the process has another root
 * or mount namespace or the file was replaced, the mapping is named /proc/PID/root/... or /proc/PID/exe. 0,
 * or a negative errno with a sentence (-ENOENT or -ESRCH: the process is gone).
 */
int maps_read(struct maps *ret_maps, pid_t pid);

/*
 * If the mapping's name does not lead us to its file, returns a name that does, as maps_read() gives it; the
 * caller frees it. NULL: the name is good, or no other name is better.
 */
char *maps_reachable_name(pid_t pid, const struct sideband_mapping *mapping);

/* The kernel's link to the mapping's file, for root. The caller frees it. NULL: out of memory. */
char *maps_link(pid_t pid, const struct sideband_mapping *mapping);

/*
 * A path that leads to the mapping's file as long as the process lives, where the file is not to be found
 * otherwise: the name that maps_read() gave it is of that kind, or it was deleted. The caller frees it. NULL:
 * it is no such file, or out of memory.
 */
char *maps_only_way(pid_t pid, const struct sideband_mapping *mapping);

/* The name that the mapping's file had before it was removed or replaced; NULL: it was not. */
char *maps_removed_name(const struct sideband_mapping *mapping);

/*
 * Whether the process's file names are valid for us, too: it has the same root directory and mount namespace.
 */
bool maps_shares_tree(pid_t pid);

void maps_release(struct maps *maps);

/* The mapping that holds addr, or NULL. */
const struct map *maps_find(const struct maps *maps, uint64_t addr);

/* The end of the vDSO; 0: there is none. */
uint64_t maps_vdso_end(const struct maps *maps);

/* Whether `maps` holds the very same mapping (range, file, offset). */
bool maps_has(const struct maps *maps, const struct map *map);
