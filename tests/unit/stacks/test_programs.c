/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random legal programs, whose calls are known: recursion, tail calls, exceptions, longjmp, system calls,
 * signals. Three claims about each: the tree is the true one; it does not depend on where the branches are
 * cut into pieces; with some branches lost, control is always in the function that it really was in, as far
 * as any return shows it.
 *
 * A function is 256 bytes. A call whose last byte is at an offset with bit 4 set has its exceptions handled,
 * at offset 224 of the same function. Function 'z' is setjmp.
 */
#include "assertions.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/slice_cursor.h"
#include "unit/stacks/functions.h"

enum {
	HANDLER = 224,
	CALL_BYTES = 5,
	STEPS = 250,
	DEPTH_MAX = 30,
	RUNS = 3000,
	SETJMP = 25,
};

static enum landing landing(void *ctx, uint64_t call_ip, uint64_t handler, uint64_t tsc)
{
	(void)ctx;
	(void)tsc;
	if ((handler - BASE) % FUNCTION_BYTES != HANDLER)
		return LANDING_UNKNOWN;
	if (!call_ip)
		return LANDING_YES;
	return call_ip / FUNCTION_BYTES == handler / FUNCTION_BYTES && call_ip & 16 ? LANDING_YES
										    : LANDING_NO;
}

static struct stacks_config config = {.symbol_at = symbol_at, .time_ns = time_ns, .landing = landing};

/* ---- programs ---- */

struct live {
	unsigned int function, offset;
	uint64_t call;	 /* the call it is in; 0: none */
	uint64_t setjmp; /* where a longjmp to it lands; 0: it has not called setjmp */
	bool handler;	 /* of a signal */
};

struct truth {
	struct branch branches[3 * STEPS];
	char tops[3 * STEPS]; /* the function that runs behind each branch; '-': none */
	size_t branch_cnt;
	char tree[STEPS * 3 * (2 * DEPTH_MAX + 8)];
	size_t tree_len;
	struct live stack[DEPTH_MAX];
	size_t depth;
};

static uint64_t at(const struct live *live)
{
	return BASE + live->function * FUNCTION_BYTES + live->offset;
}

static struct live *top(struct truth *truth)
{
	return &truth->stack[truth->depth - 1];
}

static void say(struct truth *truth, size_t depth, const char *name)
{
	truth->tree_len +=
		(size_t)snprintf(truth->tree + truth->tree_len, sizeof(truth->tree) - truth->tree_len,
				 "%*s%s\n", (int)(2 * depth), "", name);
}

static void tell(struct truth *truth, enum branch_kind kind, unsigned int flags, uint64_t from, uint64_t to)
{
	truth->tops[truth->branch_cnt] =
		flags & BRANCH_TRACE_END ? '-' : (char)('a' + (to - BASE) / FUNCTION_BYTES);
	truth->branches[truth->branch_cnt] = (struct branch){.kind = (uint8_t)kind,
							     .flags = (uint8_t)flags,
							     .from = from,
							     .to = to,
							     .from_len = kind == BRANCH_CALL ? CALL_BYTES : 2,
							     .tsc = 10 * truth->branch_cnt + 10};
	truth->branch_cnt++;
}

static void enter(struct truth *truth, unsigned int function)
{
	truth->stack[truth->depth] = (struct live){.function = function};
	say(truth, truth->depth++, names[function]);
}

static void call(struct truth *truth, unsigned int function)
{
	uint64_t from = at(top(truth));

	top(truth)->call = from;
	top(truth)->offset += CALL_BYTES;
	enter(truth, function);
	tell(truth, BRANCH_CALL, 0, from, at(top(truth)));
}

static void leave(struct truth *truth)
{
	uint64_t from = at(top(truth));

	truth->depth--;
	tell(truth, BRANCH_RETURN, 0, from, at(top(truth)));
}

static void tail_call(struct truth *truth, unsigned int function)
{
	uint64_t from = at(top(truth));

	truth->depth--;
	enter(truth, function);
	tell(truth, BRANCH_JUMP, 0, from, at(top(truth)));
}

