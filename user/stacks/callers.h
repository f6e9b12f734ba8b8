/* SPDX-License-Identifier: BSD-2-Clause */
/* Callers that no return has shown, from call stacks recorded while the thread ran. */
#pragma once

#include "stacks/moments.h"
#include "stacks/segment.h"
#include "stacks/stacks.h"

/*
 * Puts the callers of a finished segment's outermost frame in front of it, where a stack of config->known
 * tells them. 0 or -ENOMEM.
 */
int callers_add(struct segment *segment, uint64_t end, const struct moments *moments,
		const struct stacks_config *config);
