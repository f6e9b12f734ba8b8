/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"

static int setup(void **state)
{
	if (fixture_enter(state))
		return -1;
	fixture_build(
		"n.cc",
		"namespace zip {\n"
		"__attribute__((noinline)) int compress(const char *a, unsigned long b) { return a[b]; }\n"
		"__attribute__((noinline)) int compress(int a) { return a; }\n"
		"template <typename T> __attribute__((noinline)) T twice(T a) { return a + a; }\n"
		"struct Box { int v; int get() const; int operator+(int b); };\n"
		"int Box::get() const { return v; }\n"
		"int Box::operator+(int b) { return v + b; }\n"
		"}\n"
		"extern \"C\" int plain(int a) { return a; }\n"
		"int main() { return zip::compress(\"a\", 0) + zip::compress(1) + zip::twice<int>(2); }\n",
		"g++ -O0 -o n n.cc");
	fixture_build("one.c", "static int twin(int a) { return a; }\nint one(int a) { return twin(a); }\n",
		      "true");
	fixture_build("two.c",
		      "static int twin(int a) { return a + 1; }\nint one(int a);\n"
		      "int main(void) { return one(1) + twin(2); }\n",
		      "gcc -O0 -o twins one.c two.c");
	return 0;
}

static void assert_finds(const char *name, size_t expected)
{
	CLEANUP(elf_file_closep) struct elf_file *file = fixture_open("n");
	const struct elf_symbol *symbols[4];
	size_t cnt = elf_file_find(file, name, symbols, 4);

	if (cnt != expected)
		fail_msg("%s: found %zu times", name, cnt);
	for (size_t i = 0; i < cnt; i++)
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(symbols[i]->addr, symbols[j]->addr);
}

TEST(finds_names_as_in_the_table)
{
	assert_finds("plain", 1);
	assert_finds("main", 1);
	assert_finds("_ZN3zip8compressEi", 1);
	assert_finds("plai", 0);
	assert_finds("plain()", 0);
	assert_finds("", 0);
	assert_finds("@", 0);
}

TEST(finds_demangled_names)
{
	assert_finds("zip::compress", 2);
	assert_finds("zip::compress(int)", 1);
	assert_finds("zip::compress(char const*, unsigned long)", 1);
	assert_finds("zip::compress(char const *,unsigned long)", 1);
	assert_finds("zip::compress(long)", 0);
	assert_finds("zip::Box::get", 1);
	assert_finds("zip::Box::get() const", 1);
	assert_finds("zip::Box::operator+", 1);
	assert_finds("zip::twice<int>", 1);
	assert_finds("compress", 0);
}

TEST(counts_more_than_it_has_room_for)
{
	CLEANUP(elf_file_closep) struct elf_file *file = fixture_open("twins");
	const struct elf_symbol *symbols[2] = {NULL, NULL};

	assert_int_equal(elf_file_find(file, "twin", symbols, 1), 2);
	assert_non_null(symbols[0]);
	assert_null(symbols[1]);
	assert_int_equal(elf_file_find(file, "twin", symbols, 2), 2);
	assert_int_not_equal(symbols[0]->addr, symbols[1]->addr);
}

TEST(clones_are_not_the_function)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;

	fixture_build("c.s",
		      ".text\n.globl _start\n_start: ret\n.type _Z4workv, @function\n_Z4workv: ret\n"
		      ".type _Z4workv.cold, @function\n_Z4workv.cold: ret\n",
		      "gcc -nostdlib -static -o c c.s");
	file = fixture_open("c");
	assert_string_equal(fixture_find(file, "work")->name, "_Z4workv");
	assert_string_equal(fixture_find(file, "work()")->name, "_Z4workv");
}

TEST_MAIN(setup, fixture_leave)
