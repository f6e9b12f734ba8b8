/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What goes on behind a gap or a switch, ranges, recorded callers, inlined calls: in the little language of
 * test_stacks.c.
 */
#include "assertions.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "timeline/range.h"
#include "unit/stacks/functions.h"

static uint64_t place(char function, unsigned int offset)
{
	return BASE + (uint64_t)(function - 'a') * FUNCTION_BYTES + offset;
}

/* Everything at offset 200 and beyond handles what is called at offsets from 100 on. */
static enum landing landing(void *ctx, uint64_t call_ip, uint64_t handler, uint64_t tsc)
{
	(void)ctx;
	(void)tsc;
	if ((handler - BASE) % FUNCTION_BYTES < 200)
		return LANDING_UNKNOWN;
	return !call_ip || (call_ip - BASE) % FUNCTION_BYTES >= 100 ? LANDING_YES : LANDING_NO;
}

static struct stacks_config config = {.symbol_at = symbol_at, .time_ns = time_ns, .landing = landing};

/* "call a4 b0" */
static struct branch parse_line(const char *lines, uint64_t tsc)
{
	char line[64] = "", word[16], from, to;
	unsigned int from_offset, to_offset;
	struct branch branch;
	int cnt;

	memcpy(line, lines, strcspn(lines, "\n"));
	cnt = sscanf(line, "%15s %c%u %c%u", word, &from, &from_offset, &to, &to_offset);
	branch = branch_of(word);
	branch.from_len = 5;
	branch.gap = GAP_OVERFLOW;
	branch.tsc = tsc;
	if (cnt >= 3 && branch.flags == BRANCH_TRACE_START)
		branch.to = place(from, from_offset);
	else if (cnt >= 3)
		branch.from = place(from, from_offset);
	if (cnt == 5)
		branch.to = place(to, to_offset);
	return branch;
}

static struct timeline *build(const char *text)
{
	struct branch_list branches = {0};
	struct timeline *timeline;

	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		struct branch branch = parse_line(line, 10 * branches.cnt + 10);

		assert_ok(ARRAY_PUSH(branches.items, branches.cnt, branches.cap, branch));
	}
	timeline = timeline_of(&config, &branches);
	branch_list_release(&branches);
	return timeline;
}

/* "a?!20-30": inferred, open at the end, from 20 to 30 */
static void describe(const struct timeline *timeline, char *text, size_t size)
{
	const struct timeline_thread *thread = timeline->threads;
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < thread->slice_cnt; i++) {
		const struct slice *slice = &thread->slices[i];

		len += (size_t)snprintf(
			text + len, size - len, "%*s%s%s%s%s %lu-%lu\n", (int)(2 * slice->depth), "",
			slice_name(slice), slice->flags & SLICE_INFERRED_START ? "?" : "",
			slice->flags & SLICE_OPEN_END ? "!" : "", slice->flags & SLICE_INLINED ? "=" : "",
			slice->start_ns, slice->end_ns);
	}
}

static void assert_timeline(struct timeline *timeline, const char *expected)
{
	char text[4096];

	describe(timeline, text, sizeof(text));
	assert_string_equal(text, expected);
	timeline_free(timeline);
}

/* ---- gaps ---- */

/* b called d in the gap; it returns to b, then b to a, where a had called it. */
TEST(test_verified)
{
	assert_timeline(build("start a0\ncall a4 b0\ncall b4 c0\ngap\nret d9 b20\nret b30 a9\n"),
			"a! 10-60\n  b 20-60\n    c! 30-40\n    d? 40-50\n");
	assert_timeline(build("start a0\ncall a4 b0\ncall b4 c0\ngap\ncall c4 d0\nret d9 c9\nret c12 b9\n"),
			"a! 10-70\n  b! 20-70\n    c 30-70\n      d 50-60\n");
}

