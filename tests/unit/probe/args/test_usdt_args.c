/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/args/usdt_args.h"

#include "base/array.h"
#include "unit/probe/fixture.h"

static long read_memory(void *to, __u32 size, const void *address)
{
	if ((uint64_t)address < 4096)
		return -EFAULT;
	memcpy(to, address, size);
	return 0;
}

static struct elf_file *file;

static int parse(const char *text, struct usdt_arg *args, size_t cap, size_t *ret_cnt)
{
	struct elf_usdt usdt = {.provider = "p", .name = "n", .args = text, .addr = 0x1000};

	return usdt_args_parse(&usdt, file, args, cap, ret_cnt);
}

/* Memory that arguments are in, and registers that lead to it. */
static uint64_t words[4] = {0x1122334455667788, 0xfffffffffffffff0, 3, 4};
static __u64 regs[HIT_REG_CNT];

static void set_registers(void)
{
	for (uint64_t i = 0; i < HIT_REG_CNT; i++)
		regs[i] = 0xa0b0c0d0e0f0ff00 + i;
	regs[HIT_RBP] = (uint64_t)&words[1];
	regs[HIT_RDI] = (uint64_t)words;
	regs[HIT_RSI] = 2;
}

TEST(test_each_form_is_read)
{
	static const struct {
		const char *text;
		uint64_t value;
	} forms[] = {
		{"8@$5", 5},
		{"-4@$-9", (uint64_t)-9},
		{"4@$-9", 0xfffffff7},
		{"8@$0x7fffffffffffffff", INT64_MAX},
		{"8@%rax", 0xa0b0c0d0e0f0ff00 + HIT_RAX},
		{"4@%r15d", 0xe0f0ff00 + HIT_R15},
		{"-4@%ebx", 0xffffffffe0f0ff00 + HIT_RBX},
		{"-2@%dx", 0xffffffffffffff00 + HIT_RDX},
		{"1@%cl", HIT_RCX},
		{"1@%r9b", HIT_R9},
		{"8@(%rdi)", 0x1122334455667788},
		{"8@8(%rdi)", 0xfffffffffffffff0},
		{"8@-8(%rbp)", 0x1122334455667788},
		{"4@-8(%rbp)", 0x55667788},
		{"-1@-8(%rbp)", (uint64_t)-0x78},
		{"2@0x2(%rdi)", 0x5566},
		{"8@(%rdi,%rsi,8)", 3},
		{"8@8(%rdi,%rsi,8)", 4},
		{"8@-16(%rbp,%rsi,4)", 0x1122334455667788},
		{"8@24(%rdi)", 4},
		{"8@100", 0},
	};
	struct usdt_arg arg;
	size_t cnt;

	set_registers();
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		assert_ok(parse(forms[i].text, &arg, 1, &cnt));
		assert_int_equal(cnt, 1);
		if (usdt_arg_value(&arg, regs, read_memory) != forms[i].value)
			fail_msg("%s: %#lx", forms[i].text,
				 (unsigned long)usdt_arg_value(&arg, regs, read_memory));
	}
}

TEST(test_arguments_are_counted)
{
	struct usdt_arg args[3];
	size_t cnt;

	set_registers();
	assert_ok(parse(" 8@%rdi  -4@$-3 ", args, 3, &cnt));
	assert_int_equal(cnt, 2);
	assert_int_equal(usdt_arg_value(&args[1], regs, read_memory), (uint64_t)-3);
	assert_int_equal(args[2].kind, USDT_ARG_NONE);
	assert_int_equal(usdt_arg_value(&args[2], regs, read_memory), 0);
	assert_ok(parse("", args, 3, &cnt));
	assert_int_equal(cnt, 0);
	/* What is not asked for may be anything. */
	assert_ok(parse("8@%rdi 8f@%xmm0", args, 1, &cnt));
	assert_int_equal(cnt, 2);
}

TEST(test_what_is_no_integer_is_refused)
{
	static const char *const texts[] = {"8f@%xmm0", "16@%rax", "8@%ah",   "8@%",	    "8@$",
					    "8@",	"%rdi",	   "8@(%rdi", "8@(%rdi,4)", "8@(%rdi,%rsi,3)",
					    "8@%rdix",	"8@%fs:8", "3@%rax",  "8@8(%xmm0)"};
	struct usdt_arg arg;
	size_t cnt;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_err(parse(texts[i], &arg, 1, &cnt), -ENOTSUP,
			   "is no integer in a register or in memory");
	assert_err(parse("8@nowhere(%rip)", &arg, 1, &cnt), -ENOENT, "at nowhere, but");
}

int usdt_symbol_for_test[2] = {1, 77};

/* The probe would be at `at` in memory if it is at 0x1000 in the file. */
TEST(test_symbols_are_relative_to_the_probe)
{
	struct usdt_arg arg;
	uint64_t addr;
	size_t cnt;

	assert_ok(elf_file_find_data(file, "usdt_symbol_for_test", &addr));
	regs[HIT_RIP] = (uint64_t)usdt_symbol_for_test - addr + 0x1000;
	assert_ok(parse("-4@usdt_symbol_for_test+4(%rip)", &arg, 1, &cnt));
	assert_int_equal(usdt_arg_value(&arg, regs, read_memory), 77);
	assert_ok(parse("4@usdt_symbol_for_test", &arg, 1, &cnt));
	assert_int_equal(usdt_arg_value(&arg, regs, read_memory), 1);
}

/* How many arguments there are, all understood. */
static size_t check_library(const char *path)
{
	CLEANUP(elf_file_closep) struct elf_file *library = NULL;
	CLEANUP(elf_usdt_list_release) struct elf_usdt_list list = {0};
	struct usdt_arg args[12];
	size_t cnt, all = 0;

	assert_ok(elf_file_open(&library, path));
	assert_ok(elf_file_usdts(library, &list));
	for (size_t i = 0; i < list.cnt; i++) {
		assert_ok(usdt_args_parse(&list.items[i], library, args, ARRAY_SIZE(args), &cnt));
		assert_true(cnt && args[cnt - 1].kind != USDT_ARG_NONE);
		all += cnt;
	}
	return all;
}

TEST(test_those_of_libraries_are_understood)
{
	static const char *const names[] = {"libstdc++.so.6", "libpython3.11.so.1.0"};
	size_t found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		CLEANUP(freep) char *path = NULL;

		if (elf_library_find("/proc/self/exe", names[i], &path))
			continue;
		found++;
		assert_true(check_library(path) >= 6);
	}
	if (!found) {
		print_message("skipped: no library with probes is installed\n");
		skip();
	}
}

int main(void)
{
	int failed;

	assert_ok(elf_file_open(&file, "/proc/self/exe"));
	failed = tests_run(NULL, NULL);
	elf_file_close(file);
	return failed;
}