/* Raises: to the innermost frame whose call has a handler. */
static void raise_exception(struct truth *truth)
{
	for (size_t i = truth->depth - 1; i-- > 0;) {
		uint64_t from = at(top(truth));

		if (truth->stack[i + 1].handler || truth->stack[i].function == top(truth)->function)
			return; /* the runtime's functions raise, not the one that handles */
		if (!((truth->stack[i].call + CALL_BYTES - 1) & 16))
			continue;
		truth->depth = i + 1;
		top(truth)->offset = HANDLER;
		tell(truth, BRANCH_JUMP, BRANCH_INDIRECT, from, at(top(truth)));
		return;
	}
}

/* To the innermost frame that called setjmp there. */
static void long_jump(struct truth *truth)
{
	for (size_t i = truth->depth - 1; i-- > 0;) {
		uint64_t from = at(top(truth)), to = truth->stack[i].setjmp;

		if (!to)
			continue;
		if (truth->stack[i].function == top(truth)->function)
			return; /* longjmp is another function */
		truth->depth = i + 1;
		top(truth)->offset = (unsigned int)(to - BASE) % FUNCTION_BYTES;
		tell(truth, BRANCH_JUMP, BRANCH_INDIRECT, from, to);
		return;
	}
}

static void set_jump(struct truth *truth)
{
	call(truth, SETJMP);
	leave(truth);
	top(truth)->setjmp = at(top(truth));
}

static void system_call(struct truth *truth)
{
	uint64_t from = at(top(truth));

	top(truth)->offset += 2;
	tell(truth, BRANCH_SYSCALL, BRANCH_TRACE_END, from, 0);
	say(truth, truth->depth, "[syscall]");
	tell(truth, BRANCH_NONE, BRANCH_TRACE_START, 0, at(top(truth)));
}

/* A handler that does not call anything, then sigreturn. */
static void take_signal(struct truth *truth)
{
	uint64_t interrupted = at(top(truth));

	tell(truth, BRANCH_INTERRUPT, BRANCH_TRACE_END, interrupted, 0);
	say(truth, truth->depth, "[untraced]");
	enter(truth, 24);
	top(truth)->handler = true;
	tell(truth, BRANCH_NONE, BRANCH_TRACE_START, 0, at(top(truth)));
	tell(truth, BRANCH_SYSCALL, BRANCH_TRACE_END, at(top(truth)) + 8, 0);
	say(truth, truth->depth, "[syscall]");
	truth->depth--;
	tell(truth, BRANCH_NONE, BRANCH_TRACE_START, 0, interrupted);
}

static void step(struct truth *truth)
{
	unsigned int what = pick(20), function = pick(20);

	top(truth)->offset += 1 + pick(20);
	if (top(truth)->offset > 200)
		what = 19;
	if (what < 9 && truth->depth + 2 < DEPTH_MAX)
		call(truth, function);
	else if (what == 9 && function != top(truth)->function)
		tail_call(truth, function);
	else if (what == 10)
		raise_exception(truth);
	else if (what == 11)
		long_jump(truth);
	else if (what == 12)
		set_jump(truth);
	else if (what == 13)
		system_call(truth);
	else if (what == 14 && top(truth)->offset)
		take_signal(truth);
	else if (truth->depth > 1)
		leave(truth);
}

static void generate(struct truth *truth, uint64_t run)
{
	random_state = run * 0x9e3779b97f4a7c15ull;
	memset(truth, 0, sizeof(*truth));
	enter(truth, 0);
	tell(truth, BRANCH_NONE, BRANCH_TRACE_START, 0, at(top(truth)));
	for (int i = 0; i < STEPS && truth->branch_cnt + 8 < ARRAY_SIZE(truth->branches); i++) {
		if (truth->depth == 1 && top(truth)->offset > 180)
			break; /* the function is used up */
		step(truth);
	}
}

/* ---- timelines ---- */

static struct timeline *build(const struct branch *branches, size_t cnt, const size_t *cuts, size_t cut_cnt)
{
	struct stacks_piece **pieces = calloc(cut_cnt + 1, sizeof(*pieces));
	struct stacks_store store = {0};
	struct timeline *timeline;
	struct stacks *stacks;
	size_t from = 0;

