/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "assertions.h"
#include "model/sample.h"

/* The sample with a copy of its stack, which the caller releases. */
static inline struct stack_sample seen_sample(const struct stack_sample *sample)
{
	struct stack_sample seen = *sample;
	uint8_t *room = seen.stack_size ? malloc(SAMPLE_STACK_MAX) : NULL;

	if (!room)
		return seen;
	assert_ptr_equal(stack_sample_stack(sample, room), room);
	seen.stack = room;
	seen.is_stack_owned = true;
	return seen;
}
