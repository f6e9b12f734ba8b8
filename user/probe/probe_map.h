/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds probes, which are places in files, in the memory of a target. */
#pragma once

#include <sys/types.h>

#include "model/sideband.h"
#include "model/trigger.h"

struct probe_map {
	const struct trigger *triggers;
	size_t trigger_cnt;
};

/*
 * Checks that each probe in this new mapping of process pid has its breakpoint. 0, or -ENOTSUP with a
 * sentence (see probe_verify()).
 */
int probe_map_verify(const struct probe_map *map, pid_t pid, const struct sideband_mapping *mapping);

/*
 * The number of the probe at this address, which lies in `mapping`: all probes of all triggers are counted in
 * their order, from 0. -1: there is none.
 */
long probe_map_find(const struct probe_map *map, const struct sideband_mapping *mapping, uint64_t addr);

/*
 * The number of the first probe at the same place as this one of the map: what probe_map_find() gives for it.
 */
size_t probe_map_first(const struct probe_map *map, const struct probe *probe);

/* How many there are. */
size_t probe_map_cnt(const struct probe_map *map);

/*
 * If the probe lies in `bytes`, a copy of the target's memory at addr within `mapping`, restores the original
 * code there.
 */
void probe_unpatch(const struct probe *probe, const struct sideband_mapping *mapping, uint64_t addr,
		   uint8_t *bytes, size_t size);

/* The same for all probes. */
void probe_map_unpatch(const struct probe_map *map, const struct sideband_mapping *mapping, uint64_t addr,
		       uint8_t *bytes, size_t size);
