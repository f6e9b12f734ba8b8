/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words of a ring give the packets that the encoder writes when it is told of the same branches one by one.
 */
#include "assertions.h"

#include <string.h>
#include <sys/mman.h>

#include "model/branch.h"
#include "source/translate/entries.h"
#include "source/translate/words.h"

enum { RING = 65536 };

/*
 *	1000: two conditional jumps, the second one back to 1000; goes on at 1040
 *	1040: system call, goes on at 1050
 *	1050: indirect branch
 */
static const struct block blocks[] = {
	{.guest = 0x1000,
	 .guest_end = 0x1040,
	 .next = 0x1040,
	 .first_site = 0,
	 .site_cnt = 3,
	 .cond_cnt = 2,
	 .end = BLOCK_GOES_ON},
	{.guest = 0x1040,
	 .guest_end = 0x1050,
	 .next = 0x1050,
	 .first_site = 3,
	 .site_cnt = 1,
	 .end = BLOCK_SYSCALL},
	{.guest = 0x1050, .guest_end = 0x1060, .first_site = 4, .end = BLOCK_INDIRECT},
};
static const struct site sites[] = {
	{.from = 0x10, .to = 0x1050, .conds_before = 0},
	{.from = 0x20, .to = 0x1000, .conds_before = 1},
	{.to = 0x1040, .conds_before = 2},
	{.to = 0x1050, .block = 1},
};
static const struct tsc_clock tsc_clock = {.tsc = 5000, .ns = 1000000, .ns_per_tick = 1};

struct fixture {
	struct trace_params params;
	struct arena *arena;
	int slot;
	struct encoder ours, expected;
	struct code_changes changes;
	struct word_sharing sharing; /* nothing is shared */
	struct words_end end;
};

static void fixture_init(struct fixture *fixture)
{
	struct shared *all;

	*fixture = (struct fixture){.params = encoder_default_params()};
	assert_ok(arena_new(&fixture->arena, memfd_create("arena", MFD_CLOEXEC), SLOTS_MIN, RING_SIZE_MIN));
	fixture->slot = arena_take_slot(fixture->arena, 1, 1);
	assert_int_equal(fixture->slot, 0);
	memcpy(fixture->arena->bytes + ARENA_BLOCKS, blocks, sizeof(blocks));
	memcpy(fixture->arena->bytes + ARENA_SITES, sites, sizeof(sites));
	all = (struct shared *)fixture->arena->bytes;
	all->block_cnt = 3;
	all->site_cnt = 4;
	assert_ok(encoder_init(&fixture->ours, &fixture->params, RING));
	assert_ok(encoder_init(&fixture->expected, &fixture->params, RING));
}

static void word(const struct fixture *fixture, uint32_t value)
{
	struct context *context = arena_context(fixture->arena, fixture->slot);

	memcpy((uint8_t *)context + context->pos, &value, sizeof(value));
	context->pos += 4;
	if (context->pos)
		return;
	context->pos = -RING_SIZE_MIN;
	context->laps = ++context->laps_next;
}

static void fixture_release(struct fixture *fixture)
{
	encoder_release(&fixture->ours);
	encoder_release(&fixture->expected);
	arena_free(fixture->arena);
}

static void assert_same_packets(const struct fixture *fixture)
{
	assert_int_equal(fixture->ours.ring.head, fixture->expected.ring.head);
	assert_memory_equal(fixture->ours.ring.bytes, fixture->expected.ring.bytes, fixture->ours.ring.head);
}

/* The way in at 1000 and back there, by its second conditional jump. */
static void expect_back(struct fixture *fixture, uint64_t t)
{
	encoder_enable(&fixture->expected, t, 0x1000);
	encoder_boundary(&fixture->expected, t, 0x1000);
	encoder_conditional(&fixture->expected, t, false);
	encoder_conditional(&fixture->expected, t, true);
	encoder_boundary(&fixture->expected, t, 0x1000);
}

/* What the ring holds is what `expected` was told, and ends at `ip`; releases all. */
static void check(struct fixture *fixture, uint64_t time, uint64_t ip)
{
	struct ring_copy copy;

	assert_ok(arena_read_ring(fixture->arena, fixture->slot, 0, &copy));
	assert_ok(arena_index(fixture->arena));
	assert_ok(words_encode(fixture->arena, &copy, &tsc_clock, &fixture->changes, &fixture->sharing,
			       &fixture->end, &fixture->ours));
	ring_copy_release(&copy);
	encoder_disable_async(&fixture->expected, time, ip);
	encoder_flush(&fixture->expected);
	assert_same_packets(fixture);
	fixture_release(fixture);
}