	assert_non_null(pieces);
	assert_ok(timeline_new(&timeline));
	timeline->threads = calloc(1, sizeof(*timeline->threads));
	timeline->thread_cnt = 1;
	assert_ok(stacks_new(&stacks, &config, timeline->threads));
	/* Some wait for all to be there, some do not. */
	for (size_t i = 0; i <= cut_cnt; i++) {
		size_t to = i < cut_cnt ? cuts[i] : cnt;

		assert_ok(stacks_piece_new(&pieces[i], &config, branches + from, to - from));
		if (i % 3)
			assert_ok(stacks_piece_put(pieces[i], &store));
		from = to;
	}
	for (size_t i = 0; i <= cut_cnt; i++)
		assert_ok(stacks_append(stacks, pieces[i]));
	assert_ok(stacks_finish(stacks));
	assert_ok(timeline_load(timeline));
	stacks_free(stacks);
	stacks_store_release(&store);
	free(pieces);
	if (!timeline_is_valid(timeline))
		fail_msg("the timeline is not valid");
	return timeline;
}

static void tree_text(const struct timeline_thread *thread, char *text, size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < thread->slice_cnt; i++)
		len += (size_t)snprintf(text + len, size - len, "%*s%s\n", (int)(2 * thread->slices[i].depth),
					"", slice_name(&thread->slices[i]));
}

static struct truth truth;
static char text[sizeof(truth.tree)];

TEST(test_true_tree)
{
	for (uint64_t run = 1; run <= RUNS; run++) {
		struct timeline *timeline;

		generate(&truth, run);
		timeline = build(truth.branches, truth.branch_cnt, NULL, 0);
		tree_text(timeline->threads, text, sizeof(text));
		if (strcmp(text, truth.tree))
			fail_msg("run %lu:\n%s\nexpected\n%s", (unsigned long)run, text, truth.tree);
		timeline_free(timeline);
	}
}

static void assert_same(const struct timeline_thread *a, const struct timeline_thread *b, uint64_t run)
{
	static char other[sizeof(text)];

	tree_text(a, text, sizeof(text));
	tree_text(b, other, sizeof(other));
	if (strcmp(text, other))
		fail_msg("run %lu: in pieces:\n%s\nas a whole\n%s", (unsigned long)run, text, other);
	assert_int_equal(a->instant_cnt, b->instant_cnt);
	for (size_t i = 0; i < a->slice_cnt; i++)
		if (a->slices[i].start_ns != b->slices[i].start_ns ||
		    a->slices[i].end_ns != b->slices[i].end_ns || a->slices[i].ip != b->slices[i].ip ||
		    a->slices[i].flags != b->slices[i].flags)
			fail_msg("run %lu: slice %zu differs: %lu-%lu, %lu-%lu", (unsigned long)run, i,
				 a->slices[i].start_ns, a->slices[i].end_ns, b->slices[i].start_ns,
				 b->slices[i].end_ns);
	for (size_t i = 0; i < a->instant_cnt; i++)
		assert_int_equal(a->instants[i].time_ns, b->instants[i].time_ns);
}

/* Some branches are lost: a gap stands for them. Returns how many branches there are now. */
static size_t lose(struct branch *branches, size_t cnt)
{
	size_t from, lost = 1 + pick(12), end;

	if (cnt < 20)
		return cnt;
	from = 1 + pick((unsigned int)cnt - 3);
	end = from + lost;
	if (end >= cnt)
		return cnt;
	branches[from] = (struct branch){.kind = BRANCH_GAP, .gap = GAP_OVERFLOW, .tsc = branches[from].tsc};
	memmove(branches + from + 1, branches + end, (cnt - end) * sizeof(*branches));
	return cnt - lost + 1;
}

