/* SPDX-License-Identifier: BSD-2-Clause */
/* The code of a function as a probe sees it: where a probe costs least, and where the function leads. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <Zydis/Zydis.h>

#include "image/elf_file.h"

/* Whether the kernel emulates the instruction. A probe on any other costs a single step of a copy of it. */
bool site_is_emulated(const ZydisDecodedInstruction *insn);

/*
 * The first place in the function that is as good as its beginning and has an instruction that the kernel emulates: the registers of arguments, the stack
 * pointer and what it points to are the same, and whoever comes there comes from the beginning. The beginning itself where there is no such place.
 */
uint64_t site_cheapest(struct elf_file *file, const struct elf_symbol *function);

/*
 * Where a probe that is wanted at addr does no harm: at addr itself, unless a nop of five bytes is there. Linux 6.18 makes of a probed one a call of [uprobes-trampoline],
 * and a child that is forked inherits the call without that mapping: it dies of SIGSEGV. Then the instruction behind it, where registers and memory are the same.
 * -ENOTSUP without a sentence: the function jumps there, so it is not as good a place.
 */
int site_off_nop5(struct elf_file *file, uint64_t addr, uint64_t *ret_addr);

/* Whether the function at addr does nothing but jump on to another one, perhaps after it has changed registers. */
bool site_leads_to(struct elf_file *file, uint64_t addr, uint64_t *ret_target);

/*
 * Calls fn for each direct call and jump in the function, conditional ones among them, until it returns non-zero, which is returned. -ENOENT without a sentence:
 * there is no telling where it ends, or what is in it.
 */
int site_each_target(struct elf_file *file, const struct elf_symbol *function,
		     int (*fn)(void *ctx, uint64_t target), void *ctx);
