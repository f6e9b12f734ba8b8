/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Branches in, trees out, in a little language. A line is a branch: "KIND FROM TO @TSC", where a place is a
 * letter for a function and an offset in it ("b+0" is the first byte of b; call instructions are 5 bytes
 * long). The expected tree has two blanks a level; "?" after a name: its start is inferred; "!": it was open
 * at the end.
 */
#include "assertions.h"

#include <stdlib.h>

#include "base/array.h"
#include "model/slice_cursor.h"
#include "unit/stacks/functions.h"

/* "b+3", or "-" for none */
static uint64_t place(const char *text)
{
	unsigned int offset = 0;

	if (text[0] == '-')
		return 0;
	assert_int_equal(sscanf(text + 1, "+%u", &offset), 1);
	return BASE + (uint64_t)(text[0] - 'a') * FUNCTION_BYTES + offset;
}

static struct branch parse_line(const char *line)
{
	char word[16], from[16], to[16];
	struct branch branch;
	unsigned long tsc;

	assert_int_equal(sscanf(line, "%15s %15s %15s @%lu", word, from, to, &tsc), 4);
	branch = branch_of(word);
	branch.from = place(from);
	branch.to = place(to);
	branch.from_len = branch.kind == BRANCH_CALL ? 5 : 2;
	branch.gap = branch.kind == BRANCH_GAP ? GAP_OVERFLOW : GAP_NONE;
	branch.tsc = tsc;
	return branch;
}

static struct timeline *build(const char *text)
{
	const struct stacks_config config = {.symbol_at = symbol_at, .time_ns = time_ns};
	struct branch_list branches = {0};
	struct timeline *timeline;

	for (const char *line = text; *line;
	     line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n'))
		assert_ok(ARRAY_PUSH(branches.items, branches.cnt, branches.cap, parse_line(line)));
	timeline = timeline_of(&config, &branches);
	branch_list_release(&branches);
	return timeline;
}

static void tree_text(const struct timeline_thread *thread, char *text, size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < thread->slice_cnt; i++) {
		const struct slice *slice = &thread->slices[i];

		len += (size_t)snprintf(text + len, size - len, "%*s%s%s%s\n", (int)(2 * slice->depth), "",
					slice_name(slice), slice->flags & SLICE_INFERRED_START ? "?" : "",
					slice->flags & SLICE_OPEN_END ? "!" : "");
	}
}

#define assert_tree(branches, expected)                                  \
	do {                                                             \
		struct timeline *_timeline = build(branches);            \
		char _text[4096];                                        \
                                                                         \
		tree_text(&_timeline->threads[0], _text, sizeof(_text)); \
		assert_string_equal(_text, expected);                    \
		timeline_free(_timeline);                                \
	} while (0)

TEST(test_calls_and_returns)
{
	assert_tree("start - a+0 @1\n"
		    "call a+4 b+0 @2\n"
		    "call b+4 c+0 @3\n"
		    "ret c+9 b+9 @4\n"
		    "call b+20 c+0 @5\n"
		    "ret c+9 b+25 @6\n"
		    "ret b+30 a+9 @7\n"
		    "call a+20 d+0 @8\n",
		    "a!\n  b\n    c\n    c\n  d!\n");
}

TEST(test_recursion)
{
	assert_tree("start - a+0 @1\ncall a+4 a+0 @2\ncall a+4 a+0 @3\nret a+9 a+9 @4\nret a+9 a+9 @5\ncall "
		    "a+30 b+0 @6\n",
		    "a!\n  a\n    a\n  b!\n");
}

/* The trace begins in c; returns tell that b and a were there. */
TEST(test_callers_are_inferred)
{
	assert_tree("call c+4 d+0 @2\nret d+9 c+9 @3\nret c+20 b+9 @4\ncall b+20 e+0 @5\nret e+9 b+25 "
		    "@6\nret b+30 a+9 @7\n",
		    "a?!\n  b?\n    c?\n      d\n    e\n");
}

