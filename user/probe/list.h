/* SPDX-License-Identifier: BSD-2-Clause */
/* What a file has that can be probed. */
#pragma once

#include <stdint.h>

#include "elf/elf_file.h"

struct trigger_place {
	uint64_t addr;
	const char *kind;   /* "function", "ifunc", "usdt" */
	const char *name;   /* as a trigger is spelled: demangled */
	const char *source; /* of a function, where debug information tells; else NULL */
	uint32_t line;
	const char *args; /* of a USDT probe, as its note has them; else NULL */
};

/*
 * Calls fn for each function of the file, by address, then for each USDT probe, whose name matches the
 * pattern (glob(7), or a part of the name; NULL: all). Strings live until it returns. Stops at fn's first
 * non-zero return, which it returns. Errors as elf_file_open().
 */
int trigger_list(const char *path, const char *pattern,
		 int (*fn)(void *ctx, const struct trigger_place *place), void *ctx);