TEST(taken_and_passed)
{
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	word(&fixture, 1);
	word(&fixture, 0);
	word(&fixture, BLOCK_WORD | 0);
	expect_back(&fixture, t);
	encoder_conditional(&fixture.expected, t, true);
	encoder_boundary(&fixture.expected, t, 0x1050);
	encoder_indirect(&fixture.expected, t, 0x1000);
	encoder_boundary(&fixture.expected, t, 0x1000);
	check(&fixture, t, 0x1000);
}

/*
 * Two traces from 1000 on: by its first conditional jump to 1050, and from there back to 1000; and by its
 * second one back to 1000.
 */
static void add_traces(const struct fixture *fixture)
{
	static const struct trace_step steps[] = {{0, 0}, {2, BLOCK_WORD | 0}, {0, 1}};
	static const struct block traces[] = {
		{.guest = 0x1000, .is_trace = 1, .step_cnt = 2, .first_byte = 0},
		{.guest = 0x1000, .is_trace = 1, .step_cnt = 1, .first_byte = 2 * sizeof(struct trace_step)},
	};
	static const struct site ways_out[] = {
		{.block = 3, .from = 0, .to = 0x1012},
		{.block = 3, .conds_before = 1, .from = NO_COND},
		{.block = 3, .conds_before = 2, .from = NO_COND, .to = 0x1000},
		{.block = 4, .from = 0, .to = 0x1050},
	};
	struct shared *all = (struct shared *)fixture->arena->bytes;

	memcpy(fixture->arena->bytes + ARENA_BYTES, steps, sizeof(steps));
	memcpy(fixture->arena->bytes + ARENA_BLOCKS + sizeof(blocks), traces, sizeof(traces));
	memcpy(fixture->arena->bytes + ARENA_SITES + sizeof(sites), ways_out, sizeof(ways_out));
	all->byte_cnt = sizeof(steps);
	all->block_cnt += 2;
	all->site_cnt += 4;
}

/* From 1000 to 1050 and on to `to`. */
static void expect_around(struct fixture *fixture, uint64_t t, uint64_t to)
{
	encoder_conditional(&fixture->expected, t, true);
	encoder_boundary(&fixture->expected, t, 0x1050);
	encoder_indirect(&fixture->expected, t, to);
	encoder_boundary(&fixture->expected, t, to);
}

/* To its end, left by a jump that it does not take, and for another target than its own. */
TEST(traces)
{
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	add_traces(&fixture);
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	word(&fixture, 6);
	word(&fixture, 7);
	word(&fixture, BLOCK_WORD | 0);
	word(&fixture, 5);
	word(&fixture, BLOCK_WORD | 1);
	encoder_enable(&fixture.expected, t, 0x1000);
	encoder_boundary(&fixture.expected, t, 0x1000);
	expect_around(&fixture, t, 0x1000);
	expect_around(&fixture, t, 0x1000);
	expect_around(&fixture, t, 0x1040);
	check(&fixture, t, 0x1040);
}

/* The jump that it takes is not taken; and the ring begins with a trace. */
TEST(trace_left)
{
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	add_traces(&fixture);
	word(&fixture, 6);
	word(&fixture, 4);
	encoder_enable(&fixture.expected, t, 0x1000);
	encoder_boundary(&fixture.expected, t, 0x1000);
	expect_around(&fixture, t, 0x1000);
	encoder_conditional(&fixture.expected, t, false);
	encoder_boundary(&fixture.expected, t, 0x1012);
	check(&fixture, t, 0x1012);
}

/*
 * 1050 becomes another block: two conditional jumps, of which the second one leads on to 1080 without a word;
 * and there is an indirect branch.
 */
static void turn_block(const struct fixture *fixture)
{
	static const struct block turned[] = {
		{.guest = 0x1050,
		 .guest_end = 0x1060,
		 .next = 0x1080,
		 .first_site = 4,
		 .site_cnt = 3,
		 .cond_cnt = 2,
		 .end = BLOCK_GOES_ON,
		 .is_turned = 1},
		{.guest = 0x1080, .guest_end = 0x1090, .first_site = 7, .end = BLOCK_INDIRECT},
	};
	static const struct site its[] = {
		{.block = 2, .from = 0x4, .to = 0x1000},
		{.block = 2, .from = 0xe, .to = 0x1060, .conds_before = 1},
		{.block = 2, .from = 0x10, .to = 0x1080, .conds_before = 2},
	};
	struct shared *all = (struct shared *)fixture->arena->bytes;

	memcpy(fixture->arena->bytes + ARENA_BLOCKS + 2 * sizeof(blocks[0]), turned, sizeof(turned));
	memcpy(fixture->arena->bytes + ARENA_SITES + sizeof(sites), its, sizeof(its));
	all->block_cnt = 4;
	all->site_cnt = 7;
}

