/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"

static void assert_demangled(const char *name, const char *expected)
{
	CLEANUP(freep) char *demangled = elf_demangle(name);

	if (!demangled)
		fail_msg("%s is not demangled", name);
	assert_string_equal(demangled, expected);
}

TEST(cplusplus)
{
	assert_demangled("_Z3addii", "add(int, int)");
	assert_demangled("_ZN3zip8compressEPKcm", "zip::compress(char const*, unsigned long)");
	assert_demangled("_ZNK3BoxIiE3getEv", "Box<int>::get() const");
}

TEST(rust)
{
	assert_demangled("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	assert_demangled("_RNvC6_123foo3bar", "123foo::bar");
}

TEST(ocaml)
{
	assert_demangled("camlStdlib__List__map_456", "Stdlib.List.map");
	assert_demangled("camlFoo__bar_baz_12", "Foo.bar_baz");
	assert_demangled("camlFoo__$3e$3e$3d_7", "Foo.>>=");
	assert_demangled("camlFoo__entry", "Foo.entry");
	assert_demangled("camlDune__exe__Main__fun_1_2", "Dune.exe.Main.fun_1");
	assert_null(elf_demangle("caml_alloc"));
	assert_null(elf_demangle("camlFoo"));
	assert_null(elf_demangle("camera__x"));
}

TEST(other_names_stay)
{
	static const char *const names[] = {"main", "_start", "_Z", "_ZNonsense", "_Run", "", "Z3addii"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_null(elf_demangle(names[i]));
}

/* Nesting beyond measure, as a hostile file may have it. */
TEST(deep_names_do_no_harm)
{
	char name[60000];
	char *demangled;

	memset(name, 'P', sizeof(name));
	memcpy(name, "_Z1f", 4);
	strcpy(name + sizeof(name) - 2, "i");
	demangled = elf_demangle(name);
	free(demangled);
}

TEST_MAIN(NULL, NULL)
