/* SPDX-License-Identifier: BSD-2-Clause */
/* Instruction boundaries. A breakpoint in the middle of an instruction would change what the program does. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"

/*
 * Checks that an instruction of `file` begins at addr, by decoding from the beginning of its function (from
 * symbols or the unwinding tables). 0; -EINVAL with a sentence: none does, and which instructions begin
 * nearby; -ENOENT with a sentence: there is no code at addr, or its function is unknown.
 */
int boundary_check(struct elf_file *file, uint64_t addr);

/* The beginning of the function at addr, from symbols or the unwinding tables. False: unknown. */
bool boundary_function_start(struct elf_file *file, uint64_t addr, uint64_t *ret_start);

/*
 * The best place for a probe on the function that begins at addr: after its first instruction if that is
 * endbr64, which the kernel must single-step, and the next one is emulated; else addr. Registers and stack
 * are the same at both.
 */
uint64_t boundary_best_entry(struct elf_file *file, uint64_t addr);
