/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>

#include "trigger/trigger.h"

/*
 * Where a trigger's program keeps the goroutine numbers: looked up at the first hit. All 0 at the start.
 */
struct goid {
	bool sought, known;
	uint64_t offset;
};

/*
 * The number of the goroutine that was hit. 0: unknown, because it is not a Go program, has no debug
 * information, is on a stack of the runtime, or its memory cannot be read. Go's functions keep the goroutine
 * (runtime.g) in r14 (Go's internal ABI, since 1.17).
 */
uint64_t goroutine_of(struct goid *goid, const struct trigger *trigger, const struct caught_hit *hit);
