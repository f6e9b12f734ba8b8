/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"

#define PROGRAM                                                                                            \
	"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"                                   \
	"int main(int argc, char **argv) { puts(argv[0]); return (int)strlen(argv[0]) + system(argv[0]); " \
	"}\n"

/* Bytes at the entry: an indirect jump through memory, whatever stands before it. */
static void assert_is_jump(struct elf_file *file, const struct elf_symbol *symbol)
{
	uint8_t code[12];
	uint64_t offset;

	assert_ok(elf_file_offset(file, symbol->addr, &offset));
	assert_int_equal(elf_file_read(file, offset, code, sizeof(code)), sizeof(code));
	for (size_t i = 0; i < 6; i++)
		if (code[i] == 0xff && code[i + 1] == 0x25)
			return;
	fail_msg("%s is no jump", symbol->name);
}

static void check(const char *command)
{
	static const char *const names[] = {"puts@plt", "strlen@plt", "system@plt"};
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;

	fixture_build("p.c", PROGRAM, command);
	file = fixture_open("p");
	for (size_t i = 0; i < 3; i++) {
		const struct elf_symbol *symbol = fixture_find(file, names[i]);

		assert_true(symbol->is_plt);
		assert_is_jump(file, symbol);
		assert_string_equal(fixture_name_at(file, symbol->addr + 5), names[i]);
	}
	/* The bare name is no function of this file. */
	assert_int_equal(elf_file_find(file, "puts", NULL, 0), 0);
}

TEST(lazy_entries)
{
	check("gcc -O1 -fno-builtin -Wl,-z,lazy -o p p.c");
	check("gcc -O1 -fno-builtin -Wl,-z,lazy -no-pie -o p p.c");
	check("gcc -O1 -fno-builtin -Wl,-z,lazy -s -o p p.c");
}

TEST(bound_entries)
{
	check("gcc -O1 -fno-builtin -Wl,-z,now -o p p.c");
}

TEST(entries_with_endbr64)
{
	check("gcc -O1 -fno-builtin -fcf-protection -Wl,-z,ibtplt -Wl,-z,lazy -o p p.c");
}

/* .plt.got has entries of 8 bytes for functions whose address is taken, too. */
TEST(entries_of_plt_got)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	const struct elf_symbol *symbol;

	fixture_build("g.c",
		      "#include <stdio.h>\nint (*pointer)(const char *);\n"
		      "int main(int argc, char **argv) { pointer = puts; return puts(argv[0]); }\n",
		      "gcc -O0 -fPIC -fno-builtin -Wl,-z,lazy -o g g.c");
	file = fixture_open("g");
	symbol = fixture_find(file, "puts@plt");
	assert_is_jump(file, symbol);
	assert_true(symbol->size == 8 || symbol->size == 16);
	assert_string_equal(fixture_name_at(file, symbol->addr), "puts@plt");
	assert_string_not_equal(fixture_name_at(file, symbol->addr + symbol->size), "puts@plt");
}

/* Without a name in the relocation: the resolver's symbol has it. */
TEST(ifunc_entries_of_static_programs)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	const struct elf_symbol *symbol;

	fixture_build("p.c", PROGRAM, "gcc -O1 -fno-builtin -static -o p p.c");
	file = fixture_open("p");
	symbol = fixture_find(file, "strlen@plt");
	assert_is_jump(file, symbol);
	assert_int_not_equal(symbol->addr, fixture_find(file, "strlen")->addr);
}

TEST_MAIN(fixture_enter, fixture_leave)
