/* SPDX-License-Identifier: BSD-2-Clause */
/* Call stacks from samples, where no branches were traced. */
#pragma once

#include "stacks/stacks.h"

/*
 * Builds a thread's slices from stacks recorded by time. What two neighbouring samples have in common, from the outermost frame on and by address,
 * went on between them; calls that begin at a sample share the time up to the next, those of the last one up to
 * `until`, the thread's last moment that is known (of the samples' clock; earlier than they are: none). 0 or -ENOMEM.
 */
int sampled_build(const struct stacks_config *config, const struct known_stack *samples, size_t cnt,
		  uint64_t until, struct timeline_thread *thread);
