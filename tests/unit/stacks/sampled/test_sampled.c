/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that know their own calls: a random one runs on a simulated stack and is sampled; the slices must
 * be the calls that the samples saw. Then single cases by hand.
 */
#include "assertions.h"

#include <stdlib.h>

#include "base/array.h"
#include "stacks/sampled/sampled.h"
#include "unit/stacks/functions.h"

enum { CALLED = 6, STACK_TOP = 1 << 20, DEPTH_MAX = 24 };
enum { PERIOD = 100, STEPS = 4000, ITEMS_MAX = STEPS * 2, PROGRAMS = 60 };

static const struct stacks_config config = {.symbol_at = symbol_at, .time_ns = time_ns};

static uint64_t place(size_t function, size_t offset)
{
	return BASE + function * FUNCTION_BYTES + offset;
}

/* ---- a program that logs its calls ---- */

struct logged {
	size_t id; /* of the call: no two have the same */
	size_t function;
	uint64_t ip, cfa;
	uint64_t start;
};

/* What a sample saw. */
struct seen {
	struct logged calls[DEPTH_MAX]; /* the outermost first */
	size_t cnt;
	uint64_t ips[DEPTH_MAX], cfas[DEPTH_MAX];
};

struct program {
	uint64_t seed, now, next_tick;
	struct seen stack;
	size_t ids;
	struct sampled_item items[ITEMS_MAX];
	struct seen seen[ITEMS_MAX]; /* of each item */
	struct sampled_pause pauses[ITEMS_MAX];
	size_t item_cnt;
	uint64_t *ends; /* of each call */
	bool has_cfas, has_pauses, has_losses;
};

static uint64_t draw(struct program *program, uint64_t below)
{
	program->seed ^= program->seed << 13;
	program->seed ^= program->seed >> 7;
	program->seed ^= program->seed << 17;
	return program->seed % below;
}

static struct logged *top(struct program *program)
{
	return &program->stack.calls[program->stack.cnt - 1];
}

static void call(struct program *program, size_t function)
{
	struct seen *stack = &program->stack;
	/* A frame may have a part that grows. */
	uint64_t cfa = stack->cnt ? top(program)->cfa - 32 - 16 * draw(program, 3) : STACK_TOP;

	if (stack->cnt)
		top(program)->ip = place(top(program)->function, 10 + 10 * draw(program, 3));
	stack->calls[stack->cnt++] = (struct logged){.id = program->ids++,
						     .function = function,
						     .ip = place(function, 0),
						     .cfa = cfa,
						     .start = program->now};
}

static void leave(struct program *program)
{
	program->ends[top(program)->id] = program->now;
	program->stack.cnt--;
}

static void jump_to_function(struct program *program, size_t function)
{
	struct logged *frame = top(program);

	program->ends[frame->id] = program->now;
	*frame = (struct logged){.id = program->ids++,
				 .function = function,
				 .ip = place(function, 0),
				 .cfa = frame->cfa,
				 .start = program->now};
}

static struct sampled_item *add_item(struct program *program, uint64_t start, uint64_t end, bool has_stack)
{
	struct sampled_item *item = &program->items[program->item_cnt];
	struct seen *seen = &program->seen[program->item_cnt++];

	*item = (struct sampled_item){.start = start, .end = end, .ips = seen->ips};
	seen->cnt = 0;
	if (!has_stack)
		return item;
	*seen = program->stack;
	item->cnt = seen->cnt;
	item->cfas = program->has_cfas ? seen->cfas : NULL;
	for (size_t i = 0; i < seen->cnt; i++) {
		seen->ips[i] = seen->calls[seen->cnt - 1 - i].ip;
		seen->cfas[i] = seen->calls[seen->cnt - 1 - i].cfa;
	}
	return item;
}

/* The thread does not run for a while; sometimes its stack is recorded when it stops. */
static void wait(struct program *program)
{
	uint64_t start = program->now, length = 1 + draw(program, 5 * PERIOD);
	size_t at = program->item_cnt;
	struct sampled_item *item = add_item(program, start, start + length, draw(program, 2));

	program->pauses[at] =
		(struct sampled_pause){.start = start,
				       .end = start + length,
				       .kind = draw(program, 2) ? SLICE_OFF_CPU : SLICE_RUN_QUEUE};
	item->pauses = &program->pauses[at];
	item->pause_cnt = 1;
	program->now += length;
	program->next_tick += length;
}