TEST(test_tail_call_and_plt)
{
	assert_tree("start - a+0 @1\n"
		    "call a+4 p+0 @2\n" /* stub */
		    "jump p+6 b+0 @3\n"
		    "cond b+4 b+20 @4\n"
		    "jump b+30 c+0 @5\n" /* tail call */
		    "ret c+9 a+9 @6\n"
		    "call a+20 d+0 @7\n",
		    "a!\n  p\n  b\n  c\n  d!\n");
}

/* c jumps back into the middle of a, as longjmp does: b and c are over. */
TEST(test_longjmp)
{
	assert_tree("start - a+0 @1\ncall a+4 b+0 @2\ncall b+4 c+0 @3\njump c+9 a+60 @4\ncall a+80 d+0 @5\n",
		    "a!\n  b\n    c\n  d!\n");
}

/* y and z are a JIT compiler's code without names: any part of them may be another function. */
TEST(test_regions)
{
	symbols['y' - 'a'].is_region = symbols['z' - 'a'].is_region = true;
	/* The call of a function by way of b, which jumps there: y is not unwound to its caller. */
	assert_tree("call a+10 y+16 @0\n"
		    "call y+20 b+0 @1\n"
		    "jump b+8 y+96 @2\n"
		    "call y+100 c+0 @3\n"
		    "ret c+9 y+105 @4\n"
		    "ret y+110 y+25 @5\n"
		    "ret y+30 a+15 @6\n",
		    "a?!\n"
		    "  y\n"
		    "    b\n"
		    "    y\n"
		    "      c\n");
	/* An interpreter puts an address on the stack and jumps to a method, which returns to there. */
	assert_tree("call a+10 y+16 @0\n"
		    "jump y+20 z+96 @1\n"
		    "ret z+110 y+25 @2\n"
		    "jump y+40 z+96 @3\n"
		    "ret z+110 y+45 @4\n"
		    "ret y+50 a+15 @5\n",
		    "a?!\n"
		    "  y\n"
		    "  z\n"
		    "  y\n"
		    "  z\n"
		    "  y\n");
	/* A handler leads elsewhere (a null pointer becomes an exception). */
	assert_tree("call a+10 y+16 @0\n"
		    "signal y+20 - @1\n"
		    "start - h+0 @2\n"
		    "ret h+20 r+0 @3\n"
		    "syscall r+7 - @4\n"
		    "start - y+80 @5\n"
		    "ret y+90 a+15 @6\n",
		    "a?!\n"
		    "  y\n"
		    "    [untraced]\n"
		    "    h\n"
		    "    r\n"
		    "      [syscall]\n");
	/* The method has a name: i and j are one way to it (an adapter), and d leads back by a jump. */
	assert_tree("call a+10 y+16 @0\n"
		    "jump y+20 i+0 @1\n"
		    "jump i+9 j+0 @2\n"
		    "ret j+20 y+25 @3\n"
		    "jump y+40 i+0 @4\n"
		    "jump i+9 j+0 @5\n"
		    "ret j+20 y+45 @6\n"
		    "jump y+60 d+0 @7\n"
		    "jump d+20 y+70 @8\n"
		    "jump y+80 j+0 @9\n"
		    "ret j+20 y+85 @10\n"
		    "ret y+90 a+15 @11\n",
		    "a?!\n  y\n    i\n    j\n    i\n    j\n    d\n    j\n");
	/*
	 * By way of an adapter, i, the interpreter calls a method that is open further out; that one calls
	 * its own stub, which leads to the interpreter by another adapter. Each goes back to who called it.
	 */
	symbols['i' - 'a'].role = SYMBOL_ADAPTER;
	assert_tree("call a+10 y+16 @0\n"
		    "jump y+20 i+0 @1\n"
		    "jump i+9 m+32 @2\n"
		    "call m+40 m+90 @3\n"
		    "jump m+94 i+63 @4\n"
		    "jump i+70 y+32 @5\n"
		    "jump y+40 i+0 @6\n"
		    "jump i+9 m+32 @7\n"
		    "call m+50 c+0 @8\n"
		    "ret c+9 m+55 @9\n"
		    "ret m+60 y+45 @10\n"
		    "jump y+50 m+45 @11\n"
		    "call m+50 c+0 @12\n"
		    "ret c+9 m+55 @13\n"
		    "ret m+60 y+25 @14\n"
		    "ret y+90 a+15 @15\n",
		    "a?!\n"
		    "  y\n"
		    "    i\n"
		    "    m\n"
		    "      i\n"
		    "      y\n"
		    "        i\n"
		    "        m\n"
		    "          c\n"
		    "      c\n");
	symbols['i' - 'a'].role = SYMBOL_PLAIN;
	symbols['y' - 'a'].is_region = symbols['z' - 'a'].is_region = false;
}

