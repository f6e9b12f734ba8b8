/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "rebuild/samples/sample_items.h"

/* A call that a hit saw return. */
struct returned_call {
	uint64_t begin_ns, end_ns;
	struct sample_stack
		stack; /* the call with its frame, then its callers; the call 0: not known which */
};

/*
 * After the samples up to its end, and before the hit: the call has its exact begin and end, if it is known
 * which it was, or a stack was seen meanwhile that it stands in. What it called is known no better for that.
 * Takes over the stack. 0 or -ENOMEM.
 */
int returned_call_add(struct sample_items *items, const struct sample_context *context,
		      struct returned_call *call);
