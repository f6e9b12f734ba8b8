/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a stop means for a thread that is stepped in user code.
 *
 *	SIGTRAP, step	the instruction is done (or the system call it was has returned)
 *	signal		the instruction was NOT executed; the signal is delivered when the thread goes on, and the next stop is either at its
 *			handler's first instruction (siginfo then says SIGTRAP by the kernel's ptrace_notify()), or one step
 *			further on because it was ignored: until then the thread is `unsure`
 *
 * An int3 of the target looks like a step and is told by its opcode; its SIGTRAP is then delivered. Our own uprobes are
 * invisible: the kernel handles their int3 and reports one step for the instruction underneath.
 */
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "source/step_internal.h"
#include "source/tracee.h"

#define TRAP_MASK (1ull << (SIGTRAP - 1))

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

/*
 * The kernel forces a step's SIGTRAP on the target: where that is blocked, it unblocks it and resets its handler for good. So SIGTRAP is never
 * left blocked while the target is stepped; what the target wanted is remembered for when it is let go.
 */
static void unblock_trap(struct step_thread *thread)
{
	if (tracee_unblock_trap(thread->tid))
		thread->trap_blocked = true;
}

/* The target has just changed its signal mask by rt_sigprocmask(how, set, ...) or rt_sigreturn(). */
static void mask_changed(struct step_thread *thread, long syscall_nr)
{
	uint64_t how = tracee_reg(thread->tid, offsetof(struct user_regs_struct, rdi));
	uint64_t set = tracee_reg(thread->tid, offsetof(struct user_regs_struct, rsi));
	long bits = set ? ptrace(PTRACE_PEEKDATA, thread->tid, (void *)set, NULL) : 0;

	if (syscall_nr == SYS_rt_sigreturn || how == SIG_SETMASK ||
	    (how == SIG_UNBLOCK && (uint64_t)bits & TRAP_MASK))
		thread->trap_blocked = false;
	unblock_trap(thread);
}

/* The stop after a signal was delivered, or after any stop in which the thread may have been inside the kernel. */
static void step_from_unsure(struct step *step, struct step_thread *thread, uint64_t ip)
{
	uint64_t tsc = step_now(step);
	bool handler = thread->held_signal && tracee_signal_code(thread->tid) == SIGTRAP;

	thread->held_signal = 0;
	if (handler)
		unblock_trap(thread);
	if (!handler && ip != thread->insn.ip) {
		/* The signal was ignored, and the instruction it came before has been executed. */
		step_thread_enter(thread, thread->process->code, tsc, thread->insn.ip);
		step_thread_leave(thread, tsc);
		if (!thread->in_kernel) {
			step_thread_retire(thread, thread->process->code, step_now(step), ip);
			return;
		}
		tsc = step_now(step);
	}
	step_thread_enter(thread, thread->process->code, tsc, ip);
}

static int back_from_kernel(struct step *step, struct step_thread *thread, uint64_t ip)
{
	long syscall_nr = thread->syscall;
	int err = changes_maps(syscall_nr) ? step_process_read_maps(step, thread->process, thread->tid, false)
					   : 0;

	thread->syscall = -1;
	if (syscall_nr == SYS_rt_sigprocmask || syscall_nr == SYS_rt_sigreturn)
		mask_changed(thread, syscall_nr);
	if (!err && syscall_nr == SYS_prctl)
		step_process_announce_comm(step, thread->process, thread->tid, false);
	if (!err && tracee_signal_code(thread->tid) <= 0)
		/* A SIGTRAP that somebody sent took the place of the step's. */
		return step_on_signal(step, thread, SIGTRAP);
	if (!err)
		step_thread_enter(thread, thread->process->code, step_now(step), ip);
	return err;
}

/*
 * A uprobe may lead a thread through code of its own: where a function returns with a probe on its return, or over a probed nop that the kernel
 * has turned into a call. It is no part of the program: the trace goes from the probed instruction to where the detour leads.
 */
static bool in_detour(struct step *step, const struct step_thread *thread, uint64_t ip)
{
	const struct map *map;

	if (!((ip ^ thread->insn.ip) & ~(uint64_t)0xfff))
		return false;
	map = maps_find(code_store_maps(thread->process->code), ip);
	if (!map && !step_process_read_maps(step, thread->process, thread->tid, false))
		map = maps_find(code_store_maps(thread->process->code), ip);
	return map && !strncmp(map->mapping.name, "[uprobes", strlen("[uprobes"));
}

void step_end_detour(struct step *step, struct step_thread *thread)
{
	if (thread->detour && thread->encoder.enabled && thread->insn.kind == INSN_OTHER)
		step_thread_retire(thread, thread->process->code, step_now(step),
				   thread->insn.ip + thread->insn.len);
}

int step_on_step(struct step *step, struct step_thread *thread)
{
	uint64_t ip = tracee_ip(thread->tid);

	if (thread->unsure) {
		step_from_unsure(step, thread, ip);
		return 0;
	}
	if (thread->fresh && ip == thread->insn.ip) {
		/* The way out of the exec or clone that it began in; nothing was executed. */
		thread->fresh = false;
		return 0;
	}
	thread->fresh = false;
	if (thread->in_kernel && thread->insn.kind == INSN_BREAK)
		return step_on_signal(step, thread, SIGTRAP);
	if (thread->in_kernel)
		return back_from_kernel(step, thread, ip);
	if (ip == thread->insn.ip && !thread->detour && !stands_still_by_nature(&thread->insn)) {
		/* A repeated instruction that goes on, or a SIGTRAP that somebody sent. */
		if (tracee_signal_code(thread->tid) <= 0)
			return step_on_signal(step, thread, SIGTRAP);
		return 0;
	}
	if (in_detour(step, thread, ip)) {
		thread->detour = true;
		return 0;
	}
	if (thread->insn.kind == INSN_PUSHF)
		tracee_hide_trap_flag(thread->tid);
	if (!thread->detour || ip != thread->insn.ip)
		step_thread_retire(thread, thread->process->code, step_now(step), ip);
	thread->detour = false;
	return 0;
}

void step_tell_signal(struct step *step, const struct step_thread *thread, int signal)
{
	struct hit hit;

	if (!(step->config.signals >> (signal - 1) & 1))
		return;
	tracee_describe(thread->process->pid, thread->tid, step_now(step), &hit);
	step->config.signalled(step->config.ctx, signal, &hit);
}

int step_on_signal(struct step *step, struct step_thread *thread, int signal)
{
	uint64_t ip = tracee_ip(thread->tid);

	step_tell_signal(step, thread, signal);
	if (thread->encoder.enabled && ip != thread->insn.ip)
		step_thread_retire(thread, thread->process->code, step_now(step), ip);
	step_thread_interrupt(thread, step_now(step));
	thread->insn = code_store_insn(thread->process->code, ip);
	thread->detour = false;
	thread->in_kernel = false;
	thread->syscall = -1;
	thread->unsure = true;
	thread->held_signal = signal;
	return 0;
}

void step_begin_here(struct step *step, struct step_thread *thread, bool in_user_mode)
{
	uint64_t ip = tracee_ip(thread->tid);

	unblock_trap(thread);
	if (in_user_mode) {
		step_thread_enter(thread, thread->process->code, step_now(step), ip);
		return;
	}
	thread->insn = code_store_insn(thread->process->code, ip);
	thread->unsure = true;
}