/* The unwinder returns to a landing pad of a: by its symbol. */
TEST(test_exception)
{
	assert_tree("start - a+0 @1\ncall a+4 b+0 @2\ncall b+4 c+0 @3\ncall c+4 u+0 @4\nret u+9 a+100 "
		    "@5\ncall a+120 d+0 @6\nret d+9 a+125 @7\n",
		    "a!\n  b\n    c\n      u\n  d\n");
}

TEST(test_call_next)
{
	assert_tree("start - a+0 @1\ncall a+4 a+9 @2\ncall a+20 b+0 @3\nret b+9 a+25 @4\n", "a!\n  b\n");
}

TEST(test_syscall)
{
	assert_tree("start - a+0 @1\ncall a+4 b+0 @2\nsyscall b+4 - @3\nstart - b+6 @9\nret b+9 a+9 "
		    "@10\nsyscall a+20 - @11\n",
		    "a!\n  b\n    [syscall]\n  [syscall]!\n");
}

/* In b a signal comes: its handler h calls, returns into the restorer r, which goes back to where b was. */
TEST(test_signal)
{
	assert_tree("start - a+0 @1\n"
		    "call a+4 b+0 @2\n"
		    "signal b+7 - @3\n"
		    "start - h+0 @5\n"
		    "call h+4 c+0 @6\n"
		    "ret c+9 h+9 @7\n"
		    "ret h+20 r+0 @8\n"
		    "syscall r+7 - @9\n"
		    "start - b+7 @10\n"
		    "ret b+9 a+9 @11\n"
		    "call a+20 d+0 @12\n",
		    "a!\n  b\n    [untraced]\n    h\n      c\n    r\n      [syscall]\n  d!\n");
}

/* The same at the first byte of a function, where a handler might begin as well; and once more at once. */
TEST(test_signal_at_first_byte)
{
	assert_tree("start - a+0 @1\n"
		    "call a+4 b+0 @2\n"
		    "signal b+0 - @3\n"
		    "start - h+0 @5\n"
		    "ret h+20 r+0 @8\n"
		    "syscall r+7 - @9\n"
		    "start - b+0 @10\n"
		    "signal b+0 - @10\n"
		    "start - h+0 @11\n"
		    "ret h+20 r+0 @12\n"
		    "syscall r+7 - @13\n"
		    "start - b+0 @14\n"
		    "ret b+9 a+9 @15\n"
		    "call a+20 d+0 @16\n",
		    "a!\n  b\n    [untraced]\n    h\n    r\n      [syscall]\n    [untraced]\n    h\n    r\n"
		    "      [syscall]\n  d!\n");
}