static int compare_sizes(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

/* Also with equal time stamps, and gaps, and where most of them are packed. */
TEST(test_cuts_do_not_matter)
{
	for (uint64_t run = 1; run <= RUNS; run++) {
		struct timeline *whole, *pieces;
		size_t cuts[40], cnt, cut_cnt;

		generate(&truth, run);
		cnt = truth.branch_cnt;
		for (unsigned int i = 0; i < run % 4; i++)
			cnt = lose(truth.branches, cnt);
		for (size_t i = 0; i < cnt; i++)
			truth.branches[i].tsc -= truth.branches[i].tsc % (10 + 10 * (run % 5));
		cut_cnt = 1 + pick(ARRAY_SIZE(cuts) - 1);
		for (size_t i = 0; i < cut_cnt; i++)
			cuts[i] = pick((unsigned int)cnt + 1);
		qsort(cuts, cut_cnt, sizeof(*cuts), compare_sizes);
		whole = build(truth.branches, cnt, NULL, 0);
		if (run % 2)
			spill_set_memory(0);
		pieces = build(truth.branches, cnt, cuts, cut_cnt);
		spill_set_memory(SPILL_MEMORY);
		assert_same(pieces->threads, whole->threads, run);
		timeline_free(whole);
		timeline_free(pieces);
	}
}

static size_t inlined_cnt(const struct timeline_thread *thread)
{
	size_t cnt = 0;

	for (size_t i = 0; i < thread->slice_cnt; i++)
		cnt += thread->slices[i].flags & SLICE_INLINED ? 1 : 0;
	return cnt;
}

/* Also where they are packed, and what they are made of is. */
TEST(test_inlined_calls)
{
	size_t inlined = 0;

	config.inlines_at = inlines_at;
	for (uint64_t run = 1; run <= RUNS; run++) {
		struct timeline *packed, *plain;
		size_t cut;

		generate(&truth, run);
		cut = truth.branch_cnt / 2;
		plain = build(truth.branches, truth.branch_cnt, &cut, 1);
		spill_set_memory(0);
		packed = build(truth.branches, truth.branch_cnt, &cut, 1);
		spill_set_memory(SPILL_MEMORY);
		inlined += inlined_cnt(plain->threads);
		assert_int_equal(packed->threads->slice_cnt, plain->threads->slice_cnt);
		for (size_t i = 0; i < plain->threads->slice_cnt; i++)
			assert_memory_equal(&packed->threads->slices[i], &plain->threads->slices[i],
					    sizeof(struct slice));
		timeline_free(plain);
		timeline_free(packed);
	}
	config.inlines_at = NULL;
	assert_true(inlined > RUNS);
}

/* The innermost call open just behind time_ns, or '-'. */
static char running_at(const struct timeline_thread *thread, uint64_t time_ns)
{
	char name = '-';

	for (size_t i = 0; i < thread->slice_cnt && thread->slices[i].start_ns <= time_ns; i++)
		if (thread->slices[i].end_ns > time_ns)
			name = thread->slices[i].kind == SLICE_CALL ? slice_name(&thread->slices[i])[0] : '-';
	return name;
}

/* Whether a call lasts through the gap. */
static bool goes_on(const struct timeline_thread *thread)
{
	for (size_t i = 0; i < thread->slice_cnt && thread->instant_cnt; i++)
		if (thread->slices[i].start_ns < thread->instants[0].time_ns &&
		    thread->slices[i].end_ns > thread->instants[0].time_ns)
			return true;
	return false;
}

/* Returns show who the caller was: so every order of calls that a return confirms is a true one. */
TEST(test_gaps_invent_nothing)
{
	size_t stitched = 0;

	for (uint64_t run = 1; run <= RUNS; run++) {
		struct timeline *timeline;
		struct branch branches[ARRAY_SIZE(truth.branches)];
		size_t cnt;

		generate(&truth, run);
		memcpy(branches, truth.branches, sizeof(branches));
		cnt = lose(branches, truth.branch_cnt);
		timeline = build(branches, cnt, NULL, 0);
		for (size_t i = 0; i + 1 < cnt; i++) {
			size_t original = branches[i].tsc / 10 - 1;

			if (branches[i].kind == BRANCH_GAP || branches[i + 1].kind == BRANCH_GAP)
				continue;
			if (running_at(timeline->threads, branches[i].tsc) != truth.tops[original]) {
				tree_text(timeline->threads, text, sizeof(text));
				fail_msg("run %lu: at %lu control is in %c, not in %c:\n%s",
					 (unsigned long)run, branches[i].tsc, truth.tops[original],
					 running_at(timeline->threads, branches[i].tsc), text);
			}
		}
		stitched += goes_on(timeline->threads);
		timeline_free(timeline);
	}
	/*
	 * The gaps are short, but exceptions are many: a good part of the stacks is known to go on behind
	 * them.
	 */
	assert_in_range(stitched, RUNS / 3, RUNS);
}

int main(void)
{
	symbols_init();
	symbols[SETJMP].role = SYMBOL_SETJMP;
	return tests_run(NULL, NULL);
}