/* The return leads elsewhere than where a called b: another call of b. */
TEST(test_rejected)
{
	assert_timeline(build("start a0\ncall a4 b0\ngap\nret b30 a29\ncall a40 c0\n"),
			"a! 10-50\n  b! 20-30\n  b? 30-40\n  c! 50-50\n");
	/* Below what was called in the gap nothing is verified. */
	assert_timeline(build("start a0\ncall a4 b0\ngap\nret d9 b20\n"),
			"a! 10-30\n  b! 20-30\nb?! 30-40\n  d? 30-40\n");
}

/* Which of a recursion's frames goes on is only known from the return to another function. */
TEST(test_recursion)
{
	assert_timeline(build("start a0\ncall a4 b0\ncall b4 b0\ncall b4 b0\ngap\nret b30 b9\nret b30 a9\n"),
			"a! 10-70\n  b 20-70\n    b 30-60\n      b! 40-50\n");
	assert_timeline(build("start a0\ncall a4 b0\ncall b4 b0\ngap\ncall b50 c0\n"),
			"a! 10-40\n  b! 20-40\n    b! 30-40\nb?! 40-50\n  c! 50-50\n");
}

/* Callers found late are callers of all that was stitched. */
TEST(test_late_callers)
{
	assert_timeline(build("call c4 d0\nret d9 c9\ngap\nret c30 b9\nret b30 a9\n"),
			"a?! 10-50\n  b? 10-50\n    c? 10-40\n      d 10-20\n");
}

/* Two gaps: between them nothing is returned to that was known before; behind them it is. */
TEST(test_joined_later)
{
	assert_timeline(build("start a0\ncall a4 b0\ngap\nret d9 c20\ngap\nret c30 b9\nret b30 a9\n"),
			"a! 10-70\n  b 20-70\n    c? 30-60\n      d? 30-40\n");
}

TEST(test_gaps_on_end)
{
	assert_timeline(build("start a0\ncall a4 b0\ngap\ngap\nret b30 a9\n"), "a! 10-50\n  b 20-50\n");
}

/*
 * A handler below all that is known ends the segment; one that the frames before a gap have does not, once a
 * return has shown that they go on.
 */
TEST(test_exceptions)
{
	assert_timeline(build("call c4 d0\njump d9 a200\ncall a210 e0\n"),
			"c?! 10-20\n  d! 10-20\na?! 20-30\n  e! 30-30\n");
	assert_timeline(build("start a0\ncall a104 b0\ncall b4 c0\ngap\nret c30 b9\njump b40 a200\n"),
			"a! 10-60\n  b 20-60\n    c 30-50\n");
	/* The inner a is called where exceptions are not handled. */
	assert_timeline(build("start a0\ncall a104 b0\ncall b4 a0\ncall a4 c0\njump c9 a200\n"),
			"a! 10-50\n  b 20-50\n    a 30-50\n      c 40-50\n");
}

/* ---- the kernel, filters, transactions ---- */

/* A fault in an interrupt; the iret of the fault returns past two frames, that of the interrupt to user
 * code past all. (A kernel address is one of the upper half: here all are user addresses, so each entry
 * is told by where it came from.) */
TEST(test_nested_interrupts)
{
	assert_timeline(build("start a0\ncall a4 b0\nkentry b8 k0\ncall k4 l0\nkexit l9 b8\nret b12 a9\n"),
			"a! 10-60\n  b 20-60\n    k 30-50\n      l 40-50\n");
	/* The entry was not seen: all that is open is the kernel's. */
	assert_timeline(build("call k4 l0\nkexit l9 b8\nret b12 a9\n"),
			"a?! 10-30\n  b? 10-30\n    k? 10-20\n      l 10-20\n");
}

/* Only some functions are traced: f calls out, is called back in g, and returns out. */
TEST(test_filtered)
{
	assert_timeline(build("start f0\ncallend f4\nstart g0\nretend g9\nstart f9\nretend f12\n"),
			"f 10-60\n  [untraced] 20-30\n  g 30-40\n  [untraced] 40-50\n");
}

