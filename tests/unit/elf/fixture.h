/* SPDX-License-Identifier: BSD-2-Clause */
/* A temporary directory, and small programs built in it by the compiler that is there. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "assertions.h"
#include "elf/elf_file.h"

/* The directory becomes the current one, so that tests name files by their last part. */
static inline int fixture_enter(void **state)
{
	char dir[] = "/tmp/trailcam-image-XXXXXX";

	if (!mkdtemp(dir) || chdir(dir))
		return -1;
	*state = strdup(dir);
	return 0;
}

static inline int fixture_leave(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", (char *)*state);
	free(*state);
	return chdir("/") || system(command);
}

static inline void fixture_write(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static inline void fixture_run(const char *command)
{
	if (system(command))
		fail_msg("failed: %s", command);
}

/* Writes `source` to the file NAME.EXT and runs `command` on it. */
static inline void fixture_build(const char *path, const char *source, const char *command)
{
	fixture_write(path, source, strlen(source));
	fixture_run(command);
}

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
