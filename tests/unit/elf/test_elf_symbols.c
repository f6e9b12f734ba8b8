/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <elf.h>

#include "fixture.h"

/* Names at one address, in the table's order. */
static void names_at(struct elf_file *file, uint64_t addr, char *ret_text, size_t cap)
{
	size_t cnt, len = 0;
	const struct elf_symbol *symbols = elf_file_symbols(file, &cnt);

	ret_text[0] = '\0';
	for (size_t i = 0; i < cnt; i++)
		if (symbols[i].addr == addr)
			len += (size_t)snprintf(ret_text + len, cap - len, "%s ", symbols[i].name);
}

TEST(has_functions_of_every_binding)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;

	fixture_build("bind.c",
		      "__attribute__((noinline)) static int local(int a) { return a * 3; }\n"
		      "__attribute__((weak)) int weak(int a) { return local(a); }\n"
		      "int data = 3;\n"
		      "int main(int argc, char **argv) { return weak(argc + data) + local(argc); }\n",
		      "gcc -O1 -o bind bind.c");
	file = fixture_open("bind");
	assert_int_equal(fixture_find(file, "local")->bind, STB_LOCAL);
	assert_int_equal(fixture_find(file, "weak")->bind, STB_WEAK);
	assert_int_equal(fixture_find(file, "main")->bind, STB_GLOBAL);
	assert_int_equal(fixture_find(file, "main")->type, STT_FUNC);
	assert_true(fixture_find(file, "_start")->addr > 0);
	assert_true(fixture_find(file, "_init")->addr > 0);
	assert_int_equal(elf_file_find(file, "data", NULL, 0), 0);
	assert_int_equal(elf_file_find(file, "etext", NULL, 0), 0);
}

TEST(are_sorted_without_duplicates)
{
	CLEANUP(freep) char *libc = fixture_libc();
	CLEANUP(elf_file_closep) struct elf_file *file = fixture_open(libc);
	size_t cnt;
	const struct elf_symbol *symbols = elf_file_symbols(file, &cnt);

	assert_true(cnt > 1000);
	for (size_t i = 1; i < cnt; i++) {
		assert_true(symbols[i - 1].addr <= symbols[i].addr);
		assert_false(symbols[i - 1].addr == symbols[i].addr &&
			     !strcmp(symbols[i - 1].name, symbols[i].name) && !symbols[i].version);
	}
}

TEST(show_the_best_name_first)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	char names[128];

	fixture_build("alias.s",
		      ".text\n.globl _start, __alias, alias, typeless\n.weak aweak\n"
		      ".type __alias, @function\n.type alias, @function\n.type aweak, @function\n"
		      ".type local, @function\n.type _start, @function\n"
		      "_start: ret\n"
		      "typeless:\nlocal:\naweak:\n__alias:\nalias: ret\nret\n"
		      ".size alias, 2\n.size __alias, 2\n.size aweak, 2\n.size local, 2\n.size _start, 1\n",
		      "gcc -nostdlib -static -o alias alias.s");
	file = fixture_open("alias");
	names_at(file, fixture_find(file, "alias")->addr, names, sizeof(names));
	assert_string_equal(names, "alias aweak __alias local typeless ");
	assert_string_equal(fixture_name_at(file, fixture_find(file, "alias")->addr + 1), "alias");
}

/* ---- versions ---- */

static uint64_t loaded_offset(const char *name, const char *version)
{
	void *addr = dlvsym(RTLD_DEFAULT, name, version);
	Dl_info info;

	assert_non_null(addr);
	assert_true(dladdr(addr, &info));
	return (uint64_t)addr - (uint64_t)info.dli_fbase;
}

TEST(a_bare_name_means_the_default_version)
{
	CLEANUP(freep) char *libc = fixture_libc();
	CLEANUP(elf_file_closep) struct elf_file *file = fixture_open(libc);
	const struct elf_symbol *symbol = fixture_find(file, "memcpy");

	assert_string_equal(symbol->version, "GLIBC_2.14");
	assert_int_equal(symbol->type, STT_GNU_IFUNC);
	assert_true(symbol->is_default);
	assert_string_equal(fixture_find(file, "pthread_create")->version, "GLIBC_2.34");
	assert_string_equal(fixture_find(file, "realpath")->version, "GLIBC_2.3");
	assert_int_equal(fixture_find(file, "realpath")->addr, loaded_offset("realpath", "GLIBC_2.3"));
}

