/* SPDX-License-Identifier: BSD-2-Clause */
/* prog needs liba (found by $ORIGIN/lib), which needs libb (found by the executable's or its own path). */
#include <limits.h>

#include "fixture.h"

static int setup(void **state)
{
	if (fixture_enter(state))
		return -1;
	unsetenv("LD_LIBRARY_PATH");
	fixture_build(
		"b.c", "int b(void) { return 1; }\n",
		"mkdir -p lib deep other && gcc -shared -fPIC -o deep/libb.so.3 -Wl,-soname,libb.so.3 b.c &&"
		"cp deep/libb.so.3 other/");
	fixture_build("a.c", "int b(void);\nint a(void) { return b(); }\n",
		      "gcc -shared -fPIC -o lib/liba.so a.c deep/libb.so.3 "
		      "-Wl,--enable-new-dtags,-rpath,'$ORIGIN/../deep' &&"
		      "gcc -shared -fPIC -o lib/libplain.so a.c deep/libb.so.3");
	fixture_build("p.c", "int a(void);\nint main(void) { return a(); }\n",
		      "gcc -o prog p.c lib/liba.so -Wl,-rpath-link,deep "
		      "-Wl,--enable-new-dtags,-rpath,'$ORIGIN/lib' -Llib &&"
		      "gcc -o nopath p.c -Llib -la -Wl,-rpath-link,deep &&"
		      "gcc -o rpath p.c -Llib -lplain -Wl,-rpath-link,deep"
		      " -Wl,--disable-new-dtags,-rpath,'${ORIGIN}/lib:$ORIGIN/deep' &&"
		      "gcc -o runpath p.c -Llib -lplain -Wl,-rpath-link,deep"
		      " -Wl,--enable-new-dtags,-rpath,'$ORIGIN/lib:$ORIGIN/deep' &&"
		      "gcc -o mixed p.c -Llib -la -Wl,-rpath-link,deep"
		      " -Wl,--disable-new-dtags,-rpath,'$ORIGIN/lib:$ORIGIN/other' &&"
		      "gcc -static -nostartfiles -Wl,-e,b -o alone b.c");
	return 0;
}

/* The library is found at that path below the directory of the tests. */
static void assert_finds(const char *exe, const char *name, const char *expected)
{
	CLEANUP(freep) char *path = NULL;
	CLEANUP(freep) char *real = NULL;
	CLEANUP(freep) char *real_expected = realpath(expected, NULL);

	assert_ok(elf_library_find(exe, name, &path));
	real = realpath(path, NULL);
	assert_string_equal(real, real_expected);
}

static void assert_missing(const char *exe, const char *name)
{
	char *path = (char *)1;

	assert_err(elf_library_find(exe, name, &path), -ENOENT, name);
	assert_ptr_equal(path, (char *)1);
}

static int append(void *ctx, const char *path)
{
	strcat(strcat(ctx, strrchr(path, '/') + 1), " ");
	return 0;
}

TEST(runpath_leads_to_direct_dependencies)
{
	char names[256] = "";

	assert_finds("runpath", "libplain.so", "lib/libplain.so");
	assert_ok(elf_library_each("runpath", append, names));
	assert_non_null(strstr(names, "libplain.so "));
	assert_null(strstr(names, "libb.so.3")); /* libplain has no path of its own */
	/* What the program itself opens by that name is found. */
	assert_finds("runpath", "libb.so.3", "deep/libb.so.3");
}

TEST(rpath_leads_to_all_dependencies)
{
	assert_finds("rpath", "libplain.so", "lib/libplain.so");
	assert_finds("rpath", "libb.so.3", "deep/libb.so.3");
}

TEST(a_library_has_its_own_path)
{
	assert_finds("prog", "libb.so.3", "deep/libb.so.3");
	/* It comes before the executable's DT_RPATH. */
	assert_finds("mixed", "libb.so.3", "deep/libb.so.3");
}

TEST(the_environment_comes_before_runpath)
{
	assert_missing("nopath", "liba.so");
	setenv("LD_LIBRARY_PATH", "nowhere:other:lib", 1);
	assert_finds("nopath", "liba.so", "lib/liba.so");
	assert_finds("nopath", "libb.so.3", "other/libb.so.3");
	assert_finds("rpath", "libb.so.3", "deep/libb.so.3"); /* but not before DT_RPATH */
	unsetenv("LD_LIBRARY_PATH");
}

TEST(the_version_may_be_left_out)
{
	CLEANUP(freep) char *path = NULL;

	assert_finds("prog", "libb", "deep/libb.so.3");
	assert_finds("prog", "liba", "lib/liba.so");
	assert_missing("prog", "lib");
	assert_ok(elf_library_find("prog", "libc", &path));
	assert_string_equal(strrchr(path, '/'), "/libc.so.6");
}

/* The path that the loader chose for this process. */
TEST(the_cache_has_what_the_loader_uses)
{
	CLEANUP(freep) char *path = fixture_libc();
	CLEANUP(freep) char *real = realpath(path, NULL);
	char line[PATH_MAX], text[PATH_MAX + 2];
	FILE *maps = fopen("/proc/self/maps", "r");
	int found = 0;

	snprintf(text, sizeof(text), "%s\n", real);
	while (fgets(line, sizeof(line), maps))
		found |= strstr(line, text) != NULL;
	fclose(maps);
	assert_true(found);
}

TEST(programs_without_dependencies)
{
	CLEANUP(freep) char *path = NULL;

	assert_missing("alone", "libnone.so.1");
	/* It may be opened later. */
	assert_ok(elf_library_find("alone", "libc.so.6", &path));
}

TEST(errors_are_those_of_the_executable)
{
	char *path;

	assert_err(elf_library_find("nothing", "libc", &path), -ENOENT, "nothing");
	assert_err(elf_library_find("p.c", "libc", &path), -ENOEXEC, "p.c");
}

/* ---- in order ---- */

static int stop(void *ctx, const char *path)
{
	(void)path;
	return ++*(int *)ctx == 2 ? 42 : 0;
}

TEST(each_goes_breadth_first)
{
	char names[256] = "";
	int calls = 0;

	assert_ok(elf_library_each("prog", append, names));
	if (strncmp(names, "liba.so libc.so.6 libb.so.3 ", 28))
		fail_msg("order: %s", names);
	assert_int_equal(elf_library_each("prog", stop, &calls), 42);
	assert_int_equal(calls, 2);
	assert_err(elf_library_each("nothing", append, names), -ENOENT, "nothing");
}

TEST_MAIN(setup, fixture_leave)
