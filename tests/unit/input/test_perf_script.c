/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines as perf script writes them, of several versions. */
#include "assertions.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

#include "input/perf_script.h"
#include "input/perf_script_line.h"

#define HEAD "10/11  7.000000123:  1  branches:uH: "

static void assert_text(struct script_text text, const char *expected)
{
	assert_int_equal(text.len, strlen(expected));
	assert_memory_equal(text.at, expected, text.len);
}

TEST(test_branch)
{
	struct script_line line;

	assert_true(script_line_parse(
		&line, HEAD
		"  call      4e10 main+0x10 (/bin/x) =>   4f00 std::f(int)+0x0 (/lib/a b.so (deleted))"));
	assert_int_equal(line.type, SCRIPT_HEADER);
	assert_int_equal(line.pid, 10);
	assert_int_equal(line.tid, 11);
	assert_int_equal(line.time_ns, 7000000123);
	assert_int_equal(line.period, 1);
	assert_text(line.event, "branches");
	assert_int_equal(line.branch.kind, BRANCH_CALL);
	assert_int_equal(line.branch.from, 0x4e10);
	assert_int_equal(line.branch.to, 0x4f00);
	assert_text(line.from.name, "main");
	assert_int_equal(line.from.offset, 0x10);
	assert_text(line.from.object, "/bin/x");
	assert_text(line.to.name, "std::f(int)");
	assert_text(line.to.object, "/lib/a b.so (deleted)");
}

/* Each kind of perf's, with the blanks that it pads with. */
TEST(test_kinds)
{
	static const struct {
		const char *words;
		enum branch_kind kind;
		unsigned int flags;
	} kinds[] = {
		{"return", BRANCH_RETURN, 0},
		{"jmp", BRANCH_JUMP, 0},
		{"jcc", BRANCH_COND, 0},
		{"jcc (x)", BRANCH_COND, 0},
		{"hw int", BRANCH_INTERRUPT, 0},
		{"iret", BRANCH_SYSRET, 0},
		{"tx abrt", BRANCH_TX_ABORT, 0},
		{"tr strt", BRANCH_NONE, BRANCH_TRACE_START},
		{"tr strt jmp", BRANCH_NONE, BRANCH_TRACE_START},
		{"tr strt tr end", BRANCH_NONE, 0},
		{"tr end", BRANCH_INTERRUPT, BRANCH_TRACE_END},
		{"tr end  async", BRANCH_INTERRUPT, BRANCH_TRACE_END},
		{"tr end  syscall", BRANCH_SYSCALL, BRANCH_TRACE_END},
		{"tr end  return", BRANCH_RETURN, BRANCH_TRACE_END},
		{"tr end  jcc", BRANCH_COND, BRANCH_TRACE_END},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct script_line line;
		char text[256];

		snprintf(text, sizeof(text), HEAD "%s  1000 f+0x0 (x) =>  2000 g+0x0 (x)", kinds[i].words);
		if (!script_line_parse(&line, text))
			fail_msg("not parsed: %s", text);
		assert_int_equal(line.branch.kind, kinds[i].kind);
		assert_int_equal(line.branch.flags, kinds[i].flags);
		assert_int_equal(line.branch.from, kinds[i].flags & BRANCH_TRACE_START ? 0 : 0x1000);
		assert_int_equal(line.branch.to, kinds[i].flags & BRANCH_TRACE_END ? 0 : 0x2000);
	}
}

/* Arrows in names; no symbol; fields that older commands did not ask for; times with fewer or more digits. */
TEST(test_odd_lines)
{
	struct script_line line;

	assert_true(script_line_parse(&line, HEAD "jmp 10 f => g+0x1 (x) =>  20 [unknown] ([unknown])"));
	assert_text(line.from.name, "f => g");
	assert_false(line.to.named);
	assert_text(line.to.object, "[unknown]");
	assert_true(script_line_parse(&line, " 1/2 3.5:   call  10 f+0x0 =>  20 g+0x0"));
	assert_int_equal(line.time_ns, 3500000000);
	assert_int_equal(line.branch.kind, BRANCH_CALL);
	assert_true(script_line_parse(
		&line, "1/2 3.0000000019: 1 branches:k:  call 10 f+0xffffffffffffffff (x) => 20 g+0x0 (x)"));
	assert_int_equal(line.time_ns, 3000000001);
}