/* Its jump is taken without a word; the one before it is taken; and it is not, with its word. */
TEST(turned)
{
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	turn_block(&fixture);
	arena_append(fixture.arena, fixture.slot, 0x1050, RING_GO);
	word(&fixture, BLOCK_WORD | 2);
	word(&fixture, 4);
	word(&fixture, 0);
	word(&fixture, 5);
	encoder_enable(&fixture.expected, t, 0x1050);
	encoder_boundary(&fixture.expected, t, 0x1050);
	encoder_conditional(&fixture.expected, t, false);
	encoder_conditional(&fixture.expected, t, true);
	encoder_indirect(&fixture.expected, t, 0x1050);
	encoder_boundary(&fixture.expected, t, 0x1050);
	encoder_conditional(&fixture.expected, t, true);
	encoder_boundary(&fixture.expected, t, 0x1000);
	encoder_conditional(&fixture.expected, t, true);
	encoder_boundary(&fixture.expected, t, 0x1050);
	encoder_conditional(&fixture.expected, t, false);
	encoder_conditional(&fixture.expected, t, false);
	encoder_boundary(&fixture.expected, t, 0x1060);
	check(&fixture, t, 0x1060);
}

/* A trace is left by such a jump: it is not taken where the trace takes it, and the other way round. */
TEST(turned_in_a_trace)
{
	static const struct trace_step steps[] = {{2, 5}, {2, NO_WORD}};
	static const struct block traces[] = {
		{.guest = 0x1050, .is_trace = 1, .step_cnt = 1, .first_byte = 0},
		{.guest = 0x1050, .is_trace = 1, .step_cnt = 1, .first_byte = sizeof(struct trace_step)},
	};
	static const struct site ways_out[] = {
		{.block = 4, .from = 1, .to = 0x1080},
		{.block = 5, .from = 1, .to = 0x1060},
	};
	struct fixture fixture;
	struct shared *all;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	turn_block(&fixture);
	all = (struct shared *)fixture.arena->bytes;
	memcpy(fixture.arena->bytes + ARENA_BYTES, steps, sizeof(steps));
	memcpy(fixture.arena->bytes + ARENA_BLOCKS + 4 * sizeof(blocks[0]), traces, sizeof(traces));
	memcpy(fixture.arena->bytes + ARENA_SITES + 7 * sizeof(sites[0]), ways_out, sizeof(ways_out));
	all->byte_cnt = sizeof(steps);
	all->block_cnt += 2;
	all->site_cnt += 2;
	arena_append(fixture.arena, fixture.slot, 0x1050, RING_GO);
	word(&fixture, 7);
	word(&fixture, BLOCK_WORD | 2);
	word(&fixture, 8);
	encoder_enable(&fixture.expected, t, 0x1050);
	encoder_boundary(&fixture.expected, t, 0x1050);
	encoder_conditional(&fixture.expected, t, false);
	encoder_conditional(&fixture.expected, t, true);
	encoder_boundary(&fixture.expected, t, 0x1080);
	encoder_indirect(&fixture.expected, t, 0x1050);
	encoder_boundary(&fixture.expected, t, 0x1050);
	encoder_conditional(&fixture.expected, t, false);
	encoder_conditional(&fixture.expected, t, false);
	encoder_boundary(&fixture.expected, t, 0x1060);
	check(&fixture, t, 0x1060);
}

/* What came before the first time that is told has that time. */
TEST(system_call_behind_a_block)
{
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc + 70, RING_BEFORE);
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc + 90, RING_AFTER);
	encoder_enable(&fixture.expected, t + 70, 0x1000);
	encoder_boundary(&fixture.expected, t + 70, 0x1000);
	encoder_conditional(&fixture.expected, t + 70, false);
	encoder_conditional(&fixture.expected, t + 70, false);
	encoder_disable(&fixture.expected, t + 70);
	encoder_enable(&fixture.expected, t + 90, 0x1050);
	encoder_boundary(&fixture.expected, t + 90, 0x1050);
	check(&fixture, t + 90, 0x1050);
}

