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
 * Those that a sample has, by which calls can be unwound: X(HIT_..., the kernel's name in struct pt_regs, the
 * bit in perf_event_attr.sample_regs_user), in the order in which perf writes them.
 */
/* clang-format off */
#define ARCH_SAMPLED(X) \
	X(RAX, ax, 0) X(RBX, bx, 1) X(RCX, cx, 2) X(RDX, dx, 3) X(RSI, si, 4) X(RDI, di, 5) X(RBP, bp, 6) \
	X(RSP, sp, 7) X(RIP, ip, 8) X(R8, r8, 16) X(R9, r9, 17) X(R10, r10, 18) X(R11, r11, 19) \
	X(R12, r12, 20) X(R13, r13, 21) X(R14, r14, 22) X(R15, r15, 23)
/* clang-format on */
#define ARCH_SAMPLED_INDEX(reg, field, bit) ARCH_SAMPLED_##reg,
#define ARCH_SAMPLED_BIT(reg, field, bit)   | 1ull << bit
#define ARCH_SAMPLED_MASK		    (0 ARCH_SAMPLED(ARCH_SAMPLED_BIT))

enum {
	ARCH_SAMPLED(ARCH_SAMPLED_INDEX) ARCH_SAMPLED_CNT,
	ARCH_SAMPLED_IP = ARCH_SAMPLED_RIP,
	ARCH_SAMPLED_SP = ARCH_SAMPLED_RSP
};
