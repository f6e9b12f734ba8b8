/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists the places of a file that can be probed. */
#pragma once

#include <stdint.h>

#include "elf/elf_file.h"

struct trigger_place {
	uint64_t addr;
	const char *kind;   /* "function", "ifunc", "usdt" */
	const char *name;   /* as in a trigger: demangled */
	const char *source; /* of a function with debug information; else NULL */
	uint32_t line;
	const char *args; /* of a USDT probe, from its note; else NULL */
};

/*
 * Calls fn for each function of the file by address, then for each USDT probe, if its name matches `pattern`
 * (glob(7), or a part of the name; NULL: all). Strings live until fn returns. Stops at the first non-zero
 * return of fn and returns it. Errors as elf_file_open().
 */
int trigger_list(const char *path, const char *pattern,
		 int (*fn)(void *ctx, const struct trigger_place *place), void *ctx);