/* New code in a system call: what comes behind it begins with a PSB. */
TEST(new_code)
{
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;
	uint64_t times[] = {t + 80, t + 1000};

	fixture_init(&fixture);
	fixture.changes = (struct code_changes){.times = times, .cnt = 2};
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc + 70, RING_BEFORE);
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc + 90, RING_AFTER);
	encoder_enable(&fixture.expected, t + 70, 0x1000);
	encoder_boundary(&fixture.expected, t + 70, 0x1000);
	encoder_conditional(&fixture.expected, t + 70, false);
	encoder_conditional(&fixture.expected, t + 70, false);
	encoder_disable(&fixture.expected, t + 70);
	fixture.expected.psb_wanted = true;
	encoder_enable(&fixture.expected, t + 90, 0x1050);
	encoder_boundary(&fixture.expected, t + 90, 0x1050);
	check(&fixture, t + 90, 0x1050);
}

/* A handler is entered before the second jump, and left to another place. */
TEST(interrupted)
{
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	arena_append(fixture.arena, fixture.slot, 0x1020, RING_STOP);
	arena_append(fixture.arena, fixture.slot, 0x1050, RING_GO);
	encoder_enable(&fixture.expected, t, 0x1000);
	encoder_boundary(&fixture.expected, t, 0x1000);
	encoder_conditional(&fixture.expected, t, false);
	encoder_disable_async(&fixture.expected, t, 0x1020);
	encoder_enable(&fixture.expected, t, 0x1050);
	encoder_boundary(&fixture.expected, t, 0x1050);
	check(&fixture, t, 0x1050);
}

/* Ways that are told again and again are as they are the first time. */
TEST(the_same_ways)
{
	enum { TIMES = WALK_WAYS / 2 };
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	encoder_enable(&fixture.expected, t, 0x1000);
	encoder_boundary(&fixture.expected, t, 0x1000);
	for (int i = 0; i < TIMES; i++) {
		word(&fixture, 1);
		encoder_conditional(&fixture.expected, t, false);
		encoder_conditional(&fixture.expected, t, true);
		encoder_boundary(&fixture.expected, t, 0x1000);
		word(&fixture, i % 10 ? 1 : 0);
		encoder_conditionals(&fixture.expected, t, 1, i % 10 ? 2 : 1);
		encoder_boundary(&fixture.expected, t, i % 10 ? 0x1000 : 0x1050);
		if (i % 10)
			continue;
		word(&fixture, BLOCK_WORD | 0);
		encoder_indirect(&fixture.expected, t, 0x1000);
		encoder_boundary(&fixture.expected, t, 0x1000);
	}
	check(&fixture, t, 0x1000);
}

/* The way to a probe, at which the thread is, has no word; it went on from the one before. */
TEST(at_a_probe)
{
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	arena_append(fixture.arena, fixture.slot, 0x1030, RING_AT);
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc, RING_TIME);
	word(&fixture, 1);
	arena_append(fixture.arena, fixture.slot, 0x1020, RING_AT);
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc + 100, RING_TIME);
	expect_back(&fixture, t);
	encoder_flush(&fixture.expected);
	encoder_conditional(&fixture.expected, t + 100, false);
	check(&fixture, t + 100, 0x1020);
}

static struct block *block_of(const struct fixture *fixture, uint32_t number)
{
	return (struct block *)(void *)(fixture->arena->bytes + ARENA_BLOCKS) + number;
}

/* 1000 goes on to 800, and that to `next`: 1020, where an indirect branch is the end, or 1000. */
static void call_back(const struct fixture *fixture, uint64_t next)
{
	struct block behind[] = {
		{.guest = 0x800, .guest_end = 0x810, .next = next, .end = BLOCK_GOES_ON},
		{.guest = 0x1020, .guest_end = 0x1040, .end = BLOCK_INDIRECT},
	};
	struct block *first = block_of(fixture, 0);

	first->next = 0x800;
	memcpy(first + 3, behind, sizeof(behind));
	((struct shared *)fixture->arena->bytes)->block_cnt = 5;
}

/* Direct calls have their times, and what is passed between them that of the one before. */
TEST(times_of_calls)
{
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	call_back(&fixture, 0x1020);
	block_of(&fixture, 0)->last_kind = block_of(&fixture, 3)->last_kind = BRANCH_CALL;
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc + 10, RING_CALL);
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc + 15, RING_TIME);
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc + 20, RING_CALL);
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc + 30, RING_TIME);
	word(&fixture, BLOCK_WORD | 2);
	encoder_enable(&fixture.expected, t + 10, 0x1000);
	encoder_boundary(&fixture.expected, t + 10, 0x1000);
	encoder_conditional(&fixture.expected, t + 10, false);
	encoder_conditional(&fixture.expected, t + 10, false);
	encoder_position(&fixture.expected, t + 10, 0x800);
	encoder_position(&fixture.expected, t + 20, 0x1020);
	encoder_indirect(&fixture.expected, t + 30, 0x1050);
	encoder_boundary(&fixture.expected, t + 30, 0x1050);
	check(&fixture, t + 30, 0x1050);
}

