/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the probes of triggers, which are places in files, lie in the memory of a target. */
#pragma once

#include <sys/types.h>

#include "model/sideband.h"
#include "model/trigger.h"

struct probe_map {
	const struct trigger *triggers;
	size_t trigger_cnt;
};

/*
 * Every probe that lies in this new mapping of process pid must have its breakpoint there. 0, or -ENOTSUP
 * with a sentence (see probe_verify()).
 */
int probe_map_verify(const struct probe_map *map, pid_t pid, const struct sideband_mapping *mapping);

/*
 * Puts back the code under the breakpoint in `bytes`, a copy of the target's memory at addr within `mapping`,
 * if the probe lies there.
 */
void probe_unpatch(const struct probe *probe, const struct sideband_mapping *mapping, uint64_t addr,
		   uint8_t *bytes, size_t size);

/*
 * Puts back the code under the breakpoints in `bytes`, a copy of the target's memory at addr within
 * `mapping`.
 */
void probe_map_unpatch(const struct probe_map *map, const struct sideband_mapping *mapping, uint64_t addr,
		       uint8_t *bytes, size_t size);