TEST(test_other_lines)
{
	struct script_line line;

	assert_true(script_line_parse(&line, ""));
	assert_int_equal(line.type, SCRIPT_NOTHING);
	assert_true(script_line_parse(&line, "\t   417ab0 memmove@plt+0x0 (/x)"));
	assert_int_equal(line.type, SCRIPT_FRAME);
	assert_int_equal(line.from.ip, 0x417ab0);
	assert_true(script_line_parse(&line,
				      "1/1 2.3: 50 branch-misses/period=50/u: 0 7fca f+0x37 (/lib/ld.so)"));
	assert_text(line.event, "branch-misses");
	assert_int_equal(line.period, 50);
	assert_true(line.has_place);
	assert_int_equal(line.to.ip, 0x7fca);
	assert_true(script_line_parse(&line, "1/1 2.3: 1 cbr: cbr: 47 freq: 4706 MHz (162%) 0 7f f+0x1 (x)"));
	assert_text(line.event, "cbr");
	assert_true(script_line_parse(&line, " instruction trace error type 1 time 7.9 cpu -1 pid 5 tid 6 ip "
					     "0x7f code 7: Overflow packet"));
	assert_int_equal(line.type, SCRIPT_ERROR);
	assert_int_equal(line.tid, 6);
	assert_int_equal(line.time_ns, 7900000000);
	assert_text(line.message, "Overflow packet");
	assert_true(script_line_parse(&line,
				      " instruction trace error type 1 cpu 0 pid 5 tid 6 ip 0 code 2: No"));
	assert_false(line.has_time);
}

TEST(test_bad_lines)
{
	static const char *const bad[] = {
		"hello",
		"1/2",
		"1/2 3.4",
		"1 3.4: 1 branches: call 10 f+0x0 (x) => 20 g+0x0 (x)",
		HEAD "fly 10 f+0x0 (x) => 20 g+0x0 (x)",
		HEAD "call 10 f+0x0 (x)",
		HEAD "call f+0x0 (x) => g+0x0 (x)",
		" instruction trace error of some kind",
	};
	struct script_line line;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (script_line_parse(&line, bad[i]))
			fail_msg("parsed: %s", bad[i]);
}

/* ---- files ---- */

static char path[] = "/tmp/perf-script.XXXXXX";

static void write_file(const char *text)
{
	int fd = mkstemp(strcpy(path, "/tmp/perf-script.XXXXXX"));

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

TEST(test_file)
{
	struct perf_script *script;

	write_file("1/1 5.0: 50 branch-misses: 0 10 f+0x0 (x)\n" HEAD "call 10 f+0x0 (x) => 20 g+0x0 (x)\n"
		   "1/1 6.5: 1 cycles:u: \n\t 20 g+0x0 (x)\n\t 15 f+0x5 (x)\n\n"
		   " instruction trace error type 1 time 8.0 cpu 0 pid 10 tid 11 ip 0 code 7: Overflow "
		   "packet\n");
	assert_true(perf_script_is(path));
	assert_ok(perf_script_load(&script, path));
	assert_int_equal(script->first_ns, 5000000000);
	assert_int_equal(script->thread_cnt, 2);
	assert_int_equal(script->threads[0].sample_cnt, 1);
	assert_int_equal(script->threads[0].samples[0].cnt, 2);
	assert_int_equal(script->threads[0].samples[0].ips[1], 0x15);
	assert_int_equal(script->threads[1].branches.cnt, 3); /* the beginning, the call, the gap */
	assert_int_equal(script->threads[1].branches.items[2].gap, GAP_OVERFLOW);
	assert_string_equal(script->messages[0], "Overflow packet");
	assert_int_equal(script->count_cnt, 1);
	assert_int_equal(script->counts[0].period, 50);
	assert_ptr_equal(perf_script_symbol_at(script, 0x10), perf_script_symbol_at(script, 0x15));
	assert_string_equal(perf_script_symbol_at(script, 0x20)->name, "g");
	assert_string_equal(perf_script_symbol_at(script, 0x99)->name, "[unknown]");
	perf_script_free(script);
	unlink(path);
}

TEST(test_bad_file)
{
	struct perf_script *script;

	assert_err(perf_script_load(&script, "/nowhere/at/all"), -ENOENT, "/nowhere/at/all");
	write_file(HEAD "call 10 f+0x0 (x) => 20 g+0x0 (x)\n\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\n");
	assert_true(perf_script_is(path));
	assert_err(perf_script_load(&script, path), -EBADMSG, "not what perf script");
	unlink(path);
	write_file("\n# nothing\n");
	assert_err(perf_script_load(&script, path), -EBADMSG, "no event");
	unlink(path);
	write_file("PERFILE2 is no text");
	assert_false(perf_script_is(path));
	unlink(path);
}

/* A kind of branch that a later perf may have: a gap in its thread. */
TEST(test_line_of_tomorrow)
{
	struct perf_script *script;

	write_file(HEAD "call 10 f+0x0 (x) => 20 g+0x0 (x)\n" HEAD "fly 20 g+0x0 (x) => 30 h+0x0 (x)\n");
	assert_ok(perf_script_load(&script, path));
	assert_int_equal(script->thread_cnt, 1);
	assert_int_equal(script->threads[0].branches.cnt, 3);
	assert_int_equal(script->threads[0].branches.items[2].kind, BRANCH_GAP);
	assert_string_equal(script->messages[0], "a line of perf script is not understood");
	perf_script_free(script);
	unlink(path);
}

TEST_MAIN(NULL, NULL)
