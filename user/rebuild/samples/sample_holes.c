/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel throttles a clock that ticks more often than its limits allow, and the host of a virtual machine
 * may stop a processor. Neither leaves a record. But between two of its switches a thread runs, so what is
 * known of it lies a period apart at most. What is throttled goes on with the kernel's next own tick, that is
 * 4 ms later with 250 of them a second.
 */
#include "rebuild/samples/sample_holes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"

/* A processor that is taken away for a while is one thing, and one that is late by a tick or two another. */
enum { HOLE_PERIODS = 3 };

static int add_hole(struct sample_items *items, const struct sample_context *context, uint64_t from_ns,
		    uint64_t length_ns)
{
	struct instant instant = {.time_ns = from_ns > context->base_ns ? from_ns - context->base_ns : 0};

	if (asprintf(&instant.text,
		     "[gap: no samples for %.1f ms: the kernel throttled them, or the machine was stopped]",
		     (double)length_ns / 1000000) < 0)
		return -ENOMEM;
	if (!ARRAY_PUSH(items->instants, items->instant_cnt, items->instant_cap, instant))
		return 0;
	free(instant.text);
	return -ENOMEM;
}

int sample_holes_find(struct sample_items *items, const struct sample_context *context, uint64_t period,
		      struct sample_holes *holes)
{
	size_t before = items->instant_cnt;
	int err = 0;

	for (size_t i = 1; i < items->cnt && period && !err; i++) {
		const struct sampled_item *last = &items->items[i - 1], *item = &items->items[i];
		uint64_t length = item->start - last->end;

		if (last->is_lost || item->is_lost || length <= HOLE_PERIODS * period ||
		    last->end < items->switches_ns)
			continue;
		err = add_hole(items, context, last->end, length);
		holes->cnt++;
		holes->total_ns += length;
	}
	if (items->instant_cnt > before)
		sort_array(items->instants, items->instant_cnt, sizeof(*items->instants), sort_by_number);
	return err;
}
