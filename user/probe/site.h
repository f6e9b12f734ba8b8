/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the cheapest and safest place for a probe on a function, and the functions that a function calls or
 * jumps to.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <Zydis/Zydis.h>

#include "elf/elf_file.h"

/*
 * Whether the kernel emulates the instruction. A probe on any other instruction costs a single step of a
 * copy.
 */
bool site_is_emulated(const ZydisDecodedInstruction *insn);

enum { SITE_ARG_CNT = 6, SITE_ALL_ARGS = (1 << SITE_ARG_CNT) - 1 };

/* A place for a probe that can replace the beginning of a function. */
struct site {
	uint64_t addr;
	uint32_t pushed; /* how far the stack pointer has moved down, in bytes */
	bool is_emulated;
	/* the registers that hold the requested arguments (enum hit_reg) */
	uint8_t args[SITE_ARG_CNT];
};

/*
 * The first place in the function that can replace its beginning and has an instruction that the kernel
 * emulates: the arguments `args` (bit n: the nth one of the C convention) are still in registers, the stack
 * pointer's offset is known, and all control flow there comes from the beginning. With `keeps_stack` the
 * stack pointer must be unchanged, because a return probe takes the word there for the return address. If
 * there is no such place, the beginning itself.
 */
struct site site_cheapest(struct elf_file *file, const struct elf_symbol *function, uint32_t args,
			  bool keeps_stack);

/*
 * A safe place for a probe at addr: addr itself, unless a five-byte nop is there. Linux 6.18 turns a probed
 * five-byte nop into a call of [uprobes-trampoline]; a forked child inherits the call without that mapping
 * and dies of SIGSEGV. In that case the next instruction, where registers and memory are the same. -ENOTSUP
 * without a sentence: the function jumps to the next instruction, so it is no substitute.
 */
int site_off_nop5(struct elf_file *file, uint64_t addr, uint64_t *ret_addr);

/* Whether the function at addr only jumps to another one, perhaps after changing registers. */
bool site_leads_to(struct elf_file *file, uint64_t addr, uint64_t *ret_target);

/*
 * Calls fn for each direct call and jump in the function, conditional jumps included, until fn returns
 * non-zero, and returns that. -ENOENT without a sentence: the function's end or contents are unknown.
 */
int site_each_target(struct elf_file *file, const struct elf_symbol *function,
		     int (*fn)(void *ctx, uint64_t target), void *ctx);
