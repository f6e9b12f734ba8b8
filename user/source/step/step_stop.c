/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread's current address and its last instruction show what it did between two stops:
 *
 * 	SIGTRAP, step	the instruction is done (or the system call it was has returned)
 * 	signal		the instruction was NOT executed; the signal is delivered when the thread goes on, and
 *			the next stop is either at its handler's first instruction (siginfo then says SIGTRAP
 *			by the kernel's ptrace_notify()), or one step further on because it was ignored: until
 *			then the thread is `unsure`
 *
 * An int3 of the target looks like a step; the SIGTRAP's si_code tells them apart, and the signal is
 * delivered. Anybody's uprobes are invisible: the kernel handles their int3 and reports one step for the
 * original instruction.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "arch/arch.h"
#include "process/inject.h"
#include "source/step/step_hide.h"
#include "source/step/step_internal.h"

static bool changes_maps(long syscall_nr)
{
	switch (syscall_nr) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_pkey_mprotect:
	case SYS_mremap:
	case SYS_shmat:
		return true;
	default:
		return false;
	}
}

static bool stands_still_by_nature(const struct insn *insn)
{
	return insn->kind != INSN_OTHER && insn->kind != INSN_REP && insn->kind != INSN_PUSHF;
}

static void on_signal(struct step *step, struct step_thread *thread, int signal)
{
	uint64_t ip = step_ip(thread);

	session_tell_signal(step->session, &thread->base, signal);
	if (thread->encoder.enabled && ip != thread->insn.ip)
		step_thread_retire(thread, thread->process->code, session_now(step->session), ip);
	step_thread_interrupt(thread, session_now(step->session));
	thread->insn = code_store_insn(thread->process->code, ip, session_now(step->session));
	if (thread->in_kernel)
		step_unblock_trap(thread);
	thread->detour = false;
	thread->in_kernel = false;
	thread->syscall = -1;
	thread->unsure = true;
	thread->base.held_signal = signal;
}

/*
 * Whether an int3 or int1 of the program caused the SIGTRAP. si_code is SI_KERNEL for int3, TRAP_BRKPT for
 * int1; steps have other codes (arch/x86/kernel/traps.c).
 */
static bool is_own_break(const struct step_thread *thread, uint64_t ip)
{
	int code;

	if (thread->insn.kind != INSN_BREAK && ip != thread->insn.ip + 1)
		return false;
	code = session_siginfo_code(&thread->base);
	return code == SI_KERNEL || (thread->insn.kind == INSN_BREAK && code == TRAP_BRKPT);
}

/* The program has executed an int3 of its own, which may have been taken for a uprobe until now. */
static void on_break(struct step *step, struct step_thread *thread)
{
	struct code_store *code = thread->process->code;

	if (thread->insn.kind != INSN_BREAK) {
		code_store_found_break(code, thread->insn.ip, session_now(step->session));
		thread->insn = code_store_insn(code, thread->insn.ip, session_now(step->session));
		step_thread_leave(thread, session_now(step->session));
	}
	on_signal(step, thread, SIGTRAP);
}

/*
 * The stop after a signal was delivered, or after any stop in which the thread may have been inside the
 * kernel.
 */
static void step_from_unsure(struct step *step, struct step_thread *thread, uint64_t ip)
{
	uint64_t tsc = session_now(step->session);
	bool handler = thread->base.held_signal && session_siginfo_code(&thread->base) == SIGTRAP;

	thread->base.held_signal = 0;
	if (handler) {
		thread->traps_itself = false; /* the kernel has cleared the flag for the handler */
		step_unblock_trap(thread);
	}
	if (!handler && ip != thread->insn.ip) {
		/* The signal was ignored, and the instruction it came before has been executed. */
		step_thread_enter(thread, thread->process->code, tsc, thread->insn.ip);
		step_thread_leave(thread, tsc);
		if (is_own_break(thread, ip)) {
			on_break(step, thread);
			return;
		}
		if (!thread->in_kernel) {
			step_thread_retire(thread, thread->process->code, session_now(step->session), ip);
			return;
		}
		tsc = session_now(step->session);
	}
	step_thread_enter(thread, thread->process->code, tsc, ip);
}

static int back_from_kernel(struct step *step, struct step_thread *thread, uint64_t ip)
{
	long syscall_nr = thread->syscall;
	int err = changes_maps(syscall_nr)
			  ? session_read_maps(step->session, &thread->process->base, thread->base.tid, false)
			  : 0;

	thread->syscall = -1;
	step_unblock_trap(thread);
	if (syscall_nr == SYS_rt_sigaction)
		step_shield_action_changed(thread);
	if (syscall_nr == SYS_rt_sigreturn)
		thread->traps_itself = step_has_trap_flag(thread);
	if (syscall_nr == SYS_prctl)
		session_announce_comm(step->session, &thread->base, false);
	if (err)
		return err;
	if (session_siginfo_code(&thread->base) <= 0)
		/* A SIGTRAP that somebody sent took the place of the step's. */
		on_signal(step, thread, SIGTRAP);
	else
		step_thread_enter(thread, thread->process->code, session_now(step->session), ip);
	return 0;
}

int step_on_syscall_end(void *self, struct session_thread *base)
{
	struct step_thread *thread = (struct step_thread *)base;

	if (!thread->in_kernel || call_is_restarted(step_syscall_result(thread)))
		return 0;
	/*
	 * A step would deliver a signal that the target has blocked: it runs at full speed up to its next
	 * system call.
	 */
	if (thread->trap_blocked && step_trap_is_pending(thread))
		return 0;
	return back_from_kernel(self, thread, step_ip(thread));
}

