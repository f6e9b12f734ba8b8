/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/step_hide.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "base/array.h"
#include "source/proc_status.h"

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

void step_unblock_trap(struct step_thread *thread)
{
	uint64_t mask;

	if (ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)sizeof(mask), &mask) || !(mask & TRAP_MASK))
		return;
	thread->trap_blocked = true;
	mask &= ~TRAP_MASK;
	ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof(mask), &mask);
}

void step_block_trap_again(const struct step_thread *thread)
{
	uint64_t mask;

	if (!thread->trap_blocked || ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)sizeof(mask), &mask))
		return;
	mask |= TRAP_MASK;
	ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof(mask), &mask);
}

/* The mask that rt_sigprocmask(..., old, ...) has just told: as the target knows it. */
static void show_trap_blocked(const struct step_thread *thread)
{
	uint64_t old = step_register(thread, offsetof(struct user_regs_struct, rdx));
	long mask;

	if (!old)
		return;
	errno = 0;
	mask = ptrace(PTRACE_PEEKDATA, thread->tid, (void *)old, NULL);
	if (!errno)
		ptrace(PTRACE_POKEDATA, thread->tid, (void *)old, (void *)(mask | (long)TRAP_MASK));
}

void step_mask_changed(struct step_thread *thread, long syscall_nr)
{
	uint64_t how = step_register(thread, offsetof(struct user_regs_struct, rdi));
	uint64_t set = step_register(thread, offsetof(struct user_regs_struct, rsi));
	long bits = set ? ptrace(PTRACE_PEEKDATA, thread->tid, (void *)set, NULL) : 0;

	if (syscall_nr == SYS_rt_sigprocmask && thread->trap_blocked)
		show_trap_blocked(thread);
	if (syscall_nr == SYS_rt_sigreturn || how == SIG_SETMASK ||
	    (how == SIG_UNBLOCK && (uint64_t)bits & TRAP_MASK))
		thread->trap_blocked = false;
	step_unblock_trap(thread);
}

/* The kernel itself sends SIGSTOP to nobody but for a BPF program. */
static bool is_own(int signal, int code)
{
	return (signal == SIGTRAP && code > 0) || (signal == SIGSTOP && code == SI_KERNEL);
}

bool step_is_own_signal(const struct step_thread *thread, int signal)
{
	return is_own(signal, step_siginfo_code(thread));
}

bool step_own_signal_is_queued(const struct step_thread *thread)
{
	struct __ptrace_peeksiginfo_args args = {.nr = 32};
	siginfo_t queued[32];
	long cnt = ptrace(PTRACE_PEEKSIGINFO, thread->tid, &args, queued);

	for (long i = 0; i < cnt; i++)
		if (is_own(queued[i].si_signo, queued[i].si_code))
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
