/* SPDX-License-Identifier: BSD-2-Clause */
/* The registers of a thread that ptrace holds: struct user_regs_struct of <sys/user.h>. */
#pragma once

#include <stdint.h>
#include <string.h>
#include <sys/user.h>

#include "arch/x86_64/machine.h"

/* Its system call, or the one it just came from: number, arguments from 0 to 2, result. */
static inline long arch_syscall_nr(const struct user_regs_struct *regs)
{
	return (long)regs->orig_rax;
}

static inline uint64_t arch_syscall_arg(const struct user_regs_struct *regs, unsigned int nth)
{
	return nth == 0 ? regs->rdi : nth == 1 ? regs->rsi : regs->rdx;
}

static inline long arch_syscall_result(const struct user_regs_struct *regs)
{
	return (long)regs->rax;
}

static inline void arch_syscall_set_result(struct user_regs_struct *regs, long result)
{
	regs->rax = (unsigned long long)result;
}

/* The thread makes the system call, which it came from, once more. */
static inline void arch_syscall_repeat(struct user_regs_struct *regs)
{
	regs->rax = regs->orig_rax;
	regs->rip -= ARCH_SYSCALL_SIZE;
}

/* As a hit has them: it begins with the same registers in the same order. */
static inline void arch_hit_registers(const struct user_regs_struct *regs, uint64_t ret_regs[HIT_REG_CNT])
{
	memcpy(ret_regs, regs, HIT_REG_CNT * sizeof(*ret_regs));
}
