/* SPDX-License-Identifier: BSD-2-Clause */
/* The code of a function as a probe sees it: where a probe costs least, and where the function leads. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <Zydis/Zydis.h>

#include "elf/elf_file.h"

/* Whether the kernel emulates the instruction. A probe on any other costs a single step of a copy of it. */
bool site_is_emulated(const ZydisDecodedInstruction *insn);

enum { SITE_ARG_CNT = 6, SITE_ALL_ARGS = (1 << SITE_ARG_CNT) - 1 };

/* A place for a probe that stands for a function's beginning. */
struct site {
	uint64_t addr;
	uint32_t pushed; /* so many bytes the stack pointer is lower there */
	bool is_emulated;
	uint8_t args
		[SITE_ARG_CNT]; /* the registers that the arguments are in (enum hit_reg), of those that were asked for */
};

/*
 * The first place in the function that can stand for its beginning and has an instruction that the kernel
 * emulates: the arguments `args` (bit n: the nth one by the C convention) are still in a register, how far
 * the stack pointer has gone is known, and whoever comes there comes from the beginning. With `keeps_stack`
 * the stack pointer must be where it was: a return probe takes what it points to for the return address. The
 * beginning itself where there is no such place.
 */
struct site site_cheapest(struct elf_file *file, const struct elf_symbol *function, uint32_t args,
			  bool keeps_stack);

/*
 * Where a probe that is wanted at addr does no harm: at addr itself, unless a nop of five bytes is there.
 * Linux 6.18 makes of a probed one a call of [uprobes-trampoline], and a child that is forked inherits the
 * call without that mapping: it dies of SIGSEGV. Then the instruction behind it, where registers and memory
 * are the same.
 * -ENOTSUP without a sentence: the function jumps there, so it is not as good a place.
 */
int site_off_nop5(struct elf_file *file, uint64_t addr, uint64_t *ret_addr);

/*
 * Whether the function at addr does nothing but jump on to another one, perhaps after it has changed
 * registers.
 */
bool site_leads_to(struct elf_file *file, uint64_t addr, uint64_t *ret_target);

/*
 * Calls fn for each direct call and jump in the function, conditional ones among them, until it returns
 * non-zero, which is returned. -ENOENT without a sentence: there is no telling where it ends, or what is in
 * it.
 */
int site_each_target(struct elf_file *file, const struct elf_symbol *function,
		     int (*fn)(void *ctx, uint64_t target), void *ctx);
