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

/* The directory becomes the current one, so that tests name files by their last part. */
static inline int fixture_enter(void **state)
{
	char dir[] = "/tmp/trailcam-unit-XXXXXX";

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

/* Writes `source` to the file `path`, then runs `command`. */
static inline void fixture_build(const char *path, const char *source, const char *command)
{
	fixture_write(path, source, strlen(source));
	fixture_run(command);
}
