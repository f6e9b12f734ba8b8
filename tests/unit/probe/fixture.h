/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A temporary directory that anyone may read, and small programs built in it by the compiler that is there.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assertions.h"

/* The directory becomes the current one. */
static inline int fixture_enter(void **state)
{
	char dir[] = "/tmp/trailcam-trigger-XXXXXX";

	if (!mkdtemp(dir) || chmod(dir, 0755) || chdir(dir))
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

static inline void fixture_run(const char *command)
{
	if (system(command))
		fail_msg("failed: %s", command);
}

/* Writes `text` to the file `path`, then runs `command`. */
static inline void fixture_build(const char *path, const char *text, const char *command)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fputs(text, file) < 0, 0);
	assert_int_equal(fclose(file), 0);
	fixture_run(command);
}

/* Address of a symbol, as nm(1) has it. */
static inline uint64_t fixture_symbol(const char *path, const char *name)
{
	char command[256];
	unsigned long addr = 0;
	FILE *pipe;

	snprintf(command, sizeof(command), "nm %s | awk '$3 == \"%s\" { print $1; exit }'", path, name);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%lx", &addr), 1);
	pclose(pipe);
	return addr;
}
