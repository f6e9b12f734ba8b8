/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same program with its symbols and lines somewhere else: each way to find them, and that the wrong ones
 * are not taken.
 */

#include "fixture.h"

#define DEBUG_DIR  "/usr/lib/debug/.build-id/f7"
#define DEBUG_FILE DEBUG_DIR "/00d1e5b16b00b1e5ca11ab1e0ddba11c0ffee0.debug"

static int setup(void **state)
{
	if (fixture_enter(state))
		return -1;
	fixture_build("d.c",
		      "static int hidden(int a)\n{\n\treturn a + 1;\n}\nint main(void)\n{\n\treturn "
		      "hidden(1);\n}\n",
		      "gcc -O0 -g -Wl,--build-id=0xf700d1e5b16b00b1e5ca11ab1e0ddba11c0ffee0 -o full d.c &&"
		      "objcopy --only-keep-debug full d.debug && strip -o stripped full && mkdir links "
		      "links/.debug");
	return 0;
}

static void assert_found(const char *path)
{
	CLEANUP(elf_file_closep) struct elf_file *full = fixture_open("full");
	CLEANUP(elf_file_closep) struct elf_file *file = fixture_open(path);
	const struct elf_symbol *symbol = fixture_find(file, "hidden");
	const char *source;
	uint32_t line;

	assert_int_equal(symbol->addr, fixture_find(full, "hidden")->addr);
	assert_ok(elf_file_source(file, symbol->addr, &source, &line));
	assert_string_equal(strrchr(source, '/'), "/d.c");
	assert_int_equal(line, 2);
	assert_int_equal(elf_file_find(file, "_start", NULL, 0), 1);
}

static void assert_not_found(const char *path)
{
	CLEANUP(elf_file_closep) struct elf_file *file = fixture_open(path);
	const char *source = "untouched";
	uint32_t line = 7;

	assert_int_equal(elf_file_find(file, "hidden", NULL, 0), 0);
	assert_int_equal(elf_file_source(file, 0x1139, &source, &line), -ENOENT);
	assert_string_equal(source, "untouched");
	assert_int_equal(line, 7);
}

TEST(without_a_debug_file_there_is_nothing)
{
	assert_not_found("stripped");
}

TEST(a_link_leads_to_the_file_beside)
{
	fixture_run("objcopy --add-gnu-debuglink=d.debug stripped links/linked && cp d.debug links/");
	assert_found("links/linked");
	fixture_run("rm links/d.debug");
	assert_not_found("links/linked");
}

TEST(a_link_leads_to_the_debug_directory)
{
	fixture_run("objcopy --add-gnu-debuglink=d.debug stripped links/linked && cp d.debug links/.debug/");
	assert_found("links/linked");
	fixture_run("rm links/.debug/d.debug");
}

TEST(a_link_is_resolved_from_where_the_file_really_is)
{
	fixture_run("objcopy --add-gnu-debuglink=d.debug stripped links/linked && cp d.debug links/ &&"
		    "ln -sf links/linked symlink");
	assert_found("symlink");
	fixture_run("rm links/d.debug");
}

TEST(the_checksum_must_be_right)
{
	fixture_run("objcopy --add-gnu-debuglink=d.debug stripped links/linked && cp d.debug links/ &&"
		    "printf x >> links/d.debug");
	assert_not_found("links/linked");
	fixture_run("rm links/d.debug");
}

TEST(a_damaged_debug_file_is_none)
{
	fixture_run("printf 'not an ELF file at all' > d2.debug && objcopy --add-gnu-debuglink=d2.debug "
		    "stripped linked2");
	assert_not_found("linked2");
}

TEST(a_build_id_names_a_file)
{
	if (access("/usr/lib/debug", W_OK) && access("/usr/lib", W_OK))
		skip();
	fixture_run("mkdir -p " DEBUG_DIR " && cp d.debug " DEBUG_FILE);
	assert_found("stripped");
	fixture_run("rm " DEBUG_FILE " && rmdir --ignore-fail-on-non-empty -p " DEBUG_DIR);
	assert_not_found("stripped");
}

TEST_MAIN(setup, fixture_leave)
