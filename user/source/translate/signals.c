/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel builds a handler's frame of the registers that a thread has. So a thread that is about to be
 * sent into a handler is first brought to an instruction of the program (most stand at one already, or in a
 * system call), and given that instruction's own address. Behind the frame's making it is caught once more,
 * to go on in the runtime at the handler's first instruction.
 *
 *	at or in a copied instruction, faulting		its guest address
 *	at the runtime's syscall instruction		that of the guest
 *	behind it					the guest's address behind its own: so that it begins anew if the kernel wants it to
 *	elsewhere in the cache or the runtime		stepped until it is at one of these
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/error.h"
#include "process/proc_status.h"
#include "source/translate/translate_internal.h"

enum { STEPS_MAX = 5000000, FLAG_TRAP = 0x100 };

static bool is_caught(pid_t tid, int signal)
{
	uint64_t caught;

	return !proc_status_number(tid, "SigCgt", 16, &caught) && caught >> (signal - 1) & 1;
}

/* Of the instruction at hand, not somebody's sending. */
static bool is_fault(const siginfo_t *info)
{
	switch (info->si_signo) {
	case SIGSEGV:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGTRAP:
		return info->si_code > 0;
	default:
		return false;
	}
}

/* In the middle of a call, rcx and rax are in use when the return address is pushed. */
static void restore_spilled(const struct context *context, pid_t tid, struct user_regs_struct *regs)
{
	enum { PUSH_RAX = 0x50, PUSH_RCX = 0x51 };
	long byte;

	errno = 0;
	byte = ptrace(PTRACE_PEEKTEXT, tid, (void *)regs->rip, NULL) & 0xff;
	if (errno || (byte != PUSH_RAX && byte != PUSH_RCX))
		return;
	regs->rcx = context->rcx;
	if (byte == PUSH_RAX)
		regs->rax = context->rax;
}

/* A sigreturn that has not been made yet leads back to where it did. */
static void take_back_sigreturn(const struct context *context, pid_t tid, const struct user_regs_struct *regs)
{
	enum { SIGRETURN = 15, UCONTEXT_RIP = 40 + 16 * 8 };

	if (regs->rax == SIGRETURN)
		ptrace(PTRACE_POKEDATA, tid, (void *)(regs->rsp + UCONTEXT_RIP), (void *)context->returned);
}

/*
 * Whether the thread stands where the program does; its registers become the program's. `fault`: the signal,
 * if its instruction raised it; else 0.
 */
static bool settle(struct translate *translate, const struct translate_thread *thread, int fault,
		   struct user_regs_struct *regs)
{
	struct arena *arena = translate->arena;
	const struct context *context = arena_context(arena, thread->slot);
	uint64_t syscalled = arena_shared(arena)->runtime + arena_header(arena)->syscalled;
	uint64_t guest;
	bool exact;

	if (regs->rip == syscalled) {
		regs->rip = regs->rcx = context->syscall_next;
		return true;
	}
	if (regs->rip == syscalled - 2) {
		take_back_sigreturn(context, thread->tid, regs);
		regs->rip = context->syscall_next - 2;
		return true;
	}
	/* Behind a breakpoint: int3, int 3 */
	for (unsigned int len = 1; fault == SIGTRAP && len <= 2; len++)
		if (arena_guest(arena, regs->rip - len, &guest, &exact) && exact) {
			regs->rip = guest + len;
			return true;
		}
	if (!arena_guest(arena, regs->rip, &guest, &exact) || (!exact && !fault))
		return false;
	if (!exact)
		restore_spilled(context, thread->tid, regs);
	regs->rip = guest;
	return true;
}

/* Steps until the thread has settled. -ESRCH: it is gone; -EAGAIN: it does not. */
static int step_until_settled(struct translate *translate, const struct translate_thread *thread,
			      struct user_regs_struct *regs)
{
	const uint64_t step_only = ~(1ull << (SIGTRAP - 1));
	uint64_t mask;
	int err = -EAGAIN;

	/*
	 * No other signal comes in between. No system call is made on the way, so that the mask is still the
	 * program's.
	 */
	if (ptrace(PTRACE_GETSIGMASK, thread->tid, sizeof(mask), &mask) ||
	    ptrace(PTRACE_SETSIGMASK, thread->tid, sizeof(mask), &step_only))
		return -ESRCH;
	for (int i = 0; i < STEPS_MAX && err == -EAGAIN; i++) {
		int status;

		if (ptrace(PTRACE_SINGLESTEP, thread->tid, NULL, NULL) ||
		    waitpid(thread->tid, &status, __WALL) != thread->tid || !WIFSTOPPED(status) ||
		    ptrace(PTRACE_GETREGS, thread->tid, NULL, regs))
			return -ESRCH;
		if (settle(translate, thread, 0, regs))
			err = 0;
	}
	ptrace(PTRACE_SETSIGMASK, thread->tid, sizeof(mask), &mask);
	/* Behind the runtime's popf the kernel takes the trap flag of the steps for the program's. */
	regs->eflags &= ~(uint64_t)FLAG_TRAP;
	return err;
}

