/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/step/step_hide.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "arch/arch.h"
#include "process/inject.h"
#include "process/proc_status.h"

#define TRAP_MASK (1ull << (SIGTRAP - 1))

uint64_t step_register(const struct step_thread *thread, size_t offset)
{
	errno = 0;
	return (uint64_t)ptrace(PTRACE_PEEKUSER, thread->base.tid, offset, NULL);
}

uint64_t step_ip(const struct step_thread *thread)
{
	return step_register(thread, offsetof(struct user_regs_struct, rip));
}

void step_hide_trap_flag(const struct step_thread *thread)
{
	uint64_t sp = step_register(thread, offsetof(struct user_regs_struct, rsp));
	long flags;

	errno = 0;
	flags = ptrace(PTRACE_PEEKDATA, thread->base.tid, (void *)sp, NULL);
	if (!errno)
		ptrace(PTRACE_POKEDATA, thread->base.tid, (void *)sp,
		       (void *)(flags & ~(long)ARCH_TRAP_FLAG));
}

bool step_has_trap_flag(const struct step_thread *thread)
{
	return step_register(thread, offsetof(struct user_regs_struct, eflags)) & ARCH_TRAP_FLAG;
}

void step_take_back_trap_flag(const struct step_thread *thread)
{
	uint64_t flags = step_register(thread, offsetof(struct user_regs_struct, eflags));

	if (!errno && flags & ARCH_TRAP_FLAG)
		ptrace(PTRACE_POKEUSER, thread->base.tid, offsetof(struct user_regs_struct, eflags),
		       (void *)(flags & ~(uint64_t)ARCH_TRAP_FLAG));
}

bool step_mask_is_passing(const struct step_thread *thread)
{
	long result = step_syscall_result(thread);
	uint64_t mask, now;

	/* ptrace shows the mask that will be restored, not the temporary one. */
	return (result == -EINTR || call_is_restarted(result)) &&
	       !ptrace(PTRACE_GETSIGMASK, thread->base.tid, (void *)sizeof(mask), &mask) &&
	       !proc_status_number(thread->base.tid, "SigBlk", 16, &now) && now != mask;
}

void step_unblock_trap(struct step_thread *thread)
{
	uint64_t mask;

	thread->trap_blocked = false;
	if (ptrace(PTRACE_GETSIGMASK, thread->base.tid, (void *)sizeof(mask), &mask) || !(mask & TRAP_MASK) ||
	    step_mask_is_passing(thread))
		return;
	thread->trap_blocked = true;
	mask &= ~TRAP_MASK;
	ptrace(PTRACE_SETSIGMASK, thread->base.tid, (void *)sizeof(mask), &mask);
}

void step_block_trap_again(const struct step_thread *thread)
{
	uint64_t mask;

	if (!thread->trap_blocked ||
	    ptrace(PTRACE_GETSIGMASK, thread->base.tid, (void *)sizeof(mask), &mask) || mask & TRAP_MASK)
		return;
	mask |= TRAP_MASK;
	ptrace(PTRACE_SETSIGMASK, thread->base.tid, (void *)sizeof(mask), &mask);
}

static bool is_in_set(const struct step_thread *thread, const char *set, int signal)
{
	uint64_t mask = 0;

	return !proc_status_number(thread->base.tid, set, 16, &mask) && mask >> (signal - 1) & 1;
}

bool step_is_caught(const struct step_thread *thread, int signal)
{
	return is_in_set(thread, "SigCgt", signal);
}

bool step_trap_is_pending(const struct step_thread *thread)
{
	return is_in_set(thread, "SigBlk", SIGTRAP) &&
	       (is_in_set(thread, "SigPnd", SIGTRAP) || is_in_set(thread, "ShdPnd", SIGTRAP));
}

bool step_is_ignored(const struct step_thread *thread, int signal)
{
	return is_in_set(thread, "SigIgn", signal);
}

long step_syscall_result(const struct step_thread *thread)
{
	return (long)step_register(thread, offsetof(struct user_regs_struct, rax));
}

/*
 * A step over a uprobe ends in a SIGTRAP that looks as if the thread had sent it to itself by kill(2)
 * (arch/x86/kernel/uprobes.c), which only a system call can do.
 */
static bool is_step_over_uprobe(const struct step_thread *thread, const siginfo_t *info)
{
	return info->si_code == SI_USER && !thread->in_kernel &&
	       info->si_pid == proc_inner_pid(thread->base.tid);
}

/* If the kernel only notifies the tracer, the code contains SIGTRAP. */
bool step_is_own_trap(const struct session_thread *base, const siginfo_t *info)
{
	const struct step_thread *thread = (const struct step_thread *)base;

	return info->si_code == TRAP_TRACE || info->si_code == SIGTRAP ||
	       (info->si_code == TRAP_BRKPT && thread->insn.kind != INSN_BREAK) ||
	       is_step_over_uprobe(thread, info);
}
