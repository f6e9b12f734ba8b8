/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread of the timeline whose slices stay packed, as they are too many for memory. */
#pragma once

#include "stacks/lists/slice_list.h"
#include "stacks/moments.h"
#include "stacks/stacks.h"

/*
 * The thread's slices are those of the list, and those and its instants, whose times are moments, have
 * nanoseconds from now on. Takes over the list, the time stamps and the store, which all are left empty. 0 or
 * -ENOMEM.
 */
int stored_new(struct timeline_thread *thread, struct slice_list *slices, struct moments *moments,
	       const struct stacks_config *config, struct pack_store **store);
