/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the clock's ticks did not come though a thread ran. */
#pragma once

#include "rebuild/samples/sample_items.h"

/* Times in which threads ran and no sample shows it. */
struct sample_holes {
	size_t cnt;
	uint64_t total_ns;
};

/*
 * To be called after sample_items_finish(): where the thread ran for much longer than `period` without a tick, a
 * gap says so. Adds to `holes`. 0 or -ENOMEM.
 */
int sample_holes_find(struct sample_items *items, const struct sample_context *context, uint64_t period,
		      struct sample_holes *holes);
