/* SPDX-License-Identifier: BSD-2-Clause */
/* Code as it is behind uprobes. */
#pragma once

#include "process/maps.h"

enum { UPROBE_HIDE_MAX = 4096 };

/*
 * Restores what anybody's uprobes replace in `bytes`, a copy of the memory at addr of up to UPROBE_HIDE_MAX
 * bytes, in `map`, which is one of `maps`. An int3 of the program's own looks the same.
 */
void uprobe_hide(pid_t pid, const struct maps *maps, const struct map *map, uint64_t addr, uint8_t *bytes,
		 size_t size);
