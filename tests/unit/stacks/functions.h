/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions 'a' to 'z', one behind the other, whose time stamps are nanoseconds; and random numbers. */
#pragma once

#include "base/array.h"
#include "base/spill.h"
#include "model/inlines.h"
#include "model/slice_cursor.h"
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

/* In each function f is inlined at [20, 60), and g into that at [30, 40). */
static inline const struct inline_chain *inlines_at(void *ctx, uint64_t ip, uint64_t tsc, uint64_t *ret_end)
{
	static struct symbol inlined_symbols[] = {{.name = "f", .named = true}, {.name = "g", .named = true}};
	static const struct symbol *both[] = {&inlined_symbols[0], &inlined_symbols[1]};
	static const struct inline_chain chains[] = {{.start = 0, .end = 20, .symbols = both},
						     {.start = 20, .end = 30, .symbols = both, .cnt = 1},
						     {.start = 30, .end = 40, .symbols = both, .cnt = 2},
						     {.start = 40, .end = 60, .symbols = both, .cnt = 1},
						     {.start = 60, .end = 256, .symbols = both}};
	uint64_t offset = (ip - BASE) % FUNCTION_BYTES;
	size_t i = 0;

	(void)ctx;
	(void)tsc;
	while (offset >= chains[i].end)
		i++;
	*ret_end = ip - offset + chains[i].end;
	return &chains[i];
}

static inline uint64_t time_ns(void *ctx, uint64_t tsc)
{
	(void)ctx;
	return tsc;
}

/* A branch of the kind that the word names. */
static inline struct branch branch_of(const char *word)
{
	static const struct {
		const char *word;
		uint8_t kind, flags;
	} kinds[] = {
		{"call", BRANCH_CALL, 0},
		{"ret", BRANCH_RETURN, 0},
		{"jump", BRANCH_JUMP, BRANCH_INDIRECT},
		{"cond", BRANCH_COND, 0},
		{"start", BRANCH_NONE, BRANCH_TRACE_START},
		{"end", BRANCH_NONE, BRANCH_TRACE_END},
		{"syscall", BRANCH_SYSCALL, BRANCH_TRACE_END},
		{"signal", BRANCH_INTERRUPT, BRANCH_TRACE_END},
		{"callend", BRANCH_CALL, BRANCH_TRACE_END},
		{"retend", BRANCH_RETURN, BRANCH_TRACE_END},
		{"gap", BRANCH_GAP, 0},
		{"abort", BRANCH_TX_ABORT, 0},
		{"kentry", BRANCH_INTERRUPT, 0},
		{"kexit", BRANCH_SYSRET, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(word, kinds[i].word))
			return (struct branch){.kind = kinds[i].kind, .flags = kinds[i].flags};
	fail_msg("unknown word '%s'", word);
	return (struct branch){0};
}

/* What a thread with these branches did; the caller's to free. */
static inline struct timeline *timeline_of(const struct stacks_config *config,
					   const struct branch_list *branches)
{
	struct timeline *timeline;

	assert_ok(timeline_new(&timeline));
	timeline->threads = calloc(1, sizeof(*timeline->threads));
	timeline->thread_cnt = 1;
	assert_ok(stacks_build(config, branches, timeline->threads));
	assert_ok(timeline_load(timeline));
	assert_true(timeline_is_valid(timeline));
	return timeline;
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
