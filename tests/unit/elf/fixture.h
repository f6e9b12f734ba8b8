/* SPDX-License-Identifier: BSD-2-Clause */
/* ELF files that are built for a test (tests/temporary_dir.h), and what is in them. */
#pragma once

#include "elf/elf_file.h"
#include "temporary_dir.h"

static inline struct elf_file *fixture_open(const char *path)
{
	struct elf_file *file = NULL;

	assert_ok(elf_file_open(&file, path));
	return file;
}

/* The only function of that name. */
static inline const struct elf_symbol *fixture_find(struct elf_file *file, const char *name)
{
	const struct elf_symbol *symbol = NULL;
	size_t cnt = elf_file_find(file, name, &symbol, 1);

	if (cnt != 1)
		fail_msg("%s: found %zu times in %s", name, cnt, elf_file_path(file));
	return symbol;
}

/* The name of what covers addr; "" where nothing does. */
static inline const char *fixture_name_at(struct elf_file *file, uint64_t addr)
{
	const struct elf_symbol *symbol = elf_file_symbol_at(file, addr);

	return symbol ? symbol->name : "";
}

/* The path of libc.so.6 as this program uses it; the caller's to free. */
static inline char *fixture_libc(void)
{
	char *path = NULL;

	assert_ok(elf_library_find("/proc/self/exe", "libc.so.6", &path));
	return path;
}
