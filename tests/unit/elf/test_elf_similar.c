/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"

static int setup(void **state)
{
	if (fixture_enter(state))
		return -1;
	fixture_build("s.cc",
		      "namespace zip { int compress(int a) { return a; } }\n"
		      "extern \"C\" { int compress_block(int a) { return a; }\nint compress_blocks(int a) { "
		      "return a; }\n"
		      "int table_insert(int a) { return a; }\nint ab(int a) { return a; } }\n"
		      "int main() { return zip::compress(1); }\n",
		      "g++ -O0 -o s s.cc");
	return 0;
}

static size_t similar(const char *name, const char **ret_names, size_t cap)
{
	static struct elf_file *file;

	elf_file_closep(&file);
	file = NULL;
	if (!name)
		return 0;
	file = fixture_open("s");
	return elf_file_similar(file, name, ret_names, cap);
}

TEST(a_slip_of_the_finger)
{
	const char *names[4];

	assert_true(similar("compres_block", names, 4) >= 2);
	assert_string_equal(names[0], "compress_block");
	assert_string_equal(names[1], "compress_blocks");
	assert_int_equal(similar("table_insret", names, 4), 1);
	assert_string_equal(names[0], "table_insert");
	assert_true(similar("mian", names, 4) >= 1);
	assert_string_equal(names[0], "main");
	similar(NULL, NULL, 0);
}

TEST(a_part_of_the_name)
{
	const char *names[4];

	assert_int_equal(similar("insert", names, 4), 1);
	assert_string_equal(names[0], "table_insert");
	similar(NULL, NULL, 0);
}

TEST(a_name_without_its_namespace)
{
	const char *names[4];

	assert_true(similar("compress", names, 4) >= 1);
	assert_string_equal(names[0], "zip::compress");
	similar(NULL, NULL, 0);
}

TEST(nothing_alike)
{
	const char *names[4];

	assert_int_equal(similar("quaternion_slerp", names, 4), 0);
	assert_int_equal(similar("compress_block", names, 0), 0);
	similar(NULL, NULL, 0);
}

TEST(no_more_than_asked_for)
{
	const char *names[2] = {NULL, NULL};

	assert_int_equal(similar("compress_bloc", names, 1), 1);
	assert_string_equal(names[0], "compress_block");
	assert_null(names[1]);
	similar(NULL, NULL, 0);
}

TEST_MAIN(setup, fixture_leave)
