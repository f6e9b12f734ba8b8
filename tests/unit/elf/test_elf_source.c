/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>

#include "elf/elf_internal.h"
#include "fixture.h"

static const char first[] = "int first(int a)\n{\n\treturn a;\n}\n";
static const char second[] = "int first(int a);\n\n\n\nint second(int a)\n{\n\treturn first(a);\n}\n"
			     "int main(void)\n{\n\treturn second(1);\n}\n";

static void assert_line(struct elf_file *file, const char *name, const char *source_name, uint32_t expected)
{
	const char *source = NULL;
	uint32_t line = 0;

	assert_ok(elf_file_source(file, fixture_find(file, name)->addr, &source, &line));
	assert_string_equal(strrchr(source, '/') + 1, source_name);
	assert_int_equal(line, expected);
}

/* With what the compiler was given, that is the whole path. */
static void assert_dir(struct elf_file *file)
{
	const char *dir = elf_file_source_dir(file, fixture_find(file, "first")->addr);

	assert_non_null(dir);
	assert_int_equal(dir[0], '/');
	assert_null(elf_file_source_dir(file, 0x7000000));
}

static void check(const char *command)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	const char *source;
	uint32_t line;

	fixture_write("first.c", first, strlen(first));
	fixture_build("second.c", second, command);
	file = fixture_open("lines");
	assert_line(file, "first", "first.c", 2);
	assert_line(file, "second", "second.c", 6);
	assert_line(file, "main", "second.c", 10);
	/* From the C library's start files, which have no debug information. */
	assert_int_equal(elf_file_source(file, fixture_find(file, "_start")->addr, &source, &line), -ENOENT);
	assert_int_equal(elf_file_source(file, 0x7000000, &source, &line), -ENOENT);
	assert_dir(file);
}

TEST(units_with_an_index)
{
	check("gcc -g -O0 -o lines first.c second.c");
	check("gcc -gdwarf-4 -O0 -o lines first.c second.c");
}

TEST(units_without_an_index)
{
	check("gcc -g -O0 -c first.c second.c && objcopy -R .debug_aranges -R .rela.debug_aranges first.o &&"
	      "objcopy -R .debug_aranges -R .rela.debug_aranges second.o && gcc -o lines first.o second.o");
}

TEST(functions_in_sections_of_their_own)
{
	check("gcc -g -O0 -ffunction-sections -o lines first.c second.c");
}

TEST(compressed_sections)
{
	check("gcc -g -gz -O0 -o lines first.c second.c");
}

/* Another byte in the middle of the section, which is a compressed one. */
static void damage(const char *path, const char *name)
{
	CLEANUP(elf_file_closep) struct elf_file *file = fixture_open(path);
	CLEANUP(closep) int fd = open(path, O_RDWR | O_CLOEXEC);
	GElf_Shdr header;
	off_t middle;
	uint8_t byte;

	assert_non_null(elf_section(file->elf, name, &header));
	assert_true(header.sh_flags & SHF_COMPRESSED);
	middle = (off_t)(header.sh_offset + header.sh_size / 2);
	assert_int_equal(pread(fd, &byte, 1, middle), 1);
	byte ^= 0xff;
	assert_int_equal(pwrite(fd, &byte, 1, middle), 1);
}

TEST(damaged_compressed_sections)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	const char *source;
	uint32_t line;

	fixture_build("first.c", "int main(void) { return 0; }\n", "gcc -g -gz -O0 -o damaged first.c");
	damage("damaged", ".debug_info");
	file = fixture_open("damaged");
	assert_int_equal(elf_file_source(file, fixture_find(file, "main")->addr, &source, &line), -ENOENT);
}

TEST(no_debug_information)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	const char *source = "untouched";
	uint32_t line = 7;

	fixture_build("first.c", "int main(void) { return 0; }\n", "gcc -o plain first.c");
	file = fixture_open("plain");
	assert_int_equal(elf_file_source(file, fixture_find(file, "main")->addr, &source, &line), -ENOENT);
	assert_string_equal(source, "untouched");
	assert_int_equal(line, 7);
}

TEST_MAIN(fixture_enter, fixture_leave)
