/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of one file that a name stands for. */
#pragma once

#include "elf/elf_file.h"

struct matches {
	const struct elf_symbol **symbols; /* as long as the file is open */
	size_t cnt, cap;
};

/*
 * Fills `matches` (all zero before, or reused; release with matches_release()) with the functions called
 * `name` in `file`: none, one, or several (overloads, static functions of the same name). Indirect functions
 * are as yet among them. 0 or -ENOMEM.
 */
int matches_find(struct matches *matches, struct elf_file *file, const char *name);

/*
 * The same for those whose name, as in the symbol table or demangled, matches the pattern (glob(7)); entries
 * of the PLT do not.
 */
int matches_find_glob(struct matches *matches, struct elf_file *file, const char *pattern);

/*
 * Puts implementations in place of indirect functions. -ENOTSUP with a sentence where one has none that are
 * known; -ENOMEM.
 */
int matches_replace_ifuncs(struct matches *matches, struct elf_file *file);

void matches_release(struct matches *matches);