/* So has one that makes a word; one that is not come to leaves its time to what is. */
TEST(time_of_call_with_word)
{
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	block_of(&fixture, 0)->last_kind = BRANCH_CALL;
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc + 10, RING_CALL);
	word(&fixture, 2);
	arena_append(fixture.arena, fixture.slot, 0x1040, RING_STOP);
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc + 20, RING_CALL);
	word(&fixture, 0);
	encoder_enable(&fixture.expected, t + 10, 0x1000);
	encoder_boundary(&fixture.expected, t + 10, 0x1000);
	encoder_conditional(&fixture.expected, t + 10, false);
	encoder_conditional(&fixture.expected, t + 10, false);
	encoder_position(&fixture.expected, t + 10, 0x1040);
	encoder_boundary(&fixture.expected, t + 10, 0x1040);
	encoder_disable_async(&fixture.expected, t + 10, 0x1040);
	encoder_enable(&fixture.expected, t + 10, 0x1000);
	encoder_boundary(&fixture.expected, t + 10, 0x1000);
	encoder_conditional(&fixture.expected, t + 20, true);
	encoder_boundary(&fixture.expected, t + 20, 0x1050);
	check(&fixture, t + 20, 0x1050);
}

/* Two blocks on the way have the instruction: nobody knows in which one that was. */
TEST(interrupted_in_one_of_two)
{
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	call_back(&fixture, 0x1020);
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	arena_append(fixture.arena, fixture.slot, 0x1008, RING_STOP);
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	arena_append(fixture.arena, fixture.slot, 0x1030, RING_STOP);
	arena_append(fixture.arena, fixture.slot, 0x1050, RING_GO);
	encoder_enable(&fixture.expected, t, 0x1000);
	encoder_boundary(&fixture.expected, t, 0x1000);
	encoder_disable_async(&fixture.expected, t, 0x1008);
	encoder_enable(&fixture.expected, t, 0x1000);
	encoder_boundary(&fixture.expected, t, 0x1000);
	encoder_overflow(&fixture.expected, t, 0x1030);
	encoder_disable_async(&fixture.expected, t, 0x1030);
	encoder_enable(&fixture.expected, t, 0x1050);
	encoder_boundary(&fixture.expected, t, 0x1050);
	check(&fixture, t, 0x1050);
}

/* Blocks of several epochs may lead around, and not to what the ring tells of. */
TEST(way_around)
{
	enum { CONDS = 1 << 14 }; /* of the ways around that are gone */
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	call_back(&fixture, 0x1000);
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	word(&fixture, 3);
	encoder_enable(&fixture.expected, t, 0x1000);
	encoder_boundary(&fixture.expected, t, 0x1000);
	for (int i = 0; i < CONDS; i++)
		encoder_conditional(&fixture.expected, t, false);
	encoder_overflow(&fixture.expected, t, 0x1050);
	encoder_boundary(&fixture.expected, t, 0x1050);
	check(&fixture, t, 0x1050);
}

/* The oldest words are gone; what is left begins in the middle of a time. */
TEST(overwritten)
{
	enum { WORDS = RING_SIZE_MIN / 4 };
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	for (int i = 0; i < WORDS - 2; i++)
		word(&fixture, i < 100 ? 0x77777777 : 1);
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc, RING_BEFORE);
	for (int i = 0; i < WORDS - 3; i++)
		arena_append(fixture.arena, fixture.slot, tsc_clock.tsc, RING_AFTER);
	word(&fixture, 1);
	word(&fixture, 1);
	expect_back(&fixture, t);
	check(&fixture, t, 0x1000);
}

/* The words between two times share what is between; some of them are told when they were. */
TEST(times_between)
{
	enum { WORDS = 128, EACH_NS = 10000 };
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns, later = (WORDS + 1) * EACH_NS;

	fixture_init(&fixture);
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc, RING_TIME);
	encoder_enable(&fixture.expected, t, 0x1000);
	for (uint64_t i = 1; i <= WORDS; i++) {
		const uint64_t now = t + i / 64 * 64 * EACH_NS;

		word(&fixture, 1);
		if (!(i % 64))
			encoder_flush(&fixture.expected);
		encoder_conditional(&fixture.expected, now, false);
		encoder_conditional(&fixture.expected, now, true);
		encoder_boundary(&fixture.expected, now, 0x1000);
	}
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc + later, RING_TIME);
	check(&fixture, t + later, 0x1000);
}

