/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of one file that have a name or match a pattern. */
#pragma once

#include "elf/elf_file.h"

struct matches {
	const struct elf_symbol **symbols; /* valid while the file is open */
	size_t cnt, cap;
};

/*
 * Fills `matches` (all zero, or used before; release with matches_release()) with the functions called `name`
 * in `file`: none, one, or several (overloads, static functions). Indirect functions are still among them. 0
 * or -ENOMEM.
 */
int matches_find(struct matches *matches, struct elf_file *file, const char *name);

/*
 * The same for functions whose name, mangled or demangled, matches the pattern (glob(7)), without PLT
 * entries.
 */
int matches_find_glob(struct matches *matches, struct elf_file *file, const char *pattern);

/*
 * Replaces indirect functions by their implementations. -ENOTSUP with a sentence: one has no known
 * implementation; -ENOMEM.
 */
int matches_replace_ifuncs(struct matches *matches, struct elf_file *file);

void matches_release(struct matches *matches);