TEST(other_versions_go_by_name)
{
	CLEANUP(freep) char *libc = fixture_libc();
	CLEANUP(elf_file_closep) struct elf_file *file = fixture_open(libc);
	const struct elf_symbol *old = fixture_find(file, "realpath@GLIBC_2.2.5");

	assert_string_equal(old->name, "realpath");
	assert_string_equal(old->version, "GLIBC_2.2.5");
	assert_false(old->is_default);
	assert_int_equal(old->addr, loaded_offset("realpath", "GLIBC_2.2.5"));
	assert_int_not_equal(old->addr, fixture_find(file, "realpath")->addr);
	assert_ptr_equal(fixture_find(file, "realpath@@GLIBC_2.3"), fixture_find(file, "realpath"));
	assert_int_equal(elf_file_find(file, "realpath@GLIBC_9", NULL, 0), 0);
}

/* v.so, with the versions of that map. */
static void build_versions(const char *map, const char *source)
{
	fixture_write("v.map", map, strlen(map));
	fixture_build("v.c", source, "gcc -shared -fPIC -Wl,--version-script=v.map -o v.so v.c");
}

/* cfree, say, which nobody can link any more, and free. */
TEST(a_name_for_old_programs_comes_behind)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	char names[128];

	build_versions("V1 { global: add; sum; local: *; };",
		       "__asm__(\".symver old,add@V1\");\nint sum(void) { return 1; }\n"
		       "extern int old(void) __attribute__((alias(\"sum\")));\n");
	fixture_run("strip v.so");
	file = fixture_open("v.so");
	names_at(file, fixture_find(file, "sum")->addr, names, sizeof(names));
	assert_string_equal(names, "sum add ");
}

/* .symtab writes versions into the names, .dynsym has them in a table: they are one symbol. */
TEST(both_tables_agree_on_versions)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	char names[128];

	build_versions("V1 { global: f; local: *; }; V2 { global: f; } V1;",
		       "__asm__(\".symver f_old,f@V1\"); __asm__(\".symver f_new,f@@V2\");\n"
		       "int f_old(void) { return 1; }\nint f_new(void) { return 2; }\n");
	file = fixture_open("v.so");
	assert_string_equal(fixture_find(file, "f")->version, "V2");
	assert_string_equal(fixture_find(file, "f@V1")->version, "V1");
	names_at(file, fixture_find(file, "f")->addr, names, sizeof(names));
	assert_string_equal(names, "f f_new ");
	assert_string_equal(fixture_name_at(file, fixture_find(file, "f@V1")->addr), "f");
}

/* ---- kinds of files ---- */

TEST(stripped_files_keep_what_they_export)
{
	CLEANUP(elf_file_closep) struct elf_file *program = NULL;
	CLEANUP(elf_file_closep) struct elf_file *library = NULL;

	fixture_build("x.c",
		      "static int hidden(int a) { return a + 1; }\nint shown(int a) { return hidden(a); }\n"
		      "int main(void) { return shown(1); }\n",
		      "gcc -O0 -s -o x x.c && gcc -O0 -s -shared -fPIC -o x.so x.c");
	program = fixture_open("x");
	library = fixture_open("x.so");
	assert_int_equal(elf_file_find(program, "shown", NULL, 0), 0);
	assert_int_equal(elf_file_find(library, "shown", NULL, 0), 1);
	assert_int_equal(elf_file_find(library, "hidden", NULL, 0), 0);
}

TEST(static_programs_have_their_libc)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;

	fixture_build("s.c", "#include <stdio.h>\nint main(void) { return puts(\"a\"); }\n",
		      "gcc -static -o s s.c");
	file = fixture_open("s");
	assert_string_equal(fixture_name_at(file, fixture_find(file, "puts")->addr + 4), "puts");
	assert_int_equal(fixture_find(file, "memcpy")->type, STT_GNU_IFUNC);
	assert_true(fixture_find(file, "_start")->addr > 0x400000);
}

TEST(sections_are_not_needed_to_open)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	Elf64_Ehdr header;
	FILE *out;
	size_t cnt;

	fixture_run("cp bind nosections");
	out = fopen("nosections", "r+");
	assert_int_equal(fread(&header, sizeof(header), 1, out), 1);
	header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
	rewind(out);
	assert_int_equal(fwrite(&header, sizeof(header), 1, out), 1);
	fclose(out);
	file = fixture_open("nosections");
	assert_string_equal(elf_file_symbols(file, &cnt)->name, "main"); /* by the start-up code */
	assert_int_equal(cnt, 1);
	assert_null(elf_file_symbol_at(file, 0x1000));
}

TEST_MAIN(fixture_enter, fixture_leave)