/*
 * In epoch 1 the code at 2000 is another one, with a conditional jump before the indirect branch; the code at
 * 3000 leads to the system call in place of the indirect branch.
 */
static void add_changed_blocks(const struct fixture *fixture)
{
	static const struct block changed[] = {
		{.guest = 0x2000, .guest_end = 0x2010, .end = BLOCK_INDIRECT, .died = 1},
		{.guest = 0x2000, .guest_end = 0x2010, .cond_cnt = 1, .end = BLOCK_INDIRECT, .born = 1},
		{.guest = 0x3000, .guest_end = 0x3010, .next = 0x1050, .died = 1, .is_kept = 1},
		{.guest = 0x3000, .guest_end = 0x3010, .next = 0x1040, .born = 1},
	};
	struct shared *all = (struct shared *)fixture->arena->bytes;

	memcpy(fixture->arena->bytes + ARENA_BLOCKS + sizeof(blocks), changed, sizeof(changed));
	memcpy(fixture->arena->bytes + ARENA_BYTES, &(uint64_t){tsc_clock.tsc + 20}, sizeof(uint64_t));
	all->block_cnt = 7;
	all->byte_cnt = 100;
	all->epoch = 1;
}

/* Where the ring tells of an epoch, the blocks are those of it, and a PSB comes. */
TEST(another_epoch)
{
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	add_changed_blocks(&fixture);
	arena_append(fixture.arena, fixture.slot, 0x2000, RING_GO);
	word(&fixture, BLOCK_WORD | 3);
	arena_append(fixture.arena, fixture.slot, 1, RING_EPOCH);
	word(&fixture, BLOCK_WORD | 4);
	encoder_enable(&fixture.expected, t, 0x2000);
	encoder_boundary(&fixture.expected, t, 0x2000);
	encoder_indirect(&fixture.expected, t, 0x2000);
	encoder_boundary(&fixture.expected, t, 0x2000);
	fixture.expected.psb_wanted = true;
	encoder_conditional(&fixture.expected, t, false);
	encoder_indirect(&fixture.expected, t, 0x2000);
	encoder_boundary(&fixture.expected, t, 0x2000);
	check(&fixture, t, 0x2000);
}

/* Where only the blocks of a later epoch lead to what the ring tells of, it is that epoch since it began. */
TEST(unnoticed_epoch)
{
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	add_changed_blocks(&fixture);
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc, RING_TIME);
	arena_append(fixture.arena, fixture.slot, 0x3000, RING_GO);
	word(&fixture, 3);
	encoder_enable(&fixture.expected, t, 0x3000);
	encoder_boundary(&fixture.expected, t, 0x3000);
	fixture.expected.psb_wanted = true;
	encoder_boundary(&fixture.expected, t + 21, 0x3000);
	encoder_boundary(&fixture.expected, t + 21, 0x1050);
	check(&fixture, t + 21, 0x1050);
}

/* The sites of words are not there any more: one gap, and on from where the first one leads that is. */
TEST(forgotten)
{
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	word(&fixture, 1);
	word(&fixture, 100);
	word(&fixture, 101);
	word(&fixture, BLOCK_WORD | 100);
	word(&fixture, 0);
	word(&fixture, BLOCK_WORD | 0);
	expect_back(&fixture, t);
	fixture.expected.enabled = false;
	encoder_overflow(&fixture.expected, t, 0);
	encoder_enable(&fixture.expected, t, 0x1050);
	encoder_boundary(&fixture.expected, t, 0x1050);
	encoder_indirect(&fixture.expected, t, 0x1000);
	encoder_boundary(&fixture.expected, t, 0x1000);
	check(&fixture, t, 0x1000);
}

/* A part of the ring was written again and again: what it held is not known, but where the thread goes on. */
TEST(lost)
{
	struct fixture fixture;
	const uint64_t t = tsc_clock.ns;

	fixture_init(&fixture);
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	word(&fixture, 1);
	arena_append(fixture.arena, fixture.slot, 0x1050, RING_LOST);
	word(&fixture, BLOCK_WORD | 0);
	expect_back(&fixture, t);
	encoder_overflow(&fixture.expected, t, 0x1050);
	encoder_boundary(&fixture.expected, t, 0x1050);
	encoder_indirect(&fixture.expected, t, 0x1000);
	encoder_boundary(&fixture.expected, t, 0x1000);
	check(&fixture, t, 0x1000);
}

