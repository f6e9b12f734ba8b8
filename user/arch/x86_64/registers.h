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
	HIT_GO_G = HIT_R14, /* where Go keeps the goroutine (its internal ABI, since 1.17) */
};

/*
 * Those that a sample has, by which calls can be unwound: X(HIT_..., the kernel's name in
 * struct pt_regs). They are
 * ARCH_PERF_GENERAL (machine.h), in the order in which perf writes them.
 */
/* clang-format off */
#define ARCH_SAMPLED(X) \
	X(RAX, ax) X(RBX, bx) X(RCX, cx) X(RDX, dx) X(RSI, si) X(RDI, di) X(RBP, bp) X(RSP, sp) X(RIP, ip) \
	X(R8, r8) X(R9, r9) X(R10, r10) X(R11, r11) X(R12, r12) X(R13, r13) X(R14, r14) X(R15, r15)
/* clang-format on */
#define ARCH_SAMPLED_INDEX(reg, field) ARCH_SAMPLED_##reg,

enum {
	ARCH_SAMPLED(ARCH_SAMPLED_INDEX) ARCH_SAMPLED_CNT,
	ARCH_SAMPLED_IP = ARCH_SAMPLED_RIP,
	ARCH_SAMPLED_SP = ARCH_SAMPLED_RSP,
	ARCH_SAMPLED_GO_G = ARCH_SAMPLED_R14, /* as HIT_GO_G */
	/* A system call's. */
	ARCH_SAMPLED_ARG_0 = ARCH_SAMPLED_RDI,
	ARCH_SAMPLED_ARG_1 = ARCH_SAMPLED_RSI,
	ARCH_SAMPLED_ARG_2 = ARCH_SAMPLED_RDX
};
