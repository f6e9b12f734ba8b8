/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions 'a' to 'z', one behind the other, whose time stamps are nanoseconds; and random numbers. */
#pragma once

#include "base/spill.h"
#include "stacks/stacks.h"

enum { FUNCTION_BYTES = 256, FUNCTIONS = 26, BASE = 0x1000 };

static struct symbol symbols[FUNCTIONS];
static char names[FUNCTIONS][2];
static uint64_t random_state;

static inline void symbols_init(void)
{
	for (int i = 0; i < FUNCTIONS; i++) {
		names[i][0] = (char)('a' + i);
		symbols[i] = (struct symbol){.name = names[i],
					     .object = "test",
					     .start = BASE + (uint64_t)i * FUNCTION_BYTES,
					     .end = BASE + (uint64_t)(i + 1) * FUNCTION_BYTES,
					     .named = true};
	}
}

static inline const struct symbol *symbol_at(void *ctx, uint64_t ip, uint64_t tsc)
{
	(void)ctx;
	(void)tsc;
	assert_in_range(ip, BASE, BASE + FUNCTIONS * FUNCTION_BYTES - 1);
	return &symbols[(ip - BASE) / FUNCTION_BYTES];
}

static inline uint64_t time_ns(void *ctx, uint64_t tsc)
{
	(void)ctx;
	return tsc;
}

static inline unsigned int pick(unsigned int cnt)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned int)(random_state % cnt);
}

/* Most slices are packed then, and read from there. */
static inline int without_memory(void **state)
{
	(void)state;
	spill_set_memory(0);
	return 0;
}