/*
 * The first copy has one word; what comes behind it begins when the thread went on,
 * not at the next time told.
 */
TEST(goes_on_behind_a_copy)
{
	const uint64_t t = tsc_clock.ns, resumed = t + 7000, told = t + 9000;
	struct ring_copy first, second;
	struct fixture fixture;

	fixture_init(&fixture);
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	assert_ok(arena_read_ring(fixture.arena, fixture.slot, 0, &first));
	assert_false(first.continues);
	assert_ok(arena_index(fixture.arena));
	assert_ok(words_encode(fixture.arena, &first, &tsc_clock, &fixture.changes, &fixture.sharing,
			       &fixture.end, &fixture.ours));
	assert_int_equal(arena_written(fixture.arena, fixture.slot), first.end);
	word(&fixture, 1);
	word(&fixture, 0);
	arena_append(fixture.arena, fixture.slot, tsc_clock.tsc + told - t, RING_TIME);
	assert_ok(arena_read_ring(fixture.arena, fixture.slot, first.end, &second));
	assert_true(second.continues);
	second.since_ns = resumed;
	assert_ok(words_encode(fixture.arena, &second, &tsc_clock, &fixture.changes, &fixture.sharing,
			       &fixture.end, &fixture.ours));
	ring_copy_release(&first);
	ring_copy_release(&second);
	encoder_enable(&fixture.expected, t, 0x1000);
	encoder_boundary(&fixture.expected, t, 0x1000);
	encoder_disable_async(&fixture.expected, t, 0x1000);
	encoder_flush(&fixture.expected);
	encoder_enable(&fixture.expected, resumed, 0x1000);
	encoder_boundary(&fixture.expected, resumed, 0x1000);
	encoder_conditional(&fixture.expected, resumed, false);
	encoder_conditional(&fixture.expected, resumed, true);
	encoder_boundary(&fixture.expected, resumed, 0x1000);
	encoder_conditional(&fixture.expected, resumed, true);
	encoder_boundary(&fixture.expected, resumed, 0x1050);
	encoder_disable_async(&fixture.expected, told, 0x1050);
	encoder_flush(&fixture.expected);
	assert_same_packets(&fixture);
	fixture_release(&fixture);
}

/* The first copy ends at a probe behind a conditional jump, which is not told again; or in a system call. */
TEST(goes_on_behind_a_probe)
{
	const uint64_t t = tsc_clock.ns;
	struct ring_copy copies[3];
	struct fixture fixture;
	uint64_t from = 0;

	fixture_init(&fixture);
	for (size_t i = 0; i < 3; i++) {
		if (i == 0) {
			arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
			arena_append(fixture.arena, fixture.slot, 0x1020, RING_AT);
		} else if (i == 1) {
			word(&fixture, 1);
			word(&fixture, 2);
			arena_append(fixture.arena, fixture.slot, tsc_clock.tsc + 10, RING_BEFORE);
		} else {
			arena_append(fixture.arena, fixture.slot, tsc_clock.tsc + 20, RING_AFTER);
			word(&fixture, BLOCK_WORD | 0);
		}
		assert_ok(arena_read_ring(fixture.arena, fixture.slot, from, &copies[i]));
		assert_ok(arena_index(fixture.arena));
		assert_ok(words_encode(fixture.arena, &copies[i], &tsc_clock, &fixture.changes,
				       &fixture.sharing, &fixture.end, &fixture.ours));
		from = copies[i].end;
		ring_copy_release(&copies[i]);
	}
	encoder_enable(&fixture.expected, t, 0x1000);
	encoder_boundary(&fixture.expected, t, 0x1000);
	encoder_conditional(&fixture.expected, t, false);
	encoder_disable_async(&fixture.expected, t, 0x1020);
	encoder_flush(&fixture.expected);
	encoder_enable(&fixture.expected, t, 0x1020);
	encoder_conditional(&fixture.expected, t, true);
	encoder_boundary(&fixture.expected, t, 0x1000);
	encoder_conditional(&fixture.expected, t, false);
	encoder_conditional(&fixture.expected, t, false);
	encoder_boundary(&fixture.expected, t, 0x1040);
	encoder_disable(&fixture.expected, t + 10);
	encoder_enable(&fixture.expected, t + 20, 0x1050);
	encoder_boundary(&fixture.expected, t + 20, 0x1050);
	encoder_indirect(&fixture.expected, t + 20, 0x1000);
	encoder_boundary(&fixture.expected, t + 20, 0x1000);
	encoder_disable_async(&fixture.expected, t + 20, 0x1000);
	encoder_flush(&fixture.expected);
	assert_same_packets(&fixture);
	fixture_release(&fixture);
}

