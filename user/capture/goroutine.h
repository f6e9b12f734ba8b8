/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>

#include "trigger/trigger.h"

/*
 * Where the program that a trigger is in keeps the numbers: looked up at its first hit. All 0 at the start.
 */
struct goid {
	bool sought, known;
	uint64_t offset;
};

/*
 * The number of the goroutine that was hit, 0 where it is not known: not a Go program, without debug
 * information, on a stack of the runtime's, or memory that may not be read. Go's functions have the goroutine
 * (runtime.g) in r14 (Go's internal ABI, since 1.17).
 */
uint64_t goroutine_of(struct goid *goid, const struct trigger *trigger, const struct caught_hit *hit);
