/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread did between two stops follows from where it stands now and from the instruction that it was
 * at:
 *
 *	SIGTRAP, step	the instruction is done (or the system call it was has returned)
 *	signal		the instruction was NOT executed; the signal is delivered when the thread goes on, and the next stop is either at
 *			its handler's first instruction (siginfo then says SIGTRAP by the kernel's ptrace_notify()), or one step
 *			further on because it was ignored: until then the thread is `unsure`
 *
 * An int3 of the target looks like a step and is told by what the kernel says of its SIGTRAP, which is then
 * delivered. Uprobes, ours or somebody else's, are invisible: the kernel handles their int3 and reports one
 * step for the instruction underneath.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "process/inject.h"
#include "process/uprobe_page.h"
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

void step_tell_signal(struct step *step, const struct step_thread *thread, int signal)
{
	struct caught_hit hit;

	if (!(step->config.signals >> (signal - 1) & 1))
		return;
	step_describe_thread(step, thread, &hit);
	step->config.signalled(step->config.ctx, signal, &hit);
}

void step_on_signal(struct step *step, struct step_thread *thread, int signal)
{
	uint64_t ip = step_ip(thread);

	step_tell_signal(step, thread, signal);
	if (thread->encoder.enabled && ip != thread->insn.ip)
		step_thread_retire(thread, thread->process->code, step_now(step), ip);
	step_thread_interrupt(thread, step_now(step));
	thread->insn = code_store_insn(thread->process->code, ip, step_now(step));
	if (thread->in_kernel)
		step_unblock_trap(thread);
	thread->detour = false;
	thread->in_kernel = false;
	thread->syscall = -1;
	thread->unsure = true;
	thread->held_signal = signal;
}

/*
 * Whether the SIGTRAP is that of an int3 or int1 which the program executed. The code tells
 * (arch/x86/kernel/traps.c): SI_KERNEL of an int3, TRAP_BRKPT of an int1; steps have others.
 */
static bool is_own_break(const struct step_thread *thread, uint64_t ip)
{
	int code;

	if (thread->insn.kind != INSN_BREAK && ip != thread->insn.ip + 1)
		return false;
	code = step_siginfo_code(thread);
	return code == SI_KERNEL || (thread->insn.kind == INSN_BREAK && code == TRAP_BRKPT);
}

/* The program has executed an int3 of its own, which may have been taken for a uprobe until now. */
static void on_break(struct step *step, struct step_thread *thread)
{
	struct code_store *code = thread->process->code;

	if (thread->insn.kind != INSN_BREAK) {
		code_store_found_break(code, thread->insn.ip, step_now(step));
		thread->insn = code_store_insn(code, thread->insn.ip, step_now(step));
		step_thread_leave(thread, step_now(step));
	}
	step_on_signal(step, thread, SIGTRAP);
}

/*
 * The stop after a signal was delivered, or after any stop in which the thread may have been inside the
 * kernel.
 */
static void step_from_unsure(struct step *step, struct step_thread *thread, uint64_t ip)
{
	uint64_t tsc = step_now(step);
	bool handler = thread->held_signal && step_siginfo_code(thread) == SIGTRAP;

	thread->held_signal = 0;
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
	int err = changes_maps(syscall_nr) ? step_read_maps(step, thread->process, thread->tid, false) : 0;

	thread->syscall = -1;
	step_unblock_trap(thread);
	if (syscall_nr == SYS_rt_sigaction)
		step_shield_action_changed(thread);
	if (syscall_nr == SYS_rt_sigreturn)
		thread->traps_itself = step_has_trap_flag(thread);
	if (syscall_nr == SYS_prctl)
		step_announce_comm(step, thread, false);
	if (err)
		return err;
	if (step_siginfo_code(thread) <= 0)
		/* A SIGTRAP that somebody sent took the place of the step's. */
		step_on_signal(step, thread, SIGTRAP);
	else
		step_thread_enter(thread, thread->process->code, step_now(step), ip);
	return 0;
}

/* The child that a target is about to trace: there can be only one tracer. Or NULL. */
static struct step_process *traced_by_target(struct step *step, const struct step_thread *thread)
{
	const struct step_thread *other = NULL;
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs) || regs.orig_rax != SYS_ptrace)
		return NULL;
	if (regs.rdi == PTRACE_TRACEME)
		other = thread;
	else if (regs.rdi == PTRACE_ATTACH || regs.rdi == PTRACE_SEIZE)
		other = step_find(step, (pid_t)regs.rsi);
	return other && other->process != step->processes[0] ? other->process : NULL;
}

