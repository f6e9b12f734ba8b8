/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts of x86-64 that code outside of this folder asks for by these names. The tables are constant, and in
 * the terms of enum hit_reg.
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arch/x86_64/registers.h"

#define ARCH_NAME "x86-64" /* in messages */

/* Whether uname(2) calls a machine that, which executes such programs. */
static inline bool arch_is_machine(const char *name)
{
	return !strcmp(name, "x86_64") || !strcmp(name, "i686");
}

/* ---- ELF ---- */

#define ARCH_ELF_MACHINE EM_X86_64

/* Relocations of a slot that holds a function's address (System V ABI for AMD64, 4.4.1). */
enum {
	ARCH_RELOC_JUMP_SLOT = R_X86_64_JUMP_SLOT, /* a function of another file */
	ARCH_RELOC_GLOB_DAT = R_X86_64_GLOB_DAT,
	ARCH_RELOC_IRELATIVE = R_X86_64_IRELATIVE, /* what the resolver at the addend returns */
};

/* Where the loader looks for libraries by itself. */
#define ARCH_LIBRARY_DIRECTORIES \
	"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib"

/*
 * The mark in its cache of those it can use: FLAG_X8664_LIB64 | FLAG_ELF_LIBC6 (sysdeps/generic/ldconfig.h).
 */
enum { ARCH_LIBRARY_FLAGS = 0x0303 };

/* ---- code ---- */

/* `int3`, what a uprobe puts over an instruction's first byte; the length of `syscall`. */
enum { ARCH_BREAKPOINT = 0xcc, ARCH_SYSCALL_SIZE = 2 };

/* `mov $NUMBER,%eax` and `syscall`, as most code calls the kernel: the number. -1: it is other code. */
enum { ARCH_CALLING_SIZE = 5 + ARCH_SYSCALL_SIZE };

static inline int32_t arch_called(const uint8_t code[ARCH_CALLING_SIZE])
{
	int32_t number;

	memcpy(&number, code + 1, sizeof(number));
	return code[0] == 0xb8 && code[5] == 0x0f && code[6] == 0x05 ? number : -1;
}

/* EFLAGS.TF: a debug exception after the next instruction (SDM vol. 3, 2.3). */
enum { ARCH_TRAP_FLAG = 0x100 };

/* `endbr64`: marks where indirect branches may lead (SDM vol. 2). It is as good as a nop. */
enum { ARCH_LANDING_MARK_SIZE = 4 };

static inline bool arch_is_landing_mark(const uint8_t *code, size_t size)
{
	return size >= ARCH_LANDING_MARK_SIZE && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e &&
	       code[3] == 0xfa;
}

/* The kernel has the upper half of the addresses (Documentation/arch/x86/x86_64/mm.rst). */
static inline bool arch_is_kernel(uint64_t addr)
{
	return addr >> 63;
}

/* ---- names ---- */

/* A register and its low parts: 8, 4, 2, 1 bytes. */
enum { ARCH_WIDTHS = 4 };

/* "rdi", "edi", "di", "dil"; NULL for what has no such part, or no meaning in a hit. */
extern const char *const arch_register_names[HIT_REG_CNT][ARCH_WIDTHS];

/*
 * The register of this name ("edi", `len` characters), of those that hold data or addresses; *ret_width is
 * the part's index. -1: none.
 */
int arch_register_find(const char *name, size_t len, unsigned int *ret_width);

/* How an operand says that it is relative to the instruction (AT&T syntax). */
#define ARCH_USDT_RELATIVE "(%rip)"

/* In the order in which people look at them. */
enum { ARCH_SHOWN_CNT = 20 };
extern const uint8_t arch_shown_registers[ARCH_SHOWN_CNT];

/* ---- calling conventions: the registers of the first arguments that are integers or pointers ---- */

enum { ARCH_C_ARG_CNT = 6, ARCH_GO_ARG_CNT = 9 };

/* System V ABI for AMD64, 3.2.3; X(REGISTER) for each. */
#define ARCH_C_ARGS(X) X(HIT_RDI), X(HIT_RSI), X(HIT_RDX), X(HIT_RCX), X(HIT_R8), X(HIT_R9)
extern const uint8_t arch_c_args[ARCH_C_ARG_CNT];

/* https://go.dev/s/regabi, since Go 1.17 */
#define ARCH_GO_ARGS(X)                                                                               \
	X(HIT_RAX), X(HIT_RBX), X(HIT_RCX), X(HIT_RDI), X(HIT_RSI), X(HIT_R8), X(HIT_R9), X(HIT_R10), \
		X(HIT_R11)

/* ---- numberings ---- */

/* DWARF's numbers: the general registers and the return address (System V ABI for AMD64, figure 3.36). */
enum { ARCH_DWARF_CNT = 17 };
extern const uint8_t arch_dwarf_registers[ARCH_DWARF_CNT];

/* The numbers in instructions, which Zydis has, too (SDM vol. 2, 2.1.5). */
enum { ARCH_CODE_CNT = 16 };
extern const uint8_t arch_code_registers[ARCH_CODE_CNT];

/*
 * Bits of perf_event_attr.sample_regs_user (arch/x86/include/uapi/asm/perf_regs.h); HIT_REG_CNT: of no use.
 */
#define ARCH_PERF_GENERAL 0xff01ffull /* the general registers and the instruction pointer */
enum { ARCH_PERF_CNT = 24 };
extern const uint8_t arch_perf_registers[ARCH_PERF_CNT];