static void lose(struct program *program)
{
	uint64_t length = 1 + draw(program, 3 * PERIOD);
	struct sampled_item *item = add_item(program, program->now, program->now + length, false);

	item->is_lost = true;
	program->now += length;
	program->next_tick = program->now + PERIOD;
}

static void run(struct program *program, uint64_t length)
{
	top(program)->ip = place(top(program)->function, draw(program, 200));
	for (; length; length--) {
		program->now++;
		if (program->now != program->next_tick)
			continue;
		add_item(program, program->now, program->now, true);
		program->next_tick += PERIOD;
	}
}

static void step(struct program *program)
{
	uint64_t what = draw(program, 100);

	if (what < 40 && program->stack.cnt < DEPTH_MAX)
		call(program, draw(program, CALLED));
	else if (what < 75 && program->stack.cnt > 1)
		leave(program);
	else if (what < 80 && program->stack.cnt > 1)
		jump_to_function(program, draw(program, CALLED));
	else if (what < 84 && program->has_pauses)
		wait(program);
	else if (what < 85 && program->has_losses)
		lose(program);
	/* Some last long, most do not. */
	run(program, 1 + draw(program, what % 10 ? 30 : 4 * PERIOD));
}

static struct program *run_program(uint64_t seed)
{
	struct program *program = calloc(1, sizeof(*program));

	assert_non_null(program);
	program->seed = seed * 0x9e3779b97f4a7c15ull + 1;
	program->next_tick = PERIOD;
	program->ends = calloc(STEPS + 2, sizeof(*program->ends));
	program->has_cfas = seed % 3;
	program->has_pauses = seed % 2;
	program->has_losses = seed % 5 == 0;
	call(program, 0);
	for (size_t i = 0; i < STEPS && program->item_cnt + 8 < STEPS; i++)
		step(program);
	add_item(program, program->now, program->now, true);
	while (program->stack.cnt)
		leave(program);
	return program;
}

static void program_free(struct program *program)
{
	free(program->ends);
	free(program);
}

/* ---- what must be true of its slices ---- */

