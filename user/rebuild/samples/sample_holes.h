/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds times in which a thread ran, but got no tick of the clock. */
#pragma once

#include "rebuild/samples/sample_items.h"

/* Times in which threads ran and no sample shows it. */
struct sample_holes {
	size_t cnt;
	uint64_t total_ns;
};

/*
 * Call this after sample_items_finish(). Adds a gap where the thread ran for much longer than `period`
 * without a tick, and counts it in `holes`. 0 or -ENOMEM.
 */
int sample_holes_find(struct sample_items *items, const struct sample_context *context, uint64_t period,
		      struct sample_holes *holes);
