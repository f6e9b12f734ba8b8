/* SPDX-License-Identifier: BSD-2-Clause */
/* Where instructions begin. A breakpoint in the middle of one would change what the program does. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"

/*
 * Whether an instruction of `file` begins at addr: found out from the beginning of its function on, as
 * symbols or the unwinding tables tell it.
 * -EINVAL with a sentence: no, and which begin beside it; -ENOENT: there is no code at addr, or no function
 * is known to hold it.
 */
int boundary_check(struct elf_file *file, uint64_t addr);

/* The beginning of the function that holds addr, as symbols or the unwinding tables tell it. */
bool boundary_function_start(struct elf_file *file, uint64_t addr, uint64_t *ret_start);

/*
 * The best place for a probe on the function that begins at addr: behind its first instruction if that is
 * endbr64, which the kernel must single-step, and it is followed by one that the kernel emulates; else addr.
 * Registers and stack are the same at both.
 */
uint64_t boundary_best_entry(struct elf_file *file, uint64_t addr);
