/* SPDX-License-Identifier: BSD-2-Clause */
/* Indirect functions: what a probe on memcpy must be put on. */
#pragma once

#include "elf/elf_file.h"

/*
 * The functions that the indirect function `ifunc` of `file` may stand for, as far as symbols name them.
 * Writes up to `cap` to ret_symbols, different addresses only, and returns how many there are.
 */
size_t ifunc_implementations(struct elf_file *file, const struct elf_symbol *ifunc,
			     const struct elf_symbol **ret_symbols, size_t cap);
