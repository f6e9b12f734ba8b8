/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/ifunc.h"

#include <elf.h>
#include <stdbool.h>

#include "base/array.h"
#include "unit/probe/fixture.h"

static const char source[] =
	/* glibc's way, with neighbours that are none of copy's business */
	"static int __copy_avx2(void) { return 1; }\n"
	"static int __copy_sse2_unaligned(void) { return 2; }\n"
	"int __copy_chk_avx2(void) { return 3; }\n"
	"int __copy_l_avx2(void) { return 4; }\n"
	"int __copyright_avx2(void) { return 5; }\n"
	"int copy_avx2(void) { return 6; }\n"
	"static void *choose(void) { return getpagesize() ? (void *)__copy_avx2 : (void "
	"*)__copy_sse2_unaligned; }\n"
	"int copy(void) __attribute__((ifunc(\"choose\")));\n"
	/* the compiler's way */
	"__attribute__((target_clones(\"avx2\", \"default\"))) int scale(int x) { return x * 3; }\n"
	/* nobody's way */
	"static int one(void) { return 1; }\n"
	"static void *choose_one(void) { return (void *)one; }\n"
	"int opaque(void) __attribute__((ifunc(\"choose_one\")));\n"
	"int main(void) { return copy() + scale(3) + opaque(); }\n";

static const struct elf_symbol *find(struct elf_file *file, const char *name)
{
	const struct elf_symbol *symbol = NULL;

	assert_int_equal(elf_file_find(file, name, &symbol, 1), 1);
	assert_int_equal(symbol->type, STT_GNU_IFUNC);
	return symbol;
}

static bool names(const struct elf_symbol **symbols, size_t cnt, const char *name)
{
	for (size_t i = 0; i < cnt; i++)
		if (!strcmp(symbols[i]->name, name))
			return true;
	return false;
}

TEST(test_implementations)
{
	const struct elf_symbol *symbols[8];
	struct elf_file *file = NULL;

	fixture_build("ifunc.c", source, "gcc -O1 -include unistd.h -o ifunc ifunc.c");
	assert_ok(elf_file_open(&file, "ifunc"));
	assert_int_equal(ifunc_implementations(file, find(file, "copy"), symbols, ARRAY_SIZE(symbols)), 2);
	assert_true(names(symbols, 2, "__copy_avx2"));
	assert_true(names(symbols, 2, "__copy_sse2_unaligned"));
	assert_int_equal(ifunc_implementations(file, find(file, "scale"), symbols, ARRAY_SIZE(symbols)), 2);
	assert_int_equal(strncmp(symbols[0]->name, "scale.", 6), 0);
	assert_int_equal(strncmp(symbols[1]->name, "scale.", 6), 0);
	assert_false(names(symbols, 2, "scale.resolver"));
	assert_int_equal(ifunc_implementations(file, find(file, "opaque"), symbols, ARRAY_SIZE(symbols)), 0);
	/* The count is that of all, whatever the room. */
	assert_int_equal(ifunc_implementations(file, find(file, "copy"), NULL, 0), 2);
	elf_file_close(file);
}

TEST_MAIN(fixture_enter, fixture_leave)