/* A thread that is led into the runtime writes its next word over the last one of the lap before. */
TEST(led)
{
	enum { CNT = RING_SIZE_MIN / 4 + 100 };
	struct fixture fixture;
	struct context *context;
	struct ring_copy copy;

	fixture_init(&fixture);
	context = arena_context(fixture.arena, fixture.slot);
	for (int i = 0; i < CNT; i++)
		word(&fixture, (uint32_t)i);
	context->held_word = RING_SIZE_MIN / 4 - 1;
	context->held_pos = context->pos;
	context->pos = -4;
	memset((uint8_t *)context - 4, 0xff, 4);
	assert_ok(arena_read_ring(fixture.arena, fixture.slot, 0, &copy));
	assert_int_equal(copy.end, CNT * 4);
	assert_in_range(copy.cnt, RING_SIZE_MIN / 4 - 100, RING_SIZE_MIN / 4);
	for (size_t i = 0; i < copy.cnt; i++)
		assert_int_equal(copy.words[i], CNT - copy.cnt + i);
	ring_copy_release(&copy);
	fixture_release(&fixture);
}

/*
 * While a ring is held, its end is where the thread was first, and what it wrote beyond that is overwritten.
 */
TEST(held)
{
	struct fixture fixture;
	struct context *context;
	struct ring_copy copy;

	fixture_init(&fixture);
	context = arena_context(fixture.arena, fixture.slot);
	for (int i = 0; i < RING_SIZE_MIN / 4 + 100; i++)
		word(&fixture, (uint32_t)i);
	context->held_end = arena_written(fixture.arena, fixture.slot);
	context->held_reach = context->held_end + TIME_EVERY;
	context->hold = 7;
	for (int i = 0; i < 50; i++)
		word(&fixture, 0);
	arena_hold(fixture.arena, 7);
	assert_ok(arena_read_ring(fixture.arena, fixture.slot, 0, &copy));
	assert_int_equal(copy.end, context->held_end);
	assert_in_range(copy.cnt, (RING_SIZE_MIN - 2 * TIME_EVERY) / 4, (RING_SIZE_MIN - TIME_EVERY) / 4);
	for (size_t i = 0; i < copy.cnt; i++)
		assert_int_equal(copy.words[i], RING_SIZE_MIN / 4 + 100 - copy.cnt + i);
	ring_copy_release(&copy);
	arena_hold(fixture.arena, 0);
	assert_ok(arena_read_ring(fixture.arena, fixture.slot, copy.end, &copy));
	assert_int_equal(copy.cnt, 50);
	ring_copy_release(&copy);
	fixture_release(&fixture);
}

/*
 * Words that are shared give the same packets, with a PSB at each cut: at the end of the group that the place
 * wanted for it is in.
 */
TEST(shared)
{
	enum { GROUPS = 9, WORDS = 4, FIRST_CUT = 2 };
	static const bool is_wanted = true;
	const uint64_t t = tsc_clock.ns, second = 1000;
	struct fixture fixture;

	fixture_init(&fixture);
	fixture.sharing = (struct word_sharing){.threads = 2, .least = WORDS, .is_wanted = &is_wanted};
	arena_append(fixture.arena, fixture.slot, 0x1000, RING_GO);
	encoder_enable(&fixture.expected, t + second, 0x1000);
	encoder_boundary(&fixture.expected, t + second, 0x1000);
	for (uint64_t group = 0; group < GROUPS; group++) {
		const uint64_t before = t + (group ? group : 1) * second, after = t + (group + 1) * second;

		for (int i = 0; i < WORDS; i++) {
			word(&fixture, 1);
			encoder_conditional(&fixture.expected, before, false);
			encoder_conditional(&fixture.expected, before, true);
			encoder_boundary(&fixture.expected, before, 0x1000);
		}
		arena_append(fixture.arena, fixture.slot, tsc_clock.tsc + after - t, RING_TIME);
		/* The first time that is told is that of what is before it. */
		if (group)
			encoder_flush(&fixture.expected);
		fixture.expected.psb_wanted = group >= FIRST_CUT && group + 1 < GROUPS;
		encoder_boundary(&fixture.expected, after, 0x1000);
	}
	check(&fixture, t + GROUPS * second, 0x1000);
}

TEST_MAIN(NULL, NULL)
