/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"
#include "model/inlines.h"

/*
 * _start of 16 bytes; the first call inlined in it has 4 to 8, and the one inlined in that 6 to 12, as
 * optimizing compilers leave them.
 */
static const char source[] = ".globl _start\n.type _start, @function\n_start: .fill 16, 1, 0x90\nend:\n"
			     ".size _start, 16\n"
			     ".section .debug_abbrev, \"\", @progbits\n"
			     /* unit, function: low_pc, high_pc; inlined: name, low_pc, high_pc */
			     ".byte 1, 0x11, 1, 0x11, 1, 0x12, 1, 0, 0\n"
			     ".byte 2, 0x2e, 1, 0x11, 1, 0x12, 1, 0, 0\n"
			     ".byte 3, 0x1d, 1, 3, 8, 0x11, 1, 0x12, 1, 0, 0\n"
			     ".byte 0\n"
			     ".section .debug_info, \"\", @progbits\n"
			     ".long 2f - 1f\n1: .value 4\n.long .debug_abbrev\n.byte 8\n"
			     ".byte 1\n.quad _start, end\n"
			     ".byte 2\n.quad _start, end\n"
			     ".byte 3\n.asciz \"outer\"\n.quad _start + 4, _start + 8\n"
			     ".byte 3\n.asciz \"inner\"\n.quad _start + 6, _start + 12\n"
			     ".byte 0, 0, 0, 0\n2:\n";

static void assert_inlined(struct elf_file *file, uint64_t offset, const char *outer, const char *inner)
{
	uint64_t start = fixture_find(file, "_start")->addr;
	const struct inline_chain *chain = elf_file_inlines_at(file, start + offset);

	assert_non_null(chain);
	assert_int_equal(chain->cnt, !!outer + !!inner);
	if (outer)
		assert_string_equal(chain->symbols[0]->name, outer);
	if (inner)
		assert_string_equal(chain->symbols[chain->cnt - 1]->name, inner);
}

TEST(test_inner_call_ends_behind_the_outer_one)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;

	fixture_build("i.s", source, "gcc -nostdlib -static -o i i.s");
	file = fixture_open("i");
	assert_inlined(file, 0, NULL, NULL);
	assert_inlined(file, 4, "outer", NULL);
	assert_inlined(file, 6, "outer", "inner");
	assert_inlined(file, 8, NULL, "inner");
	assert_inlined(file, 12, NULL, NULL);
}

TEST_MAIN(fixture_enter, fixture_leave)
