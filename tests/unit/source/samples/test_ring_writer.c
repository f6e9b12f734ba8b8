/* SPDX-License-Identifier: BSD-2-Clause */
/* What is written comes out as it was, whatever has changed of the stack in between. */
#include "source/samples/ring_writer.h"

#include <stdlib.h>

#include "assertions.h"
#include "base/array.h"
#include "seen_sample.h"
#include "source/samples/ring.h"

enum { BYTES = 4 * SAMPLES_RECORD_MAX, SECRET = 0x5ec7e7, TOP = 0x7ffe0000, ROUNDS = 3000 };

struct pair {
	struct samples_head head;
	struct samples_writer writer;
	struct samples_reader reader;
	uint8_t bytes[BYTES + SAMPLES_RECORD_MAX] __attribute__((aligned(64)));
	struct stack_pool stacks;
	struct stack_sample seen;
	size_t cnt;
};

static int setup(void **state)
{
	struct pair *pair = aligned_alloc(64, (sizeof(*pair) + 63) & ~63ull);

	assert_non_null(pair);
	memset(pair, 0, sizeof(*pair));
	pair->writer = (struct samples_writer){pair->bytes, BYTES, &pair->head, SECRET, NULL};
	pair->reader =
		(struct samples_reader){.cpu = 1, .secret = SECRET, .bytes = BYTES, .stacks = &pair->stacks};
	*state = pair;
	return 0;
}

static void forget(struct pair *pair)
{
	stack_sample_release(&pair->seen);
	pair->seen = (struct stack_sample){0};
}

static int teardown(void **state)
{
	struct pair *pair = *state;

	forget(pair);
	samples_writer_release(&pair->writer);
	samples_reader_release(&pair->reader);
	stack_pool_release(&pair->stacks);
	free(pair);
	return 0;
}

static int add(void *ctx, const struct stack_sample *sample)
{
	struct pair *pair = ctx;

	forget(pair);
	pair->seen = seen_sample(sample);
	pair->cnt++;
	return 0;
}

static void read_ring(struct pair *pair)
{
	assert_ok(samples_reader_read(&pair->reader, pair->bytes, &pair->head, add, pair));
}

static void put(struct pair *pair, uint32_t tid, uint64_t sp, const uint8_t *stack, size_t size)
{
	const struct samples_record record = {.kind = SAMPLES_TICK, .pid = 7, .tid = tid};
	const uint64_t regs[ARCH_SAMPLED_CNT] = {[ARCH_SAMPLED_SP] = sp, [ARCH_SAMPLED_IP] = 0x401000};

	assert_ok(samples_writer_put_full(&pair->writer, &record, regs, stack, size));
}

/* Three threads whose stacks grow, shrink and change, by more than a copy holds; two of them share a slot. */
TEST_WITH(test_stacks, setup, teardown)
{
	enum { DEEPEST = 2 * SAMPLES_STACK_MAX, COPY = 3000 };
	static uint8_t stacks[3][DEEPEST];
	static const uint32_t tids[] = {1, 1 + SAMPLES_SLOTS, 2};
	struct pair *pair = *state;

	srand(1);
	for (size_t i = 0; i < ROUNDS; i++) {
		size_t nth = (size_t)rand() % ARRAY_SIZE(tids),
		       depth = 1 + (size_t)rand() % (DEEPEST / 8) * 8;
		size_t size = depth < COPY ? depth : COPY;
		uint8_t *stack = stacks[nth] + DEEPEST - depth;
		uint64_t sp = TOP - depth;

		stacks[nth][rand() % (DEEPEST / 8) * 8 + rand() % (SAMPLES_ADDRESS_BITS / 8)]++;
		put(pair, tids[nth], sp, stack, size);
		read_ring(pair);
		assert_int_equal(pair->cnt, i + 1);
		assert_int_equal(pair->seen.kind, SAMPLE_EVENT);
		assert_int_equal(pair->seen.tid, tids[nth]);
		assert_int_equal(pair->seen.regs[HIT_RSP], sp);
		assert_int_equal(pair->seen.regs[HIT_RIP], 0x401000);
		/* Whole chunks only. */
		assert_in_range(pair->seen.stack_size, size < SAMPLES_CHUNK ? 0 : size - SAMPLES_CHUNK + 1,
				size);
		assert_memory_equal(pair->seen.stack, stack, pair->seen.stack_size);
	}
}

enum { KEPT = 40, KEPT_BYTES = 4096 };

