/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions are judged by the kernel, on calls of a function of this very program; what is expected comes
 * from the compiler, which is given the same text as C. Where probes are not permitted these tests are
 * skipped; the messages are tested everywhere.
 */
#include "condition/condition.h"

#include <linux/bpf.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "assertions.h"
#include "process/cgroup.h"
#include "trigger/trigger.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int32_t s32;

/* What the texts below are about, as C sees it. */
static long arg0, arg1, arg2, arg3, arg4, arg5;

/* Not static: it must not be specialised. */
long condition_target(long a, long b, long c, long d, long e, long f);
long __attribute__((noinline)) condition_target(long a, long b, long c, long d, long e, long f)
{
	__asm__ volatile("" ::"r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
	return a * 2;
}

static int see(void *ctx, struct trigger_hit *hit)
{
	*(struct caught_hit *)ctx = hit->caught;
	return 0;
}

/* Calls the function once under the rule; 1: a hit, in *ret_hit; 0: none. */
static int judge_rule(struct trigger *trigger, struct caught_hit *ret_hit, struct trigger_counts *ret_counts)
{
	struct trigger_config config = {.triggers = trigger, .trigger_cnt = 1, .pid = getpid()};
	struct trigger_set *set;
	int cnt, err = trigger_set_attach(&set, &config);

	if (err == -EPERM) {
		printf("skipped: %s\n", fail_message(err));
		skip();
	}
	assert_ok(err);
	condition_target(arg0, arg1, arg2, arg3, arg4, arg5);
	cnt = trigger_set_read(set, see, ret_hit);
	*ret_counts = trigger_set_counts(set, 0);
	trigger_set_free(set);
	return cnt;
}

static int judge(const char *text, struct caught_hit *ret_hit, struct trigger_counts *ret_counts)
{
	struct trigger trigger;
	int cnt;

	assert_ok(trigger_resolve(&trigger, "condition_target", "/proc/self/exe", HIT_RECORD));
	assert_ok(condition_parse(&trigger.rule.condition, text));
	assert_ok(trigger_apply_rule(&trigger));
	cnt = judge_rule(&trigger, ret_hit, ret_counts);
	trigger_release(&trigger);
	return cnt;
}

static void check(const char *text, bool expected)
{
	struct trigger_counts counts;
	struct caught_hit hit;
	int cnt = judge(text, &hit, &counts);

	if (cnt != expected)
		fail_msg("'%s' is %s, not %s", text, cnt ? "true" : "false", expected ? "true" : "false");
	assert_int_equal(counts.unreadable, 0);
}

#define CHECK(condition) check(#condition, (condition) != 0)

static void set_args(long a, long b, long c, long d, long e, long f)
{
	arg0 = a;
	arg1 = b;
	arg2 = c;
	arg3 = d;
	arg4 = e;
	arg5 = f;
}

/* `place` is the part of the text that the mark must stand under; "": its end. */
static void refuse(const char *text, const char *place, const char *sentence)
{
	struct condition *condition;
	char mark[256];

	assert_err(condition_parse(&condition, text), -EINVAL, sentence);
	snprintf(mark, sizeof(mark), "\n  %s\n  %*s^", text,
		 (int)((*place ? strstr(text, place) : text + strlen(text)) - text), "");
	assert_non_null(strstr(fail_message(-EINVAL), mark));
}

TEST(test_values)
{
	set_args(5000, 3, -7, 0x123456789abcdef0, 'x', 0);
	CHECK(arg0 > 4096 && arg1 == 3);
	CHECK(arg0 > 4096 && arg1 == 4);
	CHECK(arg0 < 4096 || arg1 == 3);
	CHECK(arg0 < 4096 || arg1 == 4);
	CHECK(arg2 < 0);
	CHECK(arg2 >= 0);
	CHECK((u64)arg2 > 0);
	CHECK(arg2 == -7);
	CHECK(arg3 == 0x123456789abcdef0);
	CHECK((u32)arg3 == 0x9abcdef0);
	CHECK((int)arg3 < 0);
	CHECK((u8)arg3 == 0xf0);
	CHECK((s8)arg3 == -16);
	CHECK((unsigned short)arg3 == 0xdef0);
	CHECK((long)arg3 > 0xffffffff);
	CHECK(arg4 == 'x');
	CHECK(!arg5);
	CHECK(!arg0);
	CHECK(arg5);
	CHECK(0x10 + arg0 == 5016);
}

TEST(test_operators)
{
	set_args(100, 7, -3, 0xff00, 1, 0);
	CHECK(arg0 % 10 == 0 && arg0 / 7 == 14);
	CHECK(arg0 + arg1 * 2 == 114);
	CHECK((arg0 + arg1) * 2 == 214);
	CHECK(arg0 - arg1 - 3 == 90);
	CHECK(arg0 - (arg1 - 3) == 96);
	CHECK((arg3 & 0xf0ff) == 0xf000);
	CHECK((arg3 | 1) == 0xff01);
	CHECK((arg3 ^ 0xffff) == 0xff);
	CHECK(arg1 << 3 == 56);
	CHECK(arg2 >> 1 == -2);
	CHECK((u64)arg2 >> 60 == 15);
	CHECK(~arg1 == -8);
	CHECK(-arg2 == 3);
	CHECK(- - -arg2 == 3);
	CHECK(arg1 <= 7 && arg1 >= 7 && arg1 != 8);
	CHECK(arg1 < 7 || arg1 > 7);
	CHECK(!(arg1 < 7) == !0);
	CHECK((arg0 > arg1) + (arg1 > arg0) == 1);
	check("arg4 || arg5 && arg5", true);
	CHECK((arg4 || arg5) && arg5);
	CHECK(((((((((arg0 + 1) * 2 + arg1) * 2 + arg1) * 2) + arg1) * 2 + arg1) - arg1 * 2) ^
	       (arg0 + (arg1 + (arg2 + arg3)))) > 3000);
}

TEST(test_memory)
{
	static struct {
		long a;
		int b[4];
		signed char c;
		const char *name;
	} object = {-1, {10, -20, 30, 40}, -5, "GET /index.html"};
	static void *pointers[] = {&object, &object.b[2]};

	set_args((long)&object, (long)pointers, (long)object.name, 0, 8, 1);
	CHECK(*(long *)arg0 == -1);
	CHECK(*(u64 *)arg0 == 0xffffffffffffffff);
	CHECK(*(int *)(arg0 + 8) == 10);
	CHECK(*(int *)(arg0 + 12) == -20);
	CHECK(*(u32 *)(arg0 + 12) > 0x7fffffff);
	CHECK(((int *)arg0)[4] == 30);
	CHECK(((int *)arg0)[arg5 + 3] == -20);
	CHECK(*((int *)arg0 + 5) == 40);
	CHECK(*(s8 *)(arg0 + 24) == -5);
	CHECK(*(unsigned char *)(arg0 + 24) == 251);
	CHECK(**(int **)(arg1 + 8) == 30);
	CHECK(*(int *)(*(long *)arg1 + arg4) == 10);
	CHECK(((long **)arg1)[0][0] == -1);
	CHECK(arg3 && *(int *)arg3 == 1);
	check("*arg0 == -1", true);
	check("arg0[0] == -1", true);
	check("arg1[1] == 0", false);
	check("str(arg2) == \"GET /index.html\"", true);
	check("str(arg2) == \"GET /index.htm\"", false);
	check("str(arg2) == \"GET /index.html2\"", false);
	check("str(arg2) != \"GET /index.html2\"", true);
	check("str(arg2) == \"GET *\"", true);
	check("str(arg2) == \"PUT *\"", false);
	check("str(arg2) == \"GET /index.html*\"", true);
	check("str(arg2) == \"*\"", true);
	check("str(*(char **)(arg0 + 32)) == \"GET /i*\" && arg5 == 1", true);
}

TEST(test_unreadable)
{
	struct trigger_counts counts;
	struct caught_hit hit;

	set_args(0, 1, 2, 3, 4, 5);
	assert_int_equal(judge("*(int *)arg0 == 0", &hit, &counts), 0);
	assert_int_equal(counts.unreadable, 1);
	assert_int_equal(judge("!(*(int *)arg0 == 0)", &hit, &counts), 0);
	assert_int_equal(counts.unreadable, 1);
	assert_int_equal(judge("str(arg1) != \"x\"", &hit, &counts), 0);
	assert_int_equal(counts.unreadable, 1);
	assert_int_equal(judge("arg1 == 1 || *(int *)arg0 == 0", &hit, &counts), 1);
	assert_int_equal(counts.unreadable, 0);
	assert_int_equal(counts.passed, 1);
}

TEST(test_who)
{
	char text[128], comm[16];

	set_args(0, 1, 2, 3, 4, 5);
	snprintf(text, sizeof(text), "pid == %d && tid == %ld", getpid(), syscall(SYS_gettid));
	check(text, true);
	snprintf(text, sizeof(text), "pid == %d", getpid() + 1);
	check(text, false);
	assert_int_equal(prctl(PR_GET_NAME, comm), 0);
	snprintf(text, sizeof(text), "comm == \"%s\"", comm);
	check(text, true);
	check("comm == \"test*\" && comm != \"tes\"", true);
	check("comm == \"xx*\"", false);
	check("cpu < 4096", true);
}

TEST(test_cgroup)
{
	uint64_t id;
	int level;

	if (cgroup_find("/", 1, &id, &level)) {
		printf("skipped: %s\n", fail_message(-ENOENT));
		skip();
	}
	assert_int_equal(level, 0);
	check("cgroup == \"/\"", true);
	check("cgroup != \"/\"", false);
	check("cgroup == 0", false);
	check("cgroup > 0", true);
	refuse("cgroup == \"/no/such/group\"", "/no", "there is no cgroup");
}

TEST(test_registers)
{
	set_args(-2, 1, 2, 3, 4, 0x1ffffffff);
	check("rdi == -2 && edi == -2 && $rsi == 1 && %rdx==2 && rcx == 3 && r8 == 4", true);
	check("r9 == 0x1ffffffff && r9d == -1", true);
	check("rip == arg0", false);
	check("rsp > 4k && 3%rsi == 0", true);
}

TEST(test_return)
{
	struct trigger_counts counts;
	struct caught_hit hit;

	set_args(21, 1, 2, 3, 4, 5);
	check("ret == 42", true);
	check("ret == 43", false);
	check("ret == arg0 * 2 && arg5 == 5", true);
	check("elapsed < 100s && elapsed > 0", true);
	check("elapsed > 100s", false);
	assert_int_equal(judge("ret == 42", &hit, &counts), 1);
	assert_int_equal(hit.hit.action, HIT_RETURN);
	assert_int_equal(hit.args[0], 21);
	assert_int_equal(hit.args[5], 5);
	assert_int_equal(hit.regs[HIT_RAX], 42);
	assert_true(hit.hit.begin_ns < hit.hit.time_ns);
	assert_int_equal(judge("arg0 == 21", &hit, &counts), 1);
	assert_int_equal(hit.hit.action, HIT_RECORD);
	assert_int_equal(hit.args[0], 21);
	assert_true(hit.hit.begin_ns == hit.hit.time_ns);
}

/* ---- what is refused ---- */

TEST(test_refused)
{
	struct condition *condition;
	char deep[1024] = "", long_text[5000];

	refuse("arg0 >", "", "a value is missing");
	refuse("arg0 = 3", "= 3", "write '=='");
	refuse("arg0 == 3 arg1", "arg1", "an operator");
	refuse("(arg0 == 3", "", "')' is missing");
	refuse("arg0 == 3)", ")", "an operator");
	refuse("1 < arg0 < 5", "< 5", "cannot be chained");
	refuse("arg0 == 5 parsecs", "parsecs", "an operator");
	refuse("arg0 == 5parsecs", "parsecs", "no unit");
	refuse("arg0 == 99999999999999999999", "9999", "64 bits");
	refuse("arg0 == 18446744073709551615k", "184", "64 bits");
	refuse("comm == nginx", "nginx", "double quotes");
	refuse("comm > \"x\"", "> \"", "only be compared");
	refuse("comm == \"longer than fifteen\"", "longer", "at most 15");
	refuse("arg0 == \"x\"", "x\"", "belongs only after");
	refuse("str(arg0) == \"x", "\"x", "closing quote");
	refuse("arg0 @ 3", "@", "does not belong");
	refuse("arg0 == 'xy'", "'xy", "a character");
	refuse("*(struct foo *)arg0 == 1", "struct", "not a type");
	refuse("*(int foo *)arg0 == 1", "foo", "not a type");
	refuse("", "", "a value is missing");
	for (int i = 0; i < 100; i++)
		strcat(deep, "(");
	assert_err(condition_parse(&condition, deep), -EINVAL, "too deeply");
	memset(long_text, '1', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	assert_err(condition_parse(&condition, long_text), -EINVAL, "too long");
}

TEST(test_too_deep_for_bpf)
{
	struct condition *condition;
	struct bpf_insn *insns;
	char text[1024] = "";
	size_t cnt;

	for (int i = 0; i < 30; i++)
		strcat(text, "arg0 + (");
	strcat(text, "arg0");
	for (int i = 0; i < 30; i++)
		strcat(text, ")");
	assert_ok(condition_parse(&condition, text));
	assert_err(condition_emit(&(struct condition_code){.condition = condition}, &insns, &cnt), -EINVAL,
		   "too large");
	condition_free(condition);
}

/* ---- the other rules ---- */

TEST(test_rules)
{
	struct trigger_counts counts;
	struct trigger trigger;
	struct caught_hit hit;

	set_args(1, 2, 3, 4, 5, 6);
	assert_ok(trigger_resolve(&trigger, "condition_target", "/proc/self/exe", HIT_RECORD));
	trigger.rule.slower_than_ns = 100000000000ull;
	assert_ok(trigger_apply_rule(&trigger));
	assert_int_equal(judge_rule(&trigger, &hit, &counts), 0);
	assert_int_equal(counts.without_call, 0);
	trigger.rule.slower_than_ns = 1;
	assert_int_equal(judge_rule(&trigger, &hit, &counts), 1);
	assert_int_equal(hit.args[3], 4);
	trigger.rule.skip = 1;
	assert_int_equal(judge_rule(&trigger, &hit, &counts), 0);
	assert_int_equal(counts.passed, 1);
	trigger_release(&trigger);
}

TEST_MAIN(NULL, NULL)