/* Signals that wait: each handler begins as the one before it ends, some at the first byte of another. */
TEST(test_signals_in_a_row)
{
	assert_tree("start - a+0 @1\n"
		    "syscall a+4 - @2\n"
		    "start - h+0 @3\n"
		    "signal h+0 - @4\n"
		    "start - h+0 @5\n"
		    "ret h+20 r+0 @6\n"
		    "syscall r+7 - @7\n"
		    "start - h+0 @8\n"
		    "signal h+0 - @9\n"
		    "start - i+0 @10\n"
		    "ret i+20 r+0 @11\n"
		    "syscall r+7 - @12\n"
		    "start - i+0 @13\n"
		    "ret i+20 r+0 @14\n"
		    "syscall r+7 - @15\n"
		    "start - h+0 @16\n"
		    "ret h+20 r+0 @17\n"
		    "syscall r+7 - @18\n"
		    "start - a+6 @19\n"
		    "call a+20 d+0 @20\n",
		    "a!\n  [syscall]\n  h\n    [untraced]\n  r\n    [syscall]\n  h\n    [untraced]\n    i\n  "
		    "  r\n"
		    "      [syscall]\n    i\n    r\n      [syscall]\n  r\n    [syscall]\n  d!\n");
}

/* What the trace ends with says nothing: no pause is shown. */
TEST(test_final_interrupt)
{
	assert_tree("start - a+0 @1\ncall a+4 b+0 @2\nsignal b+1 - @3\n", "a!\n  b!\n");
}

TEST(test_kernel)
{
	assert_tree("start - a+0 @1\ncall a+4 b+0 @2\n"
		    "kentry b+7 k+0 @3\ncall k+4 l+0 @4\nkentry l+9 i+0 @5\nkexit i+9 l+9 @6\nret l+20 k+9 "
		    "@7\nkexit k+20 b+7 @8\n"
		    "ret b+9 a+9 @9\ncall a+20 d+0 @10\n",
		    "a!\n  b\n    k\n      l\n        i\n  d!\n");
}

/*
 * Whether b was called or interrupted at its first byte nobody saw; what runs behind it is k's caller's, not
 * new.
 */
TEST(test_kernel_not_entered)
{
	assert_tree("call k+4 l+0 @1\nret l+9 k+9 @2\nkexit k+20 b+0 @3\ncall b+4 c+0 @4\nret c+9 b+9 @5\n",
		    "b?!\n  k?\n    l\n  c\n");
}

/* The kernel is not known: behind it b goes on, which it interrupted at its first byte. */
TEST(test_kernel_gap)
{
	assert_tree("start - a+0 @1\ncall a+4 b+0 @2\nkentry b+0 k+0 @3\ngap - - @4\nstart - b+0 @9\n"
		    "call b+4 c+0 @10\nret c+9 b+9 @11\nret b+20 a+9 @12\ncall a+20 d+0 @13\n",
		    "a!\n  b\n    k!\n    c\n  d!\n");
}

/* a calls b, and b c, each by calls into their own middle, and returns to addresses put on the stack. */
TEST(test_retpolines)
{
	assert_tree("start - a+0 @1\n"
		    "call a+40 a+20 @2\n" /* where b is to return to */
		    "call a+20 a+30 @3\n" /* overwritten with b's address */
		    "ret a+34 b+0 @4\n"
		    "call b+4 d+0 @5\nret d+9 b+9 @6\n"
		    "ret b+20 a+45 @7\n"
		    "call a+60 a+80 @8\n" /* a jump: nothing is below */
		    "ret a+84 c+0 @9\n"
		    "call c+4 d+0 @10\nret d+9 c+9 @11\n",
		    "a\n  b\n    d\nc!\n  d\n");
	/* a subroutine of a's own */
	assert_tree("start - a+0 @1\ncall a+4 a+50 @2\ncall a+54 d+0 @3\nret d+9 a+59 @4\nret a+70 a+9 "
		    "@5\ncall a+20 e+0 @6\n",
		    "a!\n  d\n  e!\n");
}

/* b puts an address of its own on the stack and returns to it. */
TEST(test_push_and_return)
{
	assert_tree("start - a+0 @1\ncall a+4 b+0 @2\nret b+20 b+60 @3\ncall b+64 c+0 @4\nret c+9 b+69 "
		    "@5\nret b+80 a+9 @6\n",
		    "a!\n  b\n    c\n");
}

