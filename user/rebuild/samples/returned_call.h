/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "rebuild/samples/sample_items.h"

/* A call that a hit saw return. */
struct returned_call {
	uint64_t begin_ns, end_ns;
	uint64_t cfa; /* its frame's */
};

/*
 * After the samples up to its end, and before the hit: the call has its exact begin and end, if a stack was
 * seen meanwhile that it stands in. What it called is known no better for that. 0 or -ENOMEM.
 */
int returned_call_add(struct sample_items *items, const struct sample_context *context,
		      const struct returned_call *call);