struct kept {
	struct stack_sample samples[KEPT];
	size_t cnt;
};

static int keep(void *ctx, const struct stack_sample *sample)
{
	struct kept *kept = ctx;

	kept->samples[kept->cnt++] = *sample;
	return 0;
}

/* Stacks of one read share their pages, and each stays what it was. */
TEST_WITH(test_shared, setup, teardown)
{
	static uint8_t stack[KEPT_BYTES + 256], copies[KEPT][KEPT_BYTES + 256];
	struct pair *pair = *state;
	struct kept kept = {.cnt = 0};
	uint8_t room[SAMPLE_STACK_MAX];

	for (size_t i = 0; i < KEPT; i++) {
		stack[256 + i * 8 % 512]++;
		memcpy(copies[i], stack, sizeof(stack));
		put(pair, 1, TOP + i % 3 * 64, stack + i % 3 * 64, KEPT_BYTES);
	}
	assert_ok(samples_reader_read(&pair->reader, pair->bytes, &pair->head, keep, &kept));
	assert_int_equal(kept.cnt, KEPT);
	for (size_t i = 0; i < KEPT; i++) {
		assert_int_equal(kept.samples[i].stack_size, KEPT_BYTES);
		assert_memory_equal(stack_sample_stack(&kept.samples[i], room), copies[i] + i % 3 * 64,
				    KEPT_BYTES);
		stack_sample_release(&kept.samples[i]);
	}
	assert_in_range(pair->stacks.page_cnt, KEPT_BYTES / STACK_PAGE, KEPT_BYTES / STACK_PAGE + 2 * KEPT);
}

/* What has not changed takes no room. */
TEST_WITH(test_unchanged, setup, teardown)
{
	static uint8_t stack[8192];
	struct pair *pair = *state;
	uint64_t before;

	put(pair, 1, TOP, stack, sizeof(stack));
	before = pair->head.head;
	put(pair, 1, TOP, stack, sizeof(stack));
	assert_in_range(pair->head.head - before, sizeof(struct samples_full),
			sizeof(struct samples_full) + 2 * SAMPLES_FRESH_MAX + SAMPLES_ALIGN);
}

/* Words are addresses or 0, and one takes no more than an address does. */
TEST_WITH(test_words, setup, teardown)
{
	static const uint64_t words[SAMPLES_CHUNK / 8] = {0x7ffffffff123, 0xffffffff81000000, 1ull << 48, 1,
							  0xffffffffffff, 0x100000000},
						    seen[SAMPLES_CHUNK / 8] = {
							    0x7ffffffff123, 0,		0, 1,
							    0xffffffffffff, 0x100000000};
	struct pair *pair = *state;

	put(pair, 1, TOP, (const uint8_t *)words, sizeof(words));
	read_ring(pair);
	assert_int_equal(pair->seen.stack_size, sizeof(words));
	assert_memory_equal(pair->seen.stack, seen, sizeof(seen));
	/*
	 * A mask and a word for the stack pointer; a mask, and four words, of which two
	 * have one half that is not 0.
	 */
	assert_in_range(pair->head.head, sizeof(struct samples_full) + 2 * (2 + 3 + 1 + 3 + 2 + 3 + 1),
			sizeof(struct samples_full) + 2 * (2 + 3 + 1 + 3 + 2 + 3 + 1) + SAMPLES_ALIGN);
}

TEST_WITH(test_gone, setup, teardown)
{
	const struct samples_record in = {.kind = SAMPLES_IN, .time_ns = 5},
				    gone = {.kind = SAMPLES_GONE, .time_ns = 9, .gone = {.cnt = 3}},
				    throttled = {.kind = SAMPLES_GONE,
						 .flags = SAMPLES_ONLY_TICKS,
						 .time_ns = 12,
						 .gone = {.since_ns = 10}};
	struct pair *pair = *state;

	samples_writer_put(&pair->writer, &in);
	samples_writer_put(&pair->writer, &gone);
	read_ring(pair);
	assert_int_equal(pair->seen.kind, SAMPLE_LOST);
	assert_int_equal(pair->seen.lost_cnt, 3);
	assert_int_equal(pair->seen.since_ns, 5);
	assert_int_equal(pair->seen.flags, 0);
	samples_writer_put(&pair->writer, &throttled);
	read_ring(pair);
	assert_int_equal(pair->seen.since_ns, 10);
	assert_int_equal(pair->seen.flags, SAMPLE_LOST_TICKS);
}

TEST_MAIN(NULL, NULL)
