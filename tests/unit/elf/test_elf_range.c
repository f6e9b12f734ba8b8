/* SPDX-License-Identifier: BSD-2-Clause */
#include <elf.h>

#include "elf/elf_range.h"
#include "fixture.h"

/* Ranges are sorted, without overlap; each refers to the first of its symbol. */
static void assert_valid(struct elf_file *file)
{
	size_t cnt;
	const struct elf_range *ranges = elf_file_ranges(file, &cnt);

	assert_true(cnt > 0);
	for (size_t i = 0; i < cnt; i++) {
		assert_true(ranges[i].start < ranges[i].end);
		assert_true(!i || ranges[i - 1].end <= ranges[i].start);
		assert_true(ranges[i].first <= i);
		assert_ptr_equal(ranges[ranges[i].first].symbol, ranges[i].symbol);
	}
}

static struct elf_file *assemble(const char *source)
{
	struct elf_file *file;

	fixture_build("r.s", source, "gcc -nostdlib -static -Wl,--build-id=none -o r r.s");
	file = fixture_open("r");
	assert_valid(file);
	return file;
}

#define FUNCTION(name) ".globl " name "\n.type " name ", @function\n" name ":\n"

TEST(what_lies_between_sized_functions_is_nobodys)
{
	CLEANUP(elf_file_closep)
	struct elf_file *file = assemble(FUNCTION(
		"_start") ".fill 5, 1, 0x90\n.size _start, 5\n"
			  ".fill 11, 1, 0xcc\n" FUNCTION("next") ".fill 4, 1, 0x90\n.size next, 4\n");
	uint64_t start = fixture_find(file, "_start")->addr;

	assert_string_equal(fixture_name_at(file, start), "_start");
	assert_string_equal(fixture_name_at(file, start + 4), "_start");
	assert_string_equal(fixture_name_at(file, start + 5), "");
	assert_string_equal(fixture_name_at(file, start + 15), "");
	assert_string_equal(fixture_name_at(file, start + 16), "next");
	assert_string_equal(fixture_name_at(file, start + 20), "");
	assert_string_equal(fixture_name_at(file, start - 1), "");
}

TEST(symbols_without_size_go_on_to_the_next)
{
	CLEANUP(elf_file_closep)
	struct elf_file *file = assemble(
		".globl _start\n_start: .fill 8, 1, 0x90\n"
		"second: .fill 8, 1, 0x90\n" FUNCTION("sized") ".fill 8, 1, 0x90\n"
							       ".size sized, 4\nlast: .fill 8, 1, 0x90\n"
							       ".section .more, \"ax\"\n.fill 64, 1, 0x90\n");
	uint64_t start = fixture_find(file, "_start")->addr;

	assert_int_equal(fixture_find(file, "_start")->type, STT_NOTYPE);
	assert_string_equal(fixture_name_at(file, start + 7), "_start");
	assert_string_equal(fixture_name_at(file, start + 15), "second");
	assert_string_equal(fixture_name_at(file, start + 19), "sized");
	assert_string_equal(fixture_name_at(file, start + 20), "");
	assert_string_equal(fixture_name_at(file, start + 31), "last");
	assert_string_equal(fixture_name_at(file, start + 32), ""); /* .more */
}

TEST(labels_inside_a_function_are_part_of_it)
{
	CLEANUP(elf_file_closep)
	struct elf_file *file = assemble(FUNCTION("_start") ".fill 8, 1, 0x90\nlabel: .fill 8, 1, 0x90\n"
							    ".size _start, 16\n");
	uint64_t start = fixture_find(file, "_start")->addr;

	assert_string_equal(fixture_name_at(file, start + 8), "_start");
	assert_string_equal(fixture_name_at(file, start + 15), "_start");
	assert_int_equal(fixture_find(file, "label")->addr, start + 8); /* a probe can go there */
}