static const struct slice *slice_at(const struct timeline_thread *thread, uint64_t time, size_t depth)
{
	const struct slice *found = NULL;

	for (size_t i = timeline_thread_begun(thread, time + 1); i-- > 0 && !found;)
		if (thread->slices[i].kind == SLICE_CALL && thread->slices[i].depth == depth &&
		    thread->slices[i].start_ns <= time && thread->slices[i].end_ns >= time)
			found = &thread->slices[i];
	return found;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* What nobody can tell apart by two samples: the same function, frame and call site. */
static bool look_the_same(const struct program *program, const struct seen *a, const struct seen *b,
			  size_t depth)
{
	for (size_t i = 0; i <= depth; i++) {
		if (a->calls[i].function != b->calls[i].function ||
		    (program->has_cfas && a->calls[i].cfa != b->calls[i].cfa) ||
		    (i < depth && a->calls[i].ip != b->calls[i].ip))
			return false;
	}
	return true;
}

static void assert_seen(const struct program *program, const struct timeline_thread *thread, size_t i)
{
	const struct seen *seen = &program->seen[i];

	for (size_t depth = 0; depth < seen->cnt; depth++) {
		const struct slice *slice = slice_at(thread, program->items[i].start, depth);

		assert_non_null(slice);
		assert_ptr_equal(slice->symbol, &symbols[seen->calls[depth].function]);
		assert_string_equal(slice_certainty(slice), "sampled");
	}
}

static void assert_joined(const struct program *program, const struct timeline_thread *thread, size_t before,
			  size_t i)
{
	const struct seen *a = &program->seen[before], *b = &program->seen[i];

	for (size_t depth = 0; depth < a->cnt && depth < b->cnt; depth++) {
		const struct slice *from = slice_at(thread, program->items[before].start, depth);
		const struct slice *to = slice_at(thread, program->items[i].start, depth);

		/* What waited somewhere in between was not the innermost call itself. */
		if (depth + 1 == a->cnt && depth + 1 == b->cnt && i > before + 1)
			continue;
		if (a->calls[depth].id == b->calls[depth].id)
			assert_ptr_equal(from, to);
		else if (!look_the_same(program, a, b, depth))
			assert_ptr_not_equal(from, to);
	}
}

/* Of a call that no other was taken for. */
static void assert_edges(const struct program *program, const struct timeline_thread *thread, size_t i)
{
	const struct seen *seen = &program->seen[i];

	for (size_t depth = 0; depth < seen->cnt; depth++) {
		const struct logged *truth = &seen->calls[depth];
		const struct slice *slice = slice_at(thread, program->items[i].start, depth);
		bool is_alone = true;

		for (size_t j = 0; j < program->item_cnt; j++)
			if (depth < program->seen[j].cnt && program->items[j].start >= slice->start_ns &&
			    program->items[j].start <= slice->end_ns &&
			    program->seen[j].calls[depth].id != truth->id)
				is_alone = false;
		if (is_alone && !(slice->flags & SLICE_INFERRED_START))
			assert_in_range(distance(slice->start_ns, truth->start), 0, PERIOD);
		if (is_alone && !(slice->flags & SLICE_OPEN_END))
			assert_in_range(distance(slice->end_ns, program->ends[truth->id]), 0, PERIOD);
	}
}

static bool is_lost_between(const struct program *program, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (program->items[i].is_lost)
			return true;
	return false;
}

/* The thread ran no code of its own: no call begins or ends then. */
static void assert_no_edge_in_pauses(const struct program *program, const struct timeline_thread *thread)
{
	size_t cnt = 0;

	for (size_t i = 0; i < thread->slice_cnt; i++) {
		const struct slice *slice = &thread->slices[i];

		cnt += slice->kind == SLICE_OFF_CPU || slice->kind == SLICE_RUN_QUEUE;
		for (size_t j = 0; j < program->item_cnt && slice->kind == SLICE_CALL; j++) {
			const struct sampled_item *item = &program->items[j];

			if (!item->pause_cnt)
				continue;
			assert_false(slice->start_ns > item->start && slice->start_ns < item->end);
			assert_false(slice->end_ns > item->start && slice->end_ns < item->end);
		}
	}
	for (size_t j = 0; j < program->item_cnt; j++)
		cnt -= program->items[j].pause_cnt;
	assert_int_equal(cnt, 0);
}

static void check_program(uint64_t seed)
{
	struct program *program = run_program(seed);
	struct timeline_thread thread = {0};
	struct timeline timeline = {.threads = &thread, .thread_cnt = 1};
	size_t before = SIZE_MAX;

	assert_ok(sampled_build(&config, program->items, program->item_cnt, program->now, PERIOD, &thread));
	assert_true(timeline_is_valid(&timeline));
	for (size_t i = 0; i < program->item_cnt; i++) {
		if (!program->items[i].cnt)
			continue;
		assert_seen(program, &thread, i);
		if (before != SIZE_MAX && !is_lost_between(program, before, i))
			assert_joined(program, &thread, before, i);
		before = i;
	}
	if (seed % 10 == 1)
		for (size_t i = 0; i < program->item_cnt; i++)
			assert_edges(program, &thread, i);
	assert_no_edge_in_pauses(program, &thread);
	timeline_thread_release(&thread);
	program_free(program);
}

TEST(test_random_programs)
{
	for (uint64_t seed = 0; seed < PROGRAMS; seed++)
		check_program(seed);
}

/* ---- single cases ---- */

enum { CASE_ITEMS = 8 };

struct by_hand {
	struct sampled_item items[CASE_ITEMS];
	uint64_t ips[CASE_ITEMS][DEPTH_MAX], cfas[CASE_ITEMS][DEPTH_MAX];
	size_t cnt;
};

/*
 * "a1 b2 c0": a calls b from its place 1, b calls c from its place 2. The frame of depth d ends at 1000 - 10
 * * d; `shift` frames further out are cut off.
 */
static struct sampled_item *add(struct by_hand *hand, uint64_t time, const char *text, size_t shift)
{
	size_t cnt = (strlen(text) + 1) / 3, nth = hand->cnt++;
	struct sampled_item *item = &hand->items[nth];

	for (size_t depth = 0; depth < cnt; depth++) {
		hand->ips[nth][cnt - 1 - depth] =
			place((size_t)(text[3 * depth] - 'a'), 10 * (size_t)(text[3 * depth + 1] - '0'));
		hand->cfas[nth][cnt - 1 - depth] = 1000 - 10 * (shift + depth);
	}
	*item = (struct sampled_item){.start = time,
				      .end = time,
				      .ips = hand->ips[nth],
				      .cfas = hand->cfas[nth],
				      .cnt = cnt,
				      .reached = shift ? 1000 - 10 * (shift + 1) : 0};
	return item;
}

static void assert_slices(const struct by_hand *hand, uint64_t until, const char *expected)
{
	struct timeline_thread thread = {0};
	struct timeline timeline = {.threads = &thread, .thread_cnt = 1};
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_ok(sampled_build(&config, hand->items, hand->cnt, until, PERIOD, &thread));
	assert_true(timeline_is_valid(&timeline));
	for (size_t i = 0; i < thread.slice_cnt; i++) {
		const struct slice *slice = &thread.slices[i];

		fprintf(file, "%*s%s%s%s %d-%d\n", 2 * (int)slice->depth, "", slice_name(slice),
			slice->flags & SLICE_INFERRED_START ? "?" : "",
			slice->flags & SLICE_OPEN_END ? "!" : "", (int)slice->start_ns, (int)slice->end_ns);
	}
	fclose(file);
	assert_string_equal(text, expected);
	free(text);
	timeline_thread_release(&thread);
}

TEST(test_callers_move_on)
{
	struct by_hand hand = {0};

	add(&hand, 100, "a1 b1 c0", 0);
	add(&hand, 200, "a1 b2 d0", 0); /* b is at its next call */
	add(&hand, 300, "a1 b2 d5", 0); /* d goes on */
	add(&hand, 400, "a2 b2 d5", 0); /* a has called b again, from elsewhere */
	assert_slices(
		&hand, 420,
		"a?! 100-420\n  b? 100-350\n    c? 100-150\n    d 150-350\n  b! 350-420\n    d! 350-420\n");
}

TEST(test_recursion)
{
	struct by_hand hand = {0};

	add(&hand, 100, "a1 a1 a1 a0", 0);
	add(&hand, 200, "a1 a1 a0", 0);
	add(&hand, 300, "a1 a1 a1 a0", 0);
	hand.cfas[2][0] -= 4; /* the innermost is called with more on the stack */
	add(&hand, 400, "a1 a1 a1 a0", 0);
	assert_slices(&hand, 400,
		      "a?! 100-400\n  a?! 100-400\n    a?! 100-400\n      a? 100-150\n      a 250-350\n      "
		      "a! 350-400\n");
}

TEST(test_missing_samples)
{
	struct by_hand hand = {0};

	add(&hand, 100, "a1 b0", 0);
	add(&hand, 1000, "a1 c0", 0);
	assert_slices(&hand, 2000, "a?! 100-1050\n  b?! 100-150\n  [unknown] 150-950\n  c?! 950-1050\n");
}

TEST(test_losses)
{
	struct by_hand hand = {0};

	add(&hand, 100, "a1 b0", 0);
	*add(&hand, 120, "", 0) = (struct sampled_item){.start = 120, .end = 180, .is_lost = true};
	add(&hand, 200, "a1 b0", 0);
	assert_slices(&hand, 200, "a?! 100-120\n  b?! 100-120\na?! 200-200\n  b?! 200-200\n");
}

TEST(test_hits_are_sharp)
{
	struct by_hand hand = {0};

	add(&hand, 100, "a1 b0", 0);
	add(&hand, 180, "a1 b1 c0", 0)->is_begin = true;
	add(&hand, 200, "a1 b1 c0", 0)->is_begin = true; /* it looks the same, but it began */
	add(&hand, 240, "a1 b1 c4", 0);
	assert_slices(&hand, 240, "a?! 100-240\n  b?! 100-240\n    c 180-190\n    c! 200-240\n");
}

TEST(test_cut_stacks)
{
	struct by_hand hand = {0};

	add(&hand, 100, "a1 b1 c0", 0);
	add(&hand, 200, "c1 d1 e0", 2); /* a and b are beyond what was copied */
	add(&hand, 300, "f0", 4);	/* and now all that is known */
	add(&hand, 400, "a1 b0", 0);
	assert_slices(&hand, 400,
		      "a?! 100-400\n  b?! 100-400\n    c? 100-350\n      d 150-350\n        e 150-250\n      "
		      "  f 250-350\n");
}

/* A coroutine, or a signal's handler on a stack of its own: who called it is not on that stack. */
TEST(test_other_stacks)
{
	struct by_hand hand = {0};

	add(&hand, 100, "a1 b1 c0", 0);
	add(&hand, 200, "f1 g0", 50);
	add(&hand, 300, "h1 g0", 70);
	add(&hand, 400, "f2 g0", 50);
	add(&hand, 500, "a2 d0", 0); /* b had ended when another one called all that */
	assert_slices(&hand, 500,
		      "a?! 100-500\n  b? 100-150\n    c? 100-150\n  f 150-250\n    g 150-250\n  h 250-350\n  "
		      "  g 250-350\n"
		      "  f 350-450\n    g 350-450\n  d! 450-500\n");
}

/* A goroutine's thread has a stack of its own, which may be above all others. */
TEST(test_higher_stack)
{
	struct by_hand hand = {0};

	add(&hand, 100, "a1 b1 c0", 0);
	add(&hand, 200, "f1 g0", 1);
	for (size_t i = 0; i < 2; i++)
		hand.cfas[1][i] += 5000;
	hand.items[1].reached += 5000;
	add(&hand, 300, "a1 b1 c0", 0);
	assert_slices(&hand, 300,
		      "a?! 100-300\n  b?! 100-300\n    c?! 100-300\n      f 150-250\n        g 150-250\n");
}

/* What comes on yet another stack, or behind a loss, says nothing of the callers. */
TEST(test_other_stacks_at_last)
{
	struct by_hand hand = {0};

	add(&hand, 100, "a1 b1 c0", 0);
	add(&hand, 200, "f1 g0", 50);
	add(&hand, 300, "a1 b1 c0", 20); /* whole, but of another root */
	hand.items[2].reached = 0;
	add(&hand, 400, "a2 d0", 0);
	assert_slices(&hand, 400,
		      "a? 100-250\n  b? 100-150\n    c? 100-150\n  f 150-250\n    g 150-250\n"
		      "a 250-350\n  b 250-350\n    c 250-350\na! 350-400\n  d! 350-400\n");
	hand.items[2] = (struct sampled_item){.start = 300, .end = 300, .is_lost = true};
	assert_slices(&hand, 400,
		      "a?! 100-300\n  b?! 100-300\n    c?! 100-300\n      f! 150-300\n        g! 150-300\n"
		      "a?! 400-400\n  d?! 400-400\n");
}

/* Stacks of which none is ever whole, too far from each other to be one: none calls what is on the other. */
TEST(test_far_stacks)
{
	struct by_hand hand = {0};

	add(&hand, 100, "a1 b0", 60);
	add(&hand, 200, "f1 g0", 50);
	add(&hand, 300, "a1 c0", 60);
	for (size_t i = 0; i < 3; i += 2) {
		hand.cfas[i][0] += 16 << 20;
		hand.cfas[i][1] += 16 << 20;
	}
	assert_slices(&hand, 300,
		      "a? 100-150\n  b? 100-150\nf 150-250\n  g 150-250\na! 250-300\n  c! 250-300\n");
}

/* A program whose main() has more on the stack than is copied: the loader, whose stack was whole, is over. */
TEST(test_cut_behind_the_loader)
{
	struct by_hand hand = {0};

	for (size_t i = 0; i < FUNCTIONS; i++)
		symbols[i].object = i < 2 ? "/lib/ld-linux-x86-64.so.2" : "/bin/prog";
	add(&hand, 100, "a1 b0", 0);
	add(&hand, 200, "f1 g0", 50);
	add(&hand, 300, "h0", 0); /* whole, but another root at the same place */
	assert_slices(&hand, 300, "a? 100-150\n  b? 100-150\nf 150-250\n  g 150-250\nh! 250-300\n");
	symbols[1].object = "/bin/prog"; /* the loader has called it */
	assert_slices(&hand, 300, "a? 100-250\n  b? 100-250\n    f 150-250\n      g 150-250\nh! 250-300\n");
	symbols_init();
}

/* What waits in a system call before and after, at one place, has called nothing that was cut in between. */
TEST(test_cut_between_waits)
{
	struct by_hand hand = {0};

	add(&hand, 100, "a1 b1 c0", 0);
	add(&hand, 200, "f1 g0", 40);
	add(&hand, 300, "a1 b1 c0", 0);
	assert_slices(&hand, 300,
		      "a?! 100-300\n  b?! 100-300\n    c? 100-150\n    f 150-250\n      g 150-250\n    c! "
		      "250-300\n");
}

/*
 * Code without a frame that is known, f: what ran before stands in its place, or has called it, if a later
 * stack has it as a caller.
 */
TEST(test_cut_without_a_frame)
{
	struct by_hand hand = {0};

	add(&hand, 100, "a1 b0", 0);
	add(&hand, 200, "f1 g0", 4);
	hand.cfas[1][1] = 0;
	add(&hand, 300, "a1 b1 c0", 0);
	assert_slices(&hand, 300,
		      "a?! 100-300\n  b?! 100-300\n    f 150-250\n      g 150-250\n    c! 250-300\n");
	hand.items[2].ips++; /* without c */
	hand.items[2].cfas++;
	hand.items[2].cnt--;
	assert_slices(&hand, 300, "a?! 100-300\n  b? 100-150\n  f 150-250\n    g 150-250\n  b! 250-300\n");
}

/* However many there are. */
TEST(test_many_other_stacks)
{
	enum { MANY = 100000 };
	struct sampled_item *items = calloc(MANY + 1, sizeof(*items));
	struct timeline_thread thread = {0};
	struct by_hand hand = {0};

	assert_non_null(items);
	items[0] = *add(&hand, 0, "a1 b0", 0);
	add(&hand, 0, "f1 g0", 50);
	add(&hand, 0, "h1 g0", 70);
	for (size_t i = 1; i <= MANY; i++) {
		items[i] = hand.items[2 - i % 2];
		items[i].start = items[i].end = i * PERIOD;
	}
	assert_ok(sampled_build(&config, items, MANY + 1, MANY * PERIOD, PERIOD, &thread));
	/* The first four go on all the time; h and its g come and go. */
	assert_int_equal(thread.slice_cnt, 4 + MANY);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(thread.slices[i].end_ns, MANY * PERIOD);
	timeline_thread_release(&thread);
	free(items);
}

/* Between them there is room for frames that no copy has held. */
TEST(test_cut_below_unseen)
{
	struct by_hand hand = {0};

	add(&hand, 100, "a1 b0", 0);
	hand.cfas[0][0] += 100000;
	hand.cfas[0][1] += 100000;
	add(&hand, 200, "f1 g0", 4);
	add(&hand, 300, "f1 h0", 4);
	assert_slices(
		&hand, 300,
		"a?! 100-300\n  b?! 100-300\n    [unknown]! 150-300\n      f! 150-300\n        g 150-250\n"
		"        h! 250-300\n");
}

/* The callers were there before they could be seen. */
TEST(test_cut_at_first)
{
	struct by_hand hand = {0};

	add(&hand, 100, "c1 d0", 2);
	add(&hand, 200, "c1 d1 e0", 2);
	add(&hand, 300, "a1 b1 c2 f0", 0);
	assert_slices(&hand, 300,
		      "a?! 100-300\n  b?! 100-300\n    c?! 100-300\n      d? 100-250\n        e 150-250\n    "
		      "  f! 250-300\n");
}

/*
 * Waits whose stack is not known are within what is the same before and behind them; a system call has waits
 * of its own.
 */
TEST(test_pauses)
{
	const struct sampled_pause off = {.start = 120, .end = 170, .kind = SLICE_OFF_CPU};
	const struct sampled_pause call[] = {{.start = 300, .end = 400, .kind = SLICE_SYSCALL},
					     {.start = 310, .end = 350, .kind = SLICE_OFF_CPU, .depth = 1},
					     {.start = 350, .end = 390, .kind = SLICE_RUN_QUEUE, .depth = 1}};
	struct sampled_item *item;
	struct by_hand hand = {0};

	add(&hand, 100, "a1 b0", 0);
	*add(&hand, 120, "", 0) =
		(struct sampled_item){.start = 120, .end = 170, .pauses = &off, .pause_cnt = 1};
	add(&hand, 200, "a1 c0", 0);
	item = add(&hand, 300, "a1 c0", 0);
	item->end = 400;
	item->pauses = call;
	item->pause_cnt = ARRAY_SIZE(call);
	assert_slices(
		&hand, 420,
		"a?! 100-420\n  b?! 100-120\n  [off-cpu] 120-170\n  c?! 170-420\n    [syscall] 300-400\n"
		"      [off-cpu] 310-350\n      [run-queue] 350-390\n");
}

/*
 * Nobody knows what waited: it was not c itself, which runs before and behind, unless it stands at the same
 * place.
 */
TEST(test_waits_without_stacks)
{
	struct sampled_pause off = {.start = 120, .end = 170, .kind = SLICE_OFF_CPU};
	struct by_hand hand = {0};

	add(&hand, 100, "a1 b1 c0", 0);
	*add(&hand, 120, "", 0) =
		(struct sampled_item){.start = 120, .end = 170, .pauses = &off, .pause_cnt = 1};
	add(&hand, 200, "a1 b1 c3", 0);
	assert_slices(
		&hand, 200,
		"a?! 100-200\n  b?! 100-200\n    c?! 100-120\n    [off-cpu] 120-170\n    c?! 170-200\n");
	hand.ips[2][0] = hand.ips[0][0];
	assert_slices(&hand, 200, "a?! 100-200\n  b?! 100-200\n    c?! 100-200\n      [off-cpu] 120-170\n");
	hand.ips[2][0]++;
	off.kind = SLICE_RUN_QUEUE;
	assert_slices(&hand, 200, "a?! 100-200\n  b?! 100-200\n    c?! 100-200\n      [run-queue] 120-170\n");
}

/* Equal stacks in a library are not the same calls if it waited in another function of it meanwhile. */
TEST(test_waits_elsewhere)
{
	const struct sampled_pause off = {.start = 120, .end = 170, .kind = SLICE_OFF_CPU};
	struct by_hand hand = {0};

	for (size_t i = 0; i < FUNCTIONS; i++)
		symbols[i].object = i < 2 ? "prog" : "lib";
	add(&hand, 100, "a1 b1 c1 d0", 0);
	*add(&hand, 120, "", 0) = (struct sampled_item){
		.start = 120, .end = 170, .pauses = &off, .pause_cnt = 1, .leaf = place(4, 0)};
	add(&hand, 200, "a1 b1 c1 d0", 0);
	assert_slices(
		&hand, 200,
		"a?! 100-200\n  b?! 100-200\n    c?! 100-120\n      d?! 100-120\n    [off-cpu] 120-170\n"
		"    c?! 170-200\n      d?! 170-200\n");
	hand.cnt = 2; /* and no stack shows what comes then */
	assert_slices(
		&hand, 200,
		"a?! 100-200\n  b?! 100-200\n    c?! 100-120\n      d?! 100-120\n    [off-cpu] 120-170\n");
	hand.cnt = 3;
	hand.items[1].leaf = place(3, 7);
	assert_slices(&hand, 200,
		      "a?! 100-200\n  b?! 100-200\n    c?! 100-200\n      d?! 100-200\n        [off-cpu] "
		      "120-170\n");
	symbols_init();
}

/* All is in one object: the callers of what is innermost go on, however often it waits. */
TEST(test_waits_elsewhere_without_libraries)
{
	const struct sampled_pause offs[] = {{.start = 120, .end = 140, .kind = SLICE_OFF_CPU},
					     {.start = 150, .end = 170, .kind = SLICE_OFF_CPU}};
	struct by_hand hand = {0};

	for (size_t i = 0; i < FUNCTIONS; i++)
		symbols[i].object = "prog";
	add(&hand, 100, "a1 b1 c0", 0);
	for (size_t i = 0; i < ARRAY_SIZE(offs); i++)
		*add(&hand, offs[i].start, "", 0) = (struct sampled_item){.start = offs[i].start,
									  .end = offs[i].end,
									  .pauses = &offs[i],
									  .pause_cnt = 1,
									  .leaf = place(4, 0)};
	add(&hand, 200, "a1 b1 c0", 0);
	assert_slices(
		&hand, 200,
		"a?! 100-200\n  b?! 100-200\n    c?! 100-120\n    [off-cpu] 120-140\n    [off-cpu] 150-170\n"
		"    c?! 170-200\n");
	hand.cnt = 3; /* and no stack shows what comes then */
	assert_slices(&hand, 200,
		      "a?! 100-200\n  b?! 100-200\n    c?! 100-120\n    [off-cpu] 120-140\n    [off-cpu] "
		      "150-170\n");
	symbols_init();
}

TEST(test_period)
{
	struct by_hand hand = {0};

	assert_int_equal(sampled_period(hand.items, 0), 0);
	for (uint64_t time = 100; time < 600; time += 100)
		add(&hand, time, "a0", 0);
	hand.items[4].start = hand.items[4].end = 5000;
	assert_int_equal(sampled_period(hand.items, hand.cnt), 100);
	hand.items[0].period = 7;
	assert_int_equal(sampled_period(hand.items, hand.cnt), 7);
}

int main(void)
{
	symbols_init();
	return tests_run(NULL, NULL);
}