/*
 * The kernel makes the frame, and the interrupt stops the thread before the handler's first instruction: that
 * is translated. (A step would do that, too, but leaves its trap flag in the frame where the program stands
 * before a popf.)
 */
static void enter_handler(struct translate *translate, const struct translate_thread *thread, int signal)
{
	struct context *context = arena_context(translate->arena, thread->slot);
	struct user_regs_struct regs;
	int status;

	ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
	if (ptrace(PTRACE_CONT, thread->tid, NULL, (void *)(long)signal) ||
	    waitpid(thread->tid, &status, __WALL) != thread->tid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs))
		return;
	context->next = regs.rip;
	regs.rip = arena_shared(translate->arena)->runtime + arena_header(translate->arena)->start;
	regs.orig_rax = (uint64_t)-1;
	ptrace(PTRACE_SETREGS, thread->tid, NULL, &regs);
	ptrace(PTRACE_CONT, thread->tid, NULL, NULL);
}

/* The runtime has faulted while it read code: the registers that it has saved are the program's. */
static void take_saved(struct translate *translate, const struct context *context,
		       struct user_regs_struct *regs)
{
	const uint64_t *saved = context->regs;

	regs->rax = saved[0], regs->rcx = saved[1], regs->rdx = saved[2], regs->rbx = saved[3];
	regs->rsp = saved[4], regs->rbp = saved[5], regs->rsi = saved[6], regs->rdi = saved[7];
	regs->r8 = saved[8], regs->r9 = saved[9], regs->r10 = saved[10], regs->r11 = saved[11];
	regs->r12 = saved[12], regs->r13 = saved[13], regs->r14 = saved[14], regs->r15 = saved[15];
	regs->eflags = context->flags;
	regs->rip = context->going;
	((struct shared *)translate->arena->bytes)->lock = 0;
}

/* Lets the thread have the signal, now that its registers are the program's. */
static void pass_settled(struct translate *translate, const struct translate_thread *thread, siginfo_t *info,
			 const struct user_regs_struct *regs)
{
	ptrace(PTRACE_SETREGS, thread->tid, NULL, regs);
	ptrace(PTRACE_SETSIGINFO, thread->tid, NULL, info);
	if (is_caught(thread->tid, info->si_signo))
		enter_handler(translate, thread, info->si_signo);
	else
		ptrace(PTRACE_CONT, thread->tid, NULL, (void *)(long)info->si_signo);
}

/* There is no code: natively the program faults there, with the same signal. */
static void deliver_unmapped(struct translate *translate, struct translate_thread *thread, siginfo_t *info,
			     struct user_regs_struct *regs)
{
	struct context *context = arena_context(translate->arena, thread->slot);
	bool is_first = context->reading == context->going;

	take_saved(translate, context, regs);
	context->reading = 0;
	arena_append(translate->arena, thread->slot, regs->rip,
		     context->entered == WHY_MISS ? RING_LEAVE : RING_STOP);
	if (is_first) {
		pass_settled(translate, thread, info, regs);
		return;
	}
	translate_give_back(translate, thread, regs, regs->rip, "its code ends within a block");
	ptrace(PTRACE_CONT, thread->tid, NULL, NULL);
}

int translate_deliver(struct translate *translate, struct translate_thread *thread, int signal)
{
	struct user_regs_struct regs;
	siginfo_t info;
	bool fault = false, native;
	int err = 0;

	native = thread->slot < 0 || ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) ||
		 ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs);
	if (!native)
		fault = is_fault(&info);
	if (native || (!fault && !is_caught(thread->tid, signal))) {
		ptrace(PTRACE_CONT, thread->tid, NULL, (void *)(long)signal);
		return 0;
	}
	if (fault && arena_context(translate->arena, thread->slot)->reading) {
		deliver_unmapped(translate, thread, &info, &regs);
		return 0;
	}
	if (!settle(translate, thread, fault ? signal : 0, &regs))
		err = step_until_settled(translate, thread, &regs);
	if (err == -ESRCH)
		return 0;
	if (err)
		return fail(err, "thread %d does not come to an instruction of its own", thread->tid);
	if (fault && (signal == SIGFPE || signal == SIGILL || signal == SIGTRAP))
		info.si_addr = (void *)regs.rip;
	arena_append(translate->arena, thread->slot, regs.rip, RING_STOP);
	pass_settled(translate, thread, &info, &regs);
	return 0;
}
