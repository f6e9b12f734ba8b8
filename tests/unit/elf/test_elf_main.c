/* SPDX-License-Identifier: BSD-2-Clause */
/* Of a stripped program, main is where it was before. */
#include "fixture.h"

static void assert_main_is_found(const char *options)
{
	CLEANUP(elf_file_closep) struct elf_file *full = NULL;
	CLEANUP(elf_file_closep) struct elf_file *stripped = NULL;
	const struct elf_symbol *before, *after;
	char command[256];

	snprintf(command, sizeof(command), "gcc -O2 %s -o full main.c && strip -o stripped full", options);
	fixture_build("main.c",
		      "#include <stdio.h>\n"
		      "__attribute__((noinline)) int other(int a) { return printf(\"%d\", a); }\n"
		      "int main(int argc, char **argv) { return other(argc) + other(argv[0][0]); }\n",
		      command);
	full = fixture_open("full");
	stripped = fixture_open("stripped");
	before = fixture_find(full, "main");
	after = fixture_find(stripped, "main");
	assert_int_equal(after->addr, before->addr);
	assert_true(after->size >= before->size);
	assert_string_equal(fixture_name_at(stripped, before->addr + before->size - 1), "main");
	assert_string_not_equal(fixture_name_at(stripped, fixture_find(full, "other")->addr), "main");
	assert_true(after->is_guess);
	assert_false(before->is_guess);
}

TEST(is_found_by_start_up_code)
{
	assert_main_is_found("-pie -fPIE");
	assert_main_is_found("-no-pie");
	assert_main_is_found("-static");
	assert_main_is_found("-static-pie -fPIE");
	assert_main_is_found("-fcf-protection=full -pie -fPIE");
}

/* Start-up code of another kind gives none. */
TEST(is_not_invented)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;

	fixture_build(
		"start.s",
		".text\n.globl _start\n_start: xor %ebp, %ebp\nnop\nlea x(%rip), %rdi\ncall x\nx: ret\n",
		"gcc -nostdlib -static -s -o start start.s");
	file = fixture_open("start");
	assert_int_equal(elf_file_find(file, "main", NULL, 0), 0);
}

TEST_MAIN(fixture_enter, fixture_leave)
