/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "temporary_dir.h"

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