TEST(a_function_inside_another_divides_it)
{
	CLEANUP(elf_file_closep)
	struct elf_file *file = assemble(FUNCTION("_start") ".fill 8, 1, 0x90\n" FUNCTION(
		"inner") ".fill 4, 1, 0x90\n"
			 ".size inner, 4\n.fill 4, 1, 0x90\n.size _start, 16\n");
	uint64_t start = fixture_find(file, "_start")->addr;
	const struct elf_range *ranges, *before, *after;
	size_t cnt;

	assert_string_equal(fixture_name_at(file, start + 7), "_start");
	assert_string_equal(fixture_name_at(file, start + 8), "inner");
	assert_string_equal(fixture_name_at(file, start + 11), "inner");
	assert_string_equal(fixture_name_at(file, start + 12), "_start");
	ranges = elf_file_ranges(file, &cnt);
	before = elf_range_find(ranges, cnt, start);
	after = elf_range_find(ranges, cnt, start + 12);
	assert_ptr_not_equal(before, after);
	assert_int_equal(before->first, after->first);
}

TEST(overlapping_functions_go_by_the_last_start)
{
	CLEANUP(elf_file_closep)
	struct elf_file *file = assemble(FUNCTION("_start") ".fill 8, 1, 0x90\n" FUNCTION(
		"other") ".fill 8, 1, 0x90\n"
			 ".size _start, 12\n.size other, 8\n");
	uint64_t start = fixture_find(file, "_start")->addr;

	assert_string_equal(fixture_name_at(file, start + 7), "_start");
	assert_string_equal(fixture_name_at(file, start + 8), "other");
	assert_string_equal(fixture_name_at(file, start + 15), "other");
	assert_string_equal(fixture_name_at(file, start + 16), "");
}

TEST(sizes_end_with_the_segment)
{
	CLEANUP(elf_file_closep)
	struct elf_file *file =
		assemble(FUNCTION("_start") ".fill 8, 1, 0x90\n.size _start, 0x7fffffffffffffff\n");
	const struct elf_symbol *symbol = fixture_find(file, "_start");

	assert_int_equal(symbol->size, 8);
	assert_string_equal(fixture_name_at(file, symbol->addr + 7), "_start");
	assert_string_equal(fixture_name_at(file, symbol->addr + 8), "");
}

/* Without names, the unwinding tables still divide the code. */
TEST(stripped_functions_have_ranges)
{
	CLEANUP(elf_file_closep) struct elf_file *named = NULL;
	CLEANUP(elf_file_closep) struct elf_file *stripped = NULL;
	const struct elf_range *ranges, *main_range, *add_range;
	size_t cnt;

	fixture_build("x.c", "int add(int a) { return a + 1; }\nint main(void) { return add(1); }\n",
		      "gcc -O0 -o named x.c && strip -o stripped named");
	named = fixture_open("named");
	stripped = fixture_open("stripped");
	assert_valid(named);
	assert_valid(stripped);
	ranges = elf_file_ranges(stripped, &cnt);
	main_range = elf_range_find(ranges, cnt, fixture_find(named, "main")->addr);
	add_range = elf_range_find(ranges, cnt, fixture_find(named, "add")->addr);
	assert_null(add_range->symbol);
	assert_string_equal(main_range->symbol->name, "main");
	assert_int_equal(main_range->start, fixture_find(named, "main")->addr);
	assert_int_equal(add_range->start, fixture_find(named, "add")->addr);
	assert_int_equal(add_range->end, main_range->start);
}

TEST(the_system_library_is_divided_completely)
{
	CLEANUP(freep) char *libc = fixture_libc();
	CLEANUP(elf_file_closep) struct elf_file *file = fixture_open(libc);
	size_t cnt;
	const struct elf_range *ranges = elf_file_ranges(file, &cnt);

	assert_valid(file);
	for (size_t i = 1; i < cnt; i++)
		assert_int_equal(ranges[i].start, ranges[i - 1].end); /* one executable segment */
}

TEST_MAIN(fixture_enter, fixture_leave)