int step_on_syscall_stop(struct step *step, struct step_thread *thread)
{
	struct step_process *process;
	enum {
		SYSCALL_EXIT = 2
	}; /* PTRACE_EVENTMSG_SYSCALL_EXIT of linux/ptrace.h, which does not go with sys/ptrace.h */
	unsigned long which = 0;

	ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &which);
	if (thread->watched_calls)
		thread->watched_calls--;
	process = which == SYSCALL_EXIT ? NULL : traced_by_target(step, thread);
	if (process)
		return step_let_process_go(step, process);
	if (!step->started || !thread->in_kernel || which != SYSCALL_EXIT ||
	    call_is_restarted(step_syscall_result(thread)))
		return 0;
	/*
	 * A step would deliver what the target has blocked: it goes on at full speed up to its next system
	 * call.
	 */
	if (thread->trap_blocked && step_trap_is_pending(thread))
		return 0;
	return back_from_kernel(step, thread, step_ip(thread));
}

/*
 * A uprobe may lead a thread through code of its own: where a function returns with a probe on its return, or
 * over a probed nop that the kernel has turned into a call. It is no part of the program: the trace goes from
 * the probed instruction to where the detour leads.
 */
static bool in_detour(struct step *step, const struct step_thread *thread, uint64_t ip)
{
	const struct map *map;

	if (!((ip ^ thread->insn.ip) & ~(uint64_t)0xfff))
		return false;
	map = maps_find(code_store_maps(thread->process->code), ip);
	if (!map && !step_read_maps(step, thread->process, thread->tid, false))
		map = maps_find(code_store_maps(thread->process->code), ip);
	return map && uprobe_page_is(map->mapping.name);
}

/*
 * Where a return led, from what the stop behind it shows: past the detour, or in it behind the system call
 * that tells the kernel, which has put the address behind two registers on the stack
 * (arch/x86/kernel/uprobes.c, uretprobe_trampoline). 0: it does not show.
 */
static uint64_t returned_to(struct step *step, const struct step_thread *thread)
{
	struct user_regs_struct regs;
	uint64_t ip = step_ip(thread);
	const struct map *map;

	if (!in_detour(step, thread, ip))
		return ip;
	if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs))
		return 0;
	errno = 0;
	ip = (uint64_t)ptrace(PTRACE_PEEKDATA, thread->tid, (void *)(regs.rsp + 2 * sizeof(uint64_t)), NULL);
	map = errno ? NULL : maps_find(code_store_maps(thread->process->code), ip);
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
		/* The way out of the exec or clone that it began in; nothing was executed. */
		thread->fresh = false;
		return 0;
	}
	thread->fresh = false;
	if (is_own_break(thread, ip)) {
		on_break(step, thread);
		return 0;
	}
	if (thread->in_kernel && thread->insn.kind == INSN_BREAK) {
		/* A uprobe over an instruction that cannot be known, for its file cannot be read. */
		step_thread_enter(thread, thread->process->code, step_now(step), ip);
		return 0;
	}
	if (thread->in_kernel)
		return back_from_kernel(step, thread, ip);
	if (ip == thread->insn.ip && !thread->detour && !stands_still_by_nature(&thread->insn)) {
		/* A repeated instruction that goes on, or a SIGTRAP that somebody sent. */
		if (step_siginfo_code(thread) <= 0)
			step_on_signal(step, thread, SIGTRAP);
		return 0;
	}
	if (in_detour(step, thread, ip)) {
		if (!thread->detour)
			thread->detour_tsc = step_now(step);
		thread->detour = true;
		return 0;
	}
	if (thread->insn.kind == INSN_PUSHF && !thread->traps_itself)
		step_hide_trap_flag(thread);
	if (thread->insn.loads_flags)
		thread->traps_itself = step_has_trap_flag(thread);
	if (!thread->detour || ip != thread->insn.ip)
		step_thread_retire(thread, thread->process->code,
				   thread->detour ? thread->detour_tsc : step_now(step), ip);
	thread->detour = false;
	return 0;
}

int step_on_trap(struct step *step, struct step_thread *thread)
{
	bool traps_itself = thread->traps_itself && thread->encoder.enabled && !thread->fresh;
	int err = on_step(step, thread);

	/* Without us the step would have ended in a SIGTRAP just the same. */
	if (!err && traps_itself && thread->encoder.enabled)
		step_on_signal(step, thread, SIGTRAP);
	return err;
}

void step_on_settled(struct step *step, struct step_thread *thread)
{
	thread->settling = false;
	if (!thread->unsure)
		return;
	/* It is in the handler of the signal, or where it was, if the signal was ignored. */
	thread->held_signal = 0;
	step_unblock_trap(thread);
	step_thread_enter(thread, thread->process->code, step_now(step), step_ip(thread));
}
