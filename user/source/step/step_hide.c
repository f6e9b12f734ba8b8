/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/step/step_hide.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "base/array.h"
#include "process/inject.h"
#include "process/proc_status.h"

enum { EFLAGS_TF = 0x100, SYSCALL_LENGTH = 2 };

#define TRAP_MASK (1ull << (SIGTRAP - 1))

uint64_t step_register(const struct step_thread *thread, size_t offset)
{
	errno = 0;
	return (uint64_t)ptrace(PTRACE_PEEKUSER, thread->tid, offset, NULL);
}

uint64_t step_ip(const struct step_thread *thread)
{
	return step_register(thread, offsetof(struct user_regs_struct, rip));
}

int step_siginfo_code(const struct step_thread *thread)
{
	siginfo_t info = {0};

	return ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) ? 0 : info.si_code;
}

void step_hide_trap_flag(const struct step_thread *thread)
{
	uint64_t sp = step_register(thread, offsetof(struct user_regs_struct, rsp));
	long flags;

	errno = 0;
	flags = ptrace(PTRACE_PEEKDATA, thread->tid, (void *)sp, NULL);
	if (!errno)
		ptrace(PTRACE_POKEDATA, thread->tid, (void *)sp, (void *)(flags & ~(long)EFLAGS_TF));
}

bool step_has_trap_flag(const struct step_thread *thread)
{
	return step_register(thread, offsetof(struct user_regs_struct, eflags)) & EFLAGS_TF;
}

void step_take_back_trap_flag(const struct step_thread *thread)
{
	uint64_t flags = step_register(thread, offsetof(struct user_regs_struct, eflags));

	if (!errno && flags & EFLAGS_TF)
		ptrace(PTRACE_POKEUSER, thread->tid, offsetof(struct user_regs_struct, eflags),
		       (void *)(flags & ~(uint64_t)EFLAGS_TF));
}

bool step_mask_is_passing(const struct step_thread *thread)
{
	long result = step_syscall_result(thread);
	uint64_t mask, now;

	/* ptrace shows the mask to come back to, which is kept beside the one in force. */
	return (result == -EINTR || call_is_restarted(result)) &&
	       !ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)sizeof(mask), &mask) &&
	       !proc_status_number(thread->tid, "SigBlk", 16, &now) && now != mask;
}

void step_unblock_trap(struct step_thread *thread)
{
	uint64_t mask;

	thread->trap_blocked = false;
	if (ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)sizeof(mask), &mask) || !(mask & TRAP_MASK) ||
	    step_mask_is_passing(thread))
		return;
	thread->trap_blocked = true;
	mask &= ~TRAP_MASK;
	ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof(mask), &mask);
}

void step_block_trap_again(const struct step_thread *thread)
{
	uint64_t mask;

	if (!thread->trap_blocked || ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)sizeof(mask), &mask) ||
	    mask & TRAP_MASK)
		return;
	mask |= TRAP_MASK;
	ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof(mask), &mask);
}

static bool is_in_set(const struct step_thread *thread, const char *set, int signal)
{
	uint64_t mask = 0;

	return !proc_status_number(thread->tid, set, 16, &mask) && mask >> (signal - 1) & 1;
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
 * A step over a uprobe ends in a SIGTRAP that the kernel sends as if the thread had sent it to itself by
 * kill(2) (arch/x86/kernel/uprobes.c), which it cannot have done but in a system call.
 */
static bool is_step_over_uprobe(const struct step_thread *thread, const siginfo_t *info)
{
	return info->si_code == SI_USER && !thread->in_kernel && info->si_pid == proc_inner_pid(thread->tid);
}

/*
 * The kernel itself sends SIGSTOP to nobody but for a BPF program; where it only tells the tracer something,
 * the code is a signal's number.
 */
static bool is_own(const struct step_thread *thread, const siginfo_t *info)
{
	if (info->si_signo == SIGSTOP)
		return info->si_code == SI_KERNEL;
	if (info->si_signo != SIGTRAP)
		return false;
	return info->si_code == TRAP_TRACE || info->si_code == SIGTRAP ||
	       (info->si_code == TRAP_BRKPT && thread->insn.kind != INSN_BREAK) ||
	       is_step_over_uprobe(thread, info);
}

bool step_is_own_signal(const struct step_thread *thread, int signal)
{
	siginfo_t info = {0};

	return !ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) && info.si_signo == signal &&
	       is_own(thread, &info);
}

bool step_own_signal_is_queued(const struct step_thread *thread)
{
	struct __ptrace_peeksiginfo_args args = {.nr = 32};
	siginfo_t queued[32];
	long cnt = ptrace(PTRACE_PEEKSIGINFO, thread->tid, &args, queued);

	for (long i = 0; i < cnt; i++)
		if (is_own(thread, &queued[i]))
			return true;
	return false;
}

/* The calls that fail with EINTR even where no handler runs. */
static bool is_never_restarted(long syscall_nr)
{
	static const long calls[] = {
		SYS_epoll_wait,	     SYS_epoll_pwait,  SYS_epoll_pwait2,  SYS_semop,	      SYS_semtimedop,
		SYS_rt_sigtimedwait, SYS_io_getevents, SYS_io_pgetevents, SYS_io_uring_enter,
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i] == syscall_nr)
			return true;
	return false;
}

static bool signal_is_due(const struct step_thread *thread)
{
	uint64_t own = 0, shared = 0, blocked = 0;

	return proc_status_number(thread->tid, "SigPnd", 16, &own) ||
	       proc_status_number(thread->tid, "ShdPnd", 16, &shared) ||
	       proc_status_number(thread->tid, "SigBlk", 16, &blocked) || (own | shared) & ~blocked;
}

void step_undo_eintr(const struct step_thread *thread)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs) || (long)regs.rax != -EINTR ||
	    !is_never_restarted((long)regs.orig_rax) || signal_is_due(thread))
		return;
	regs.rax = regs.orig_rax;
	regs.rip -= SYSCALL_LENGTH;
	ptrace(PTRACE_SETREGS, thread->tid, NULL, &regs);
}
