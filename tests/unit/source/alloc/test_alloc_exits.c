/* SPDX-License-Identifier: BSD-2-Clause */
/* The return instructions of functions that exceptions may pass, through what they jump to. */
#include "source/alloc/alloc_exits.h"

#include "unit/probe/fixture.h"

static const char source[] =
	".globl own, jumps, through_plt, unknown, fallback\n"
	".macro begin name\n .type \\name, @function\n \\name: .cfi_startproc\n .endm\n"
	".macro finish name\n .cfi_endproc\n .size \\name, . - \\name\n .endm\n"
	"begin own\n test %rdi, %rdi\n je 1f\n ret\n1: xor %eax, %eax\n ret\n finish own\n"
	"begin jumps\n test %rdi, %rdi\n je hidden\n ret\n finish jumps\n"
	"begin through_plt\n jmp fallback@plt\n finish through_plt\n"
	"begin unknown\n jmp *%rdi\n finish unknown\n"
	"begin hidden\n mov $1, %eax\n jmp hidden_too\n finish hidden\n"
	"begin hidden_too\n cmp $1, %eax\n je hidden\n ret\n finish hidden_too\n"
	"begin fallback\n ret\n finish fallback\n"
	".section .note.GNU-stack\n";

TEST(test_names)
{
	assert_true(alloc_exits_throws("_Znwm"));
	assert_true(alloc_exits_throws("_ZnamSt11align_val_t"));
	assert_true(alloc_exits_throws("tc_newarray"));
	assert_true(alloc_exits_throws("mi_new_n"));
	assert_false(alloc_exits_throws("_ZnwmRKSt9nothrow_t"));
	assert_false(alloc_exits_throws("mi_new_nothrow"));
	assert_false(alloc_exits_throws("_ZdlPv"));
	assert_false(alloc_exits_throws("malloc"));
}

TEST(test_returns)
{
	static const struct {
		const char *name;
		size_t cnt; /* with those before */
	} cases[] = {{"own", 2}, {"own", 2}, {"jumps", 4}, {"through_plt", 5}};
	CLEANUP(alloc_functions_release) struct alloc_functions functions = {0};
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;

	fixture_build("exits.s", source, "gcc -nostdlib -shared -o exits.so exits.s");
	assert_ok(elf_file_open(&file, "./exits.so"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_ok(alloc_exits_add(&functions, file, fixture_symbol("exits.so", cases[i].name)));
		assert_int_equal(functions.exit_cnt, cases[i].cnt);
	}
	for (size_t i = 0; i < functions.exit_cnt; i++)
		assert_int_equal(functions.exits[i].original[0], 0xc3);
	assert_err(alloc_exits_add(&functions, file, fixture_symbol("exits.so", "unknown")), -ENOTSUP,
		   "an unknown address");
}

TEST(test_who_calls)
{
	fixture_build("c.c", "#include <stdlib.h>\nint main(void) { free(malloc(1)); return 0; }\n",
		      "gcc -o c c.c");
	fixture_build("cc.cc", "#include <new>\nint main() { ::operator delete(::operator new(1)); }\n",
		      "g++ -o cc cc.cc");
	assert_false(alloc_exits_are_called("./c"));
	assert_true(alloc_exits_are_called("./cc"));
}

TEST_MAIN(fixture_enter, fixture_leave)