TEST(test_gap)
{
	struct timeline *timeline = build("start - a+0 @1\ncall a+4 b+0 @2\ngap - - @5\ncall c+4 d+0 @6\n"
					  "ret d+9 c+9 @7\n");
	char text[1024];

	tree_text(&timeline->threads[0], text, sizeof(text));
	assert_string_equal(text, "a!\n  b!\nc?!\n  d\n");
	assert_int_equal(timeline->threads[0].slices[0].end_ns, 5);
	assert_int_equal(timeline->threads[0].slices[2].start_ns, 5);
	assert_int_equal(timeline->threads[0].instant_cnt, 1);
	assert_string_equal(timeline->threads[0].instants[0].text, "[gap: overflow]");
	assert_int_equal(timeline->threads[0].instants[0].time_ns, 5);
	timeline_free(timeline);
}

/* Three calls with one time stamp share the 100 ns up to the next. */
TEST(test_times_are_shared)
{
	static const uint64_t starts[] = {100, 133, 166, 200};
	struct timeline *timeline = build("start - a+0 @100\ncall a+4 b+0 @100\ncall b+4 c+0 @100\n"
					  "ret c+9 b+9 @100\ncall b+20 d+0 @200\n");

	assert_int_equal(timeline->threads[0].slice_cnt, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(timeline->threads[0].slices[i].start_ns, starts[i]);
	assert_int_equal(timeline->threads[0].slices[2].end_ns, 200);
	timeline_free(timeline);
}

/* An exec ends every call: the second program is not called by the first. */
static uint64_t space_at(void *ctx, uint64_t tsc)
{
	(void)ctx;
	return tsc >= 10;
}

TEST(test_exec)
{
	const struct stacks_config config = {
		.symbol_at = symbol_at, .time_ns = time_ns, .space_at = space_at};
	struct branch items[] = {parse_line("start - a+0 @1"), parse_line("call a+4 b+0 @2"),
				 parse_line("syscall b+4 - @3"), parse_line("start - z+0 @12"),
				 parse_line("call z+4 y+0 @13")};
	struct branch_list branches = {.items = items, .cnt = ARRAY_SIZE(items)};
	struct timeline *timeline = timeline_of(&config, &branches);
	char text[1024];

	tree_text(&timeline->threads[0], text, sizeof(text));
	assert_string_equal(text, "a!\n  b!\n    [syscall]!\nz!\n  y!\n");
	timeline_free(timeline);
}

/* ---- a random program, whose calls are known ---- */

enum { STEPS = 300, DEPTH_MAX = 40 };

struct truth {
	struct branch branches[2 * STEPS];
	size_t branch_cnt;
	char tree[STEPS * (2 * DEPTH_MAX + 8)];
	size_t tree_len;
};

struct live {
	unsigned int function, offset; /* where it is; its call returns to offset */
};

static uint64_t at(const struct live *live)
{
	return BASE + live->function * FUNCTION_BYTES + live->offset;
}

static void say(struct truth *truth, size_t depth, unsigned int function)
{
	truth->tree_len +=
		(size_t)snprintf(truth->tree + truth->tree_len, sizeof(truth->tree) - truth->tree_len,
				 "%*s%c\n", (int)(2 * depth), "", 'a' + function);
}

static void tell(struct truth *truth, enum branch_kind kind, uint64_t from, uint64_t to)
{
	struct branch branch = {.kind = (uint8_t)kind,
				.flags = kind == BRANCH_JUMP ? BRANCH_INDIRECT : 0,
				.from = from,
				.to = to,
				.from_len = 5,
				.tsc = truth->branch_cnt + 1};

	truth->branches[truth->branch_cnt++] = branch;
}

/* Calls, returns, tail calls and longjmps as a legal program does them. A function never calls or jumps to
 * one that is open: what a jump into the middle of such a one means cannot be known. */
static void generate(struct truth *truth)
{
	struct live stack[DEPTH_MAX] = {{0, 0}};
	size_t depth = 1;

	memset(truth, 0, sizeof(*truth));
	truth->branches[truth->branch_cnt++] =
		(struct branch){.flags = BRANCH_TRACE_START, .to = at(&stack[0]), .tsc = 1};
	say(truth, 0, 0);
	for (int i = 0; i < STEPS; i++) {
		struct live *top = &stack[depth - 1];
		unsigned int what = pick(10), callee = (unsigned int)depth % FUNCTIONS;

		top->offset += 1 + pick(3);
		if (top->offset > 200)
			what = 9;
		if (what < 5 && depth < DEPTH_MAX - 16 && depth < FUNCTIONS) {
			uint64_t from = at(top);

			top->offset += 5;
			stack[depth] = (struct live){callee, 0};
			tell(truth, BRANCH_CALL, from, at(&stack[depth]));
			say(truth, depth++, callee);
		} else if (what == 5 && depth > 3) {
			size_t target = pick((unsigned int)depth - 2) + 1;
			uint64_t from = at(top);

			stack[target - 1].offset += 1;
			tell(truth, BRANCH_JUMP, from, at(&stack[target - 1]));
			depth = target;
		} else if (depth > 1) {
			uint64_t from = at(top);

			depth--;
			tell(truth, BRANCH_RETURN, from, at(&stack[depth - 1]));
		} else if (top->offset > 200) {
			break;
		}
	}
}

TEST(test_random_programs)
{
	const struct stacks_config config = {.symbol_at = symbol_at, .time_ns = time_ns};
	static struct truth truth;
	static char text[sizeof(truth.tree)];

	for (uint64_t run = 1; run <= 3000; run++) {
		struct branch_list branches = {.items = truth.branches};
		struct timeline *timeline;

		random_state = run * 0x9e3779b97f4a7c15ull;
		generate(&truth);
		branches.cnt = truth.branch_cnt;
		timeline = timeline_of(&config, &branches);
		tree_text(&timeline->threads[0], text, sizeof(text));
		for (char *from = text, *to = text; (*to = *from); from++)
			to += *from != '!';
		if (strcmp(text, truth.tree))
			fail_msg("run %lu:\n%s\nexpected\n%s", (unsigned long)run, text, truth.tree);
		timeline_free(timeline);
	}
}

/* Any branches whatever: no crash, and a valid timeline. */
TEST(test_nonsense)
{
	const struct stacks_config config = {.symbol_at = symbol_at, .time_ns = time_ns};

	for (uint64_t run = 1; run <= 3000; run++) {
		struct branch items[200];
		struct branch_list branches = {.items = items, .cnt = ARRAY_SIZE(items)};
		uint64_t tsc = 1;

		random_state = run * 0x9e3779b97f4a7c15ull;
		for (size_t i = 0; i < ARRAY_SIZE(items); i++)
			items[i] =
				(struct branch){.kind = (uint8_t)pick(BRANCH_KIND_CNT),
						.flags = (uint8_t)(pick(4) ? 0 : pick(4)),
						.gap = (uint8_t)pick(GAP_CNT),
						.from = pick(9) ? BASE + pick(FUNCTIONS * FUNCTION_BYTES) : 0,
						.to = pick(9) ? BASE + pick(FUNCTIONS * FUNCTION_BYTES) : 0,
						.from_len = (uint8_t)pick(8),
						.tsc = tsc += pick(3)};
		timeline_free(timeline_of(&config, &branches));
	}
}

/* ---- code without a symbol ---- */

enum { UNKNOWN_SHIFT = 40 }; /* what is remembered by address has both in one place */

static const struct symbol unknown = {.name = "unknown", .object = "", .end = UINT64_MAX, .is_divided = true};

static const struct symbol *known_symbol_at(void *ctx, uint64_t ip, uint64_t tsc)
{
	return ip >> UNKNOWN_SHIFT ? &unknown : symbol_at(ctx, ip, tsc);
}

/* What stands for all code that is not known does not stand for what is. */
TEST(test_unknown)
{
	const struct stacks_config config = {.symbol_at = known_symbol_at, .time_ns = time_ns};
	const uint64_t b = BASE + FUNCTION_BYTES, nowhere = b + (1ull << UNKNOWN_SHIFT);
	struct branch items[] = {
		{.kind = BRANCH_CALL, .from = BASE, .from_len = 5, .to = nowhere, .tsc = 10},
		{.kind = BRANCH_RETURN, .from = nowhere, .from_len = 1, .to = BASE + 5, .tsc = 20},
		{.kind = BRANCH_CALL, .from = BASE, .from_len = 5, .to = b, .tsc = 30},
		{.kind = BRANCH_RETURN, .from = b, .from_len = 1, .to = BASE + 5, .tsc = 40},
	};
	const struct branch_list branches = {.items = items, .cnt = ARRAY_SIZE(items)};
	struct timeline_thread thread = {0};

	assert_ok(stacks_build(&config, &branches, &thread));
	assert_ok(timeline_thread_load(&thread));
	assert_int_equal(thread.slice_cnt, 3);
	assert_ptr_equal(thread.slices[0].symbol, &symbols[0]);
	assert_ptr_equal(thread.slices[1].symbol, &unknown);
	assert_ptr_equal(thread.slices[2].symbol, &symbols[1]);
	timeline_thread_release(&thread);
}

/* ---- long ones ---- */

enum { LONG = 300000, DEEP = 50 };

/* Calls and returns at random, from a stack of which nothing is known at first, with a gap now and then. */
static void long_walk(struct branch_list *branches)
{
	uint64_t stack[DEEP], state = 88172645463325252ull, at = BASE;
	size_t depth = DEEP / 2;

	for (size_t i = 0; i < DEEP; i++)
		stack[i] = BASE + i % FUNCTIONS * FUNCTION_BYTES + 9;
	for (size_t i = 0; i < LONG; i++) {
		uint64_t function = at - at % FUNCTION_BYTES;
		struct branch branch = {
			.kind = BRANCH_CALL, .from = function, .from_len = 5, .tsc = i / 3 * 100};

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		if (!(state % 50000)) {
			branch = (struct branch){.kind = BRANCH_GAP, .gap = GAP_OVERFLOW, .tsc = branch.tsc};
		} else if (depth && (depth == DEEP || state >> 20 & 1)) {
			branch.kind = BRANCH_RETURN;
			at = stack[--depth];
		} else {
			stack[depth++] = function + 5;
			at = BASE + (state >> 30) % FUNCTIONS * FUNCTION_BYTES;
		}
		branch.to = branch.kind == BRANCH_GAP ? 0 : at;
		assert_ok(ARRAY_PUSH(branches->items, branches->cnt, branches->cap, branch));
	}
}

/*
 * However much memory there is: calls are packed early, late, where two parts come together, or not at all.
 */
TEST(test_in_file)
{
	const struct stacks_config config = {.symbol_at = symbol_at, .time_ns = time_ns};
	enum { STEP = 3 << 20, MOST = 24 << 20 };
	struct timeline_thread in_memory = {0};
	struct branch_list branches = {0};

	long_walk(&branches);
	assert_ok(stacks_build(&config, &branches, &in_memory));
	assert_ok(timeline_thread_load(&in_memory));
	assert_true(in_memory.slice_cnt > LONG / 3);
	assert_true(in_memory.instant_cnt > 1);
	for (size_t memory = 0; memory <= MOST; memory += STEP) {
		struct timeline_thread other = {0};

		spill_set_memory(memory);
		assert_ok(stacks_build(&config, &branches, &other));
		assert_ok(timeline_thread_load(&other));
		assert_int_equal(other.slice_cnt, in_memory.slice_cnt);
		assert_memory_equal(other.slices, in_memory.slices,
				    in_memory.slice_cnt * sizeof(*in_memory.slices));
		timeline_thread_release(&other);
	}
	spill_set_memory(SPILL_MEMORY);
	timeline_thread_release(&in_memory);
	branch_list_release(&branches);
}

int main(void)
{
	symbols_init();
	return tests_run(NULL, NULL) || tests_run(without_memory, NULL);
}