/* What was called in a transaction is over when it aborts; so is nothing when a restartable sequence does. */
TEST(test_aborts)
{
	assert_timeline(build("start a0\ncall a4 b0\ncall b4 c0\nabort c9 a50\ncall a60 d0\n"),
			"a! 10-50\n  b 20-40\n    c 30-40\n  d! 50-50\n");
	assert_timeline(build("start a0\ncall a4 b0\nsignal b10\nstart b40\nret b50 a9\n"),
			"a! 10-50\n  b 20-50\n    [untraced] 30-40\n");
}

/* ---- other stacks ---- */

TEST(test_coroutines)
{
	/*
	 * a resumes g, which yields in h; a goes on, resumes again: h goes on, and returns to g, which called
	 * it.
	 */
	assert_timeline(build("start a0\ncall a4 s0\nret s9 g0\ncall g4 h0\ncall h4 s0\nret s9 a9\n"
			      "call a14 s0\nret s9 h9\nret h12 g9\n"),
			"a! 10-30\n  s! 20-30\n"
			"g! 30-60\n  h! 40-60\n    s! 50-60\n"
			"a! 60-80\n  s! 70-80\n"
			"g?! 80-90\n  h 80-90\n");
}

/* f is too small a stack, morestack makes another, and f begins again, in the same caller. */
TEST(test_go_stack_growth)
{
	assert_timeline(build("start a0\ncall a4 f0\ncall f4 m0\ncall m4 s0\njump s9 f0\nret f30 a9\n"),
			"a! 10-60\n  f 20-50\n    m 30-50\n      s 40-50\n  f 50-60\n");
}

/* ---- callers that a hit recorded ---- */

TEST(test_known_callers)
{
	uint64_t ips[] = {place('d', 0), place('c', 9), place('b', 9), place('a', 9)};
	struct known_stack known = {.tsc = 21, .ips = ips, .cnt = ARRAY_SIZE(ips)};

	config.known = &known;
	config.known_cnt = 1;
	assert_timeline(build("ret e9 c2\ncall c4 d0\n"),
			"a?! 10-20\n  b?! 10-20\n    c?! 10-20\n      e? 10-10\n      d! 20-20\n");
	/* It does not fit what the trace has seen: no caller is taken from it. */
	assert_timeline(build("ret e9 f2\ncall f4 d0\n"), "f?! 10-20\n  e? 10-10\n  d! 20-20\n");
	config.known = NULL;
	config.known_cnt = 0;
}

/* ---- ranges ---- */

TEST(test_ranges)
{
	static const char *const text =
		"start a0\ncall a4 b0\nret b9 a9\ncall a20 c0\ncall c4 d0\nret d9 c9\nret c12 a25\n"
		"call a30 b0\ncall b4 d0\n";
	struct timeline *timeline = build(text);

	assert_int_equal(timeline_keep_between(timeline, "b", "d"), 2);
	assert_true(timeline_is_valid(timeline));
	assert_timeline(timeline, "a?! 20-50\n  b 20-30\n  c! 40-50\na?! 80-90\n  b! 80-90\n");
	timeline = build(text);
	assert_int_equal(timeline_keep_between(timeline, "d", "x"), 0);
	assert_int_equal(timeline->threads->slice_cnt, 6);
	timeline_free(timeline);
}

/* ---- inlined calls ---- */

TEST(test_inlined)
{
	struct timeline *timeline;

	config.inlines_at = inlines_at;
	/* Straight through f to g, a call from there; back, and out of both. */
	timeline = build("start a0\ncall a32 b0\nret b9 a37\njump a70 c0\n");
	config.inlines_at = NULL;
	for (size_t i = 0; i < timeline->threads->slice_cnt; i++)
		timeline->threads->slices[i].start_ns = timeline->threads->slices[i].end_ns = 0;
	assert_timeline(timeline, "a 0-0\n  f= 0-0\n    g= 0-0\n      b 0-0\nc! 0-0\n");
}

int main(void)
{
	symbols_init();
	symbols['s' - 'a'].role = SYMBOL_SWITCH; /* it moves to another stack */
	symbols['m' - 'a'].role = SYMBOL_GO_MORESTACK;
	return tests_run(NULL, NULL) || tests_run(without_memory, NULL);
}