/*
 * A uprobe may lead a thread through code that is not the program's: after a return with a probe on it, or at
 * a probed nop that the kernel has replaced by a call. The trace goes from the probed instruction directly to
 * where this detour ends.
 */
static bool in_detour(struct step *step, const struct step_thread *thread, uint64_t ip)
{
	const struct map *map;

	if (!((ip ^ thread->insn.ip) & ~(uint64_t)0xfff))
		return false;
	map = maps_find(&thread->process->base.maps, ip);
	if (!map && !session_read_maps(step->session, &thread->process->base, thread->base.tid, false))
		map = maps_find(&thread->process->base.maps, ip);
	return map && uprobe_page_is(map->mapping.name);
}

/*
 * Where a return led, as the next stop shows: after the detour, or in it after its system call, for which the
 * address is on the stack after two registers (arch/x86/kernel/uprobes.c, uretprobe_trampoline). 0: unknown.
 */
static uint64_t returned_to(struct step *step, const struct step_thread *thread)
{
	struct user_regs_struct regs;
	uint64_t ip = step_ip(thread);
	const struct map *map;

	if (!in_detour(step, thread, ip))
		return ip;
	if (ptrace(PTRACE_GETREGS, thread->base.tid, NULL, &regs))
		return 0;
	errno = 0;
	ip = (uint64_t)ptrace(PTRACE_PEEKDATA, thread->base.tid, (void *)(regs.rsp + 2 * sizeof(uint64_t)),
			      NULL);
	map = errno ? NULL : maps_find(&thread->process->base.maps, ip);
	return map && !uprobe_page_is(map->mapping.name) ? ip : 0;
}

/* In the middle of one, what was probed has been executed. */
void step_end_detour(struct step *step, struct step_thread *thread)
{
	uint64_t to = 0;

	if (!thread->detour || !thread->encoder.enabled)
		return;
	if (thread->insn.kind == INSN_OTHER)
		to = thread->insn.ip + thread->insn.len;
	else if (thread->insn.kind == INSN_RETURN)
		to = returned_to(step, thread);
	if (to)
		step_thread_retire(thread, thread->process->code, thread->detour_tsc, to);
}

/* One step is done, mostly. */
static int on_step(struct step *step, struct step_thread *thread)
{
	uint64_t ip = step_ip(thread);

	if (thread->unsure) {
		step_from_unsure(step, thread, ip);
		return 0;
	}
	if (thread->fresh && ip == thread->insn.ip) {
		/* It leaves the exec or clone that began it; nothing was executed. */
		thread->fresh = false;
		return 0;
	}
	thread->fresh = false;
	if (is_own_break(thread, ip)) {
		on_break(step, thread);
		return 0;
	}
	if (thread->in_kernel && thread->insn.kind == INSN_BREAK) {
		/* A uprobe on an unknown instruction, because its file cannot be read. */
		step_thread_enter(thread, thread->process->code, session_now(step->session), ip);
		return 0;
	}
	if (thread->in_kernel)
		return back_from_kernel(step, thread, ip);
	if (ip == thread->insn.ip && !thread->detour && !stands_still_by_nature(&thread->insn)) {
		/* A repeated instruction that continues, or a SIGTRAP that somebody sent. */
		if (session_siginfo_code(&thread->base) <= 0)
			on_signal(step, thread, SIGTRAP);
		return 0;
	}
	if (in_detour(step, thread, ip)) {
		if (!thread->detour)
			thread->detour_tsc = session_now(step->session);
		thread->detour = true;
		return 0;
	}
	if (thread->insn.kind == INSN_PUSHF && !thread->traps_itself)
		step_hide_trap_flag(thread);
	if (thread->insn.loads_flags)
		thread->traps_itself = step_has_trap_flag(thread);
	if (!thread->detour || ip != thread->insn.ip)
		step_thread_retire(thread, thread->process->code,
				   thread->detour ? thread->detour_tsc : session_now(step->session), ip);
	thread->detour = false;
	return 0;
}

static int on_trap(struct step *step, struct step_thread *thread)
{
	bool traps_itself = thread->traps_itself && thread->encoder.enabled && !thread->fresh;
	int err = on_step(step, thread);

	/* The step would have ended in a SIGTRAP without us, too. */
	if (!err && traps_itself && thread->encoder.enabled)
		on_signal(step, thread, SIGTRAP);
	return err;
}

int step_on_signal_stop(void *self, struct session_thread *base, int signal)
{
	struct step_thread *thread = (struct step_thread *)base;
	struct step *step = self;

	if (signal == SIGTRAP)
		return on_trap(step, thread);
	/* A hit stops its thread, which we control anyway. */
	if (!session_is_own_signal(step->session, base, signal))
		on_signal(step, thread, signal);
	return 0;
}

void step_on_settled(void *self, struct session_thread *base)
{
	struct step_thread *thread = (struct step_thread *)base;
	const struct step *step = self;
	bool settles = thread->settling && thread->unsure;

	thread->settling = false;
	if (!settles)
		return;
	/* It is in the signal's handler, or where it was if the signal is ignored. */
	base->held_signal = 0;
	step_unblock_trap(thread);
	step_thread_enter(thread, thread->process->code, session_now(step->session), step_ip(thread));
}
