/* SPDX-License-Identifier: BSD-2-Clause */
#include "arch/x86_64/machine.h"

#include <string.h>

const char *const arch_register_names[HIT_REG_CNT][ARCH_WIDTHS] = {
	[HIT_RAX] = {"rax", "eax", "ax", "al"},
	[HIT_RBX] = {"rbx", "ebx", "bx", "bl"},
	[HIT_RCX] = {"rcx", "ecx", "cx", "cl"},
	[HIT_RDX] = {"rdx", "edx", "dx", "dl"},
	[HIT_RSI] = {"rsi", "esi", "si", "sil"},
	[HIT_RDI] = {"rdi", "edi", "di", "dil"},
	[HIT_RBP] = {"rbp", "ebp", "bp", "bpl"},
	[HIT_RSP] = {"rsp", "esp", "sp", "spl"},
	[HIT_R8] = {"r8", "r8d", "r8w", "r8b"},
	[HIT_R9] = {"r9", "r9d", "r9w", "r9b"},
	[HIT_R10] = {"r10", "r10d", "r10w", "r10b"},
	[HIT_R11] = {"r11", "r11d", "r11w", "r11b"},
	[HIT_R12] = {"r12", "r12d", "r12w", "r12b"},
	[HIT_R13] = {"r13", "r13d", "r13w", "r13b"},
	[HIT_R14] = {"r14", "r14d", "r14w", "r14b"},
	[HIT_R15] = {"r15", "r15d", "r15w", "r15b"},
	[HIT_RIP] = {"rip"},
	[HIT_EFLAGS] = {"eflags"},
	[HIT_CS] = {"cs"},
	[HIT_SS] = {"ss"},
};

const uint8_t arch_shown_registers[ARCH_SHOWN_CNT] = {
	HIT_RIP, HIT_RDI, HIT_RSI, HIT_RDX, HIT_RCX, HIT_R8,  HIT_R9,  HIT_RAX,	   HIT_RBX, HIT_RBP,
	HIT_RSP, HIT_R10, HIT_R11, HIT_R12, HIT_R13, HIT_R14, HIT_R15, HIT_EFLAGS, HIT_CS,  HIT_SS,
};

#define ITSELF(reg) reg
const uint8_t arch_c_args[ARCH_C_ARG_CNT] = {ARCH_C_ARGS(ITSELF)};

const uint8_t arch_dwarf_registers[ARCH_DWARF_CNT] = {
	HIT_RAX, HIT_RDX, HIT_RCX, HIT_RBX, HIT_RSI, HIT_RDI, HIT_RBP, HIT_RSP, HIT_R8,
	HIT_R9,	 HIT_R10, HIT_R11, HIT_R12, HIT_R13, HIT_R14, HIT_R15, HIT_RIP,
};

const uint8_t arch_code_registers[ARCH_CODE_CNT] = {
	HIT_RAX, HIT_RCX, HIT_RDX, HIT_RBX, HIT_RSP, HIT_RBP, HIT_RSI, HIT_RDI,
	HIT_R8,	 HIT_R9,  HIT_R10, HIT_R11, HIT_R12, HIT_R13, HIT_R14, HIT_R15,
};

/* Between the flags and R8: segments, which mean nothing outside of their thread. */
const uint8_t arch_perf_registers[ARCH_PERF_CNT] = {
	HIT_RAX, HIT_RBX,    HIT_RCX, HIT_RDX, HIT_RSI,	    HIT_RDI,	 HIT_RBP,     HIT_RSP,
	HIT_RIP, HIT_EFLAGS, HIT_CS,  HIT_SS,  HIT_REG_CNT, HIT_REG_CNT, HIT_REG_CNT, HIT_REG_CNT,
	HIT_R8,	 HIT_R9,     HIT_R10, HIT_R11, HIT_R12,	    HIT_R13,	 HIT_R14,     HIT_R15,
};

int arch_register_find(const char *name, size_t len, unsigned int *ret_width)
{
	for (int reg = 0; reg < HIT_REG_CNT; reg++) {
		for (unsigned int width = 0; width < ARCH_WIDTHS && reg != HIT_CS && reg != HIT_SS; width++) {
			const char *part = arch_register_names[reg][width];

			if (!part || strlen(part) != len || memcmp(part, name, len))
				continue;
			*ret_width = width;
			return reg;
		}
	}
	return -1;
}
