/* SPDX-License-Identifier: BSD-2-Clause */
/* Indirect functions (IFUNC), such as memcpy: the implementations to probe. */
#pragma once

#include "elf/elf_file.h"

/*
 * The implementations of `ifunc` that have symbols. Writes up to `cap` with different addresses to
 * ret_symbols, and returns how many there are.
 */
size_t ifunc_implementations(struct elf_file *file, const struct elf_symbol *ifunc,
			     const struct elf_symbol **ret_symbols, size_t cap);
