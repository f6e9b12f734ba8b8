/* SPDX-License-Identifier: BSD-2-Clause */
/* Which functions of a file are probed, and as what. */
#include "source/alloc/allocators.h"

#include <string.h>

#include "unit/probe/fixture.h"

static const char source[] =
	"#include <stddef.h>\n"
	"static char memory[4096]; static size_t used;\n"
	"void *malloc(size_t size) { used += size; return memory + used % 1024; }\n"
	"void free(void *old) { used -= old == memory; }\n"
	"void *calloc(size_t cnt, size_t size) { void *new = malloc(cnt * size); used++; return new; }\n"
	"void *realloc(void *old, size_t size) { void *new = malloc(size); free(old); return new; }\n"
	"void *je_malloc(size_t size) { return malloc(size); }\n"
	"int posix_memalign(void **ret, size_t align, size_t size) { *ret = memory + align + size; return 0; "
	"}\n"
	"void *_Znwm(size_t size) { void *new = malloc(size); if (!new) __builtin_trap(); return new; }\n"
	"void _ZdlPv(void *old) { free(old); }\n"
	"static void *valloc(size_t size) { return memory + size; }\n"
	"void *(*use)(size_t) = valloc;\n";

/* A library that has malloc only. */
static const char partial[] = "#include <stddef.h>\n"
			      "static char memory[4096];\n"
			      "void *malloc(size_t size) { return memory + size; }\n";

static const struct alloc_function *find(const struct alloc_functions *functions, const char *name)
{
	for (size_t i = 0; i < functions->cnt; i++)
		if (!strcmp(functions->items[i].name, name))
			return &functions->items[i];
	return NULL;
}

TEST(test_file)
{
	CLEANUP(alloc_functions_release) struct alloc_functions functions = {0};
	struct elf_file *file;
	bool any = false;

	fixture_build("all.c", source, "gcc -O2 -fno-builtin -fPIC -shared -Wl,-Bsymbolic -o all.so all.c");
	assert_ok(elf_file_open(&file, "./all.so"));
	assert_ok(alloc_functions_of_file(&functions, file, &any));
	elf_file_close(file);
	assert_true(any);
	for (size_t i = 0; i < functions.cnt; i++)
		assert_int_equal(functions.items[i].role.function, i);
	assert_int_equal(find(&functions, "malloc")->role.call, ALLOC_CALL_NEW);
	assert_int_equal(find(&functions, "malloc")->role.size_arg, HIT_RDI);
	assert_false(find(&functions, "malloc")->role.nests);
	assert_int_equal(find(&functions, "calloc")->role.count_arg, HIT_RDI);
	assert_int_equal(find(&functions, "calloc")->role.size_arg, HIT_RSI);
	assert_true(find(&functions, "calloc")->role.nests);
	assert_int_equal(find(&functions, "realloc")->role.call, ALLOC_CALL_RESIZE);
	assert_true(find(&functions, "realloc")->role.nests);
	assert_int_equal(find(&functions, "posix_memalign")->role.call, ALLOC_CALL_NEW_AT);
	assert_int_equal(find(&functions, "posix_memalign")->role.size_arg, HIT_RDX);
	assert_int_equal(find(&functions, "free")->role.call, ALLOC_CALL_FREE);
	/* what only hands on, what may throw, what is static */
	assert_null(find(&functions, "je_malloc"));
	assert_null(find(&functions, "operator new(unsigned long)"));
	assert_null(find(&functions, "operator delete(void*)"));
	assert_null(find(&functions, "valloc"));
}

static void expect_path(const struct alloc_functions *functions, const char *name, const char *path)
{
	const struct alloc_function *function = find(functions, name);

	assert_non_null(function);
	assert_non_null(strstr(function->probe.path, path));
}

TEST(test_program)
{
	struct alloc_functions functions = {0};

	fixture_build("all.c", source, "gcc -O2 -fno-builtin -fPIC -shared -o all.so all.c");
	fixture_build("partial.c", partial, "gcc -O2 -fno-builtin -fPIC -shared -o partial.so partial.c");
	fixture_build("main.c", "#include <stdlib.h>\nint main(void) { free(malloc(1)); }\n",
		      "gcc -O0 -o main main.c && gcc -O0 -o linked main.c ./all.so");
	assert_ok(alloc_functions_find(&functions, "./main", 0, NULL, ALLOC_SAMPLER_UPROBES));
	expect_path(&functions, "malloc", "libc.so.6");
	expect_path(&functions, "free", "libc.so.6");
	alloc_functions_release(&functions);

	assert_ok(alloc_functions_find(&functions, "./linked", 0, NULL, ALLOC_SAMPLER_UPROBES));
	expect_path(&functions, "malloc", "all.so");
	alloc_functions_release(&functions);

	/* Its own allocator does not stand in the way of the other one. */
	fixture_build(
		"own.c",
		"#include <stdlib.h>\nvoid *mi_malloc(size_t size) { static char m[99]; return m + size; }\n"
		"int main(void) { free(malloc(1)); }\n",
		"gcc -O0 -o own own.c");
	assert_ok(alloc_functions_find(&functions, "./own", 0, NULL, ALLOC_SAMPLER_UPROBES));
	expect_path(&functions, "mi_malloc", "own");
	expect_path(&functions, "malloc", "libc.so.6");
	alloc_functions_release(&functions);

	/* Each function where the program finds it first. */
	setenv("LD_PRELOAD", "./partial.so", 1);
	assert_ok(alloc_functions_find(&functions, "./main", 0, NULL, ALLOC_SAMPLER_UPROBES));
	unsetenv("LD_PRELOAD");
	expect_path(&functions, "malloc", "partial.so");
	expect_path(&functions, "free", "libc.so.6");
	expect_path(&functions, "calloc", "libc.so.6");
	alloc_functions_release(&functions);

	assert_ok(alloc_functions_find(&functions, "./main", 0, "./all.so", ALLOC_SAMPLER_UPROBES));
	expect_path(&functions, "malloc", "all.so");
	alloc_functions_release(&functions);

	assert_ok(alloc_functions_find(&functions, "./linked", 0, "jemalloc", ALLOC_SAMPLER_UPROBES));
	expect_path(&functions, "malloc", "all.so");
	alloc_functions_release(&functions);

	assert_err(alloc_functions_find(&functions, "./main", 0, "mimalloc", ALLOC_SAMPLER_UPROBES), -ENOENT,
		   "have an allocation function of mimalloc");
	assert_err(alloc_functions_find(&functions, "./main", 0, "nothing", ALLOC_SAMPLER_UPROBES), -ENOENT,
		   "neither a library");
	assert_err(alloc_functions_find(&functions, "./main", 0, "./main", ALLOC_SAMPLER_UPROBES), -ENOENT,
		   "./main has no known allocation function");
}

TEST_MAIN(fixture_enter, fixture_leave)
