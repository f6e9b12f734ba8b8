/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registers of a stopped thread, in the order of struct pt_regs (arch/x86/include/uapi/asm/ptrace.h),
 * which is user ABI. Read by BPF programs, too.
 */
#pragma once

enum hit_reg {
	HIT_R15,
	HIT_R14,
	HIT_R13,
	HIT_R12,
	HIT_RBP,
	HIT_RBX,
	HIT_R11,
	HIT_R10,
	HIT_R9,
	HIT_R8,
	HIT_RAX,
	HIT_RCX,
	HIT_RDX,
	HIT_RSI,
	HIT_RDI,
	HIT_ORIG_RAX, /* no meaning in a uprobe */
	HIT_RIP,
	HIT_CS,
	HIT_EFLAGS,
	HIT_RSP,
	HIT_SS,
	HIT_REG_CNT,

	/* What each architecture has: instruction, stack and frame pointer, and what a function returns. */
	HIT_IP = HIT_RIP,
	HIT_SP = HIT_RSP,
	HIT_FP = HIT_RBP,
	HIT_RESULT = HIT_RAX,
};
