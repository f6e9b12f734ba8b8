/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that runs already is taken over thread by thread. Each is stopped once, for as long as it takes
 * to put it into the runtime at the instruction where it stands; the others run meanwhile, natively or
 * translated already. The first one also makes the memory that all share.
 *
 *	in code of the program			it goes on in the runtime at that instruction
 *	asleep in a system call			it sleeps on, and is taken over behind the call
 *	stopped by job control, unstoppable	it is taken over once it has stopped for us
 *
 * Letting it go is the same in the other direction: a thread that does not stand at an instruction of the
 * program runs on until the runtime has brought it to one. When all are out, nothing of ours stays in the
 * process.
 */
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "base/error.h"
#include "process/proc_status.h"
#include "source/translate/inject.h"
#include "source/translate/translate_internal.h"

int translate_attach(struct translate *translate, pid_t pid)
{
	struct translate_process *process;
	int err = translate_need_process(translate, pid, &process);

	if (!err)
		process->is_attached = true;
	return err;
}

/*
 * A child has a copy of its parent's memory, but shares the arena. It is made to run natively,
 * behind the call that made it, without anything of ours. False: it has run already, or has no
 * memory of its own, or has ended.
 */
static bool leave_parent(const struct translate *translate, pid_t pid, struct injection *ret_injection)
{
	struct translate_process *parent;
	struct user_regs_struct regs;
	struct context *context;
	uint64_t parent_pid;
	int slot;

	if (proc_status_number(pid, "PPid", 10, &parent_pid) || ptrace(PTRACE_GETREGS, pid, NULL, &regs))
		return false;
	parent = translate_find_process(translate, (pid_t)parent_pid);
	slot = parent && parent->arena ? translate_born_slot(parent->arena, &regs) : -1;
	if (slot < 0)
		return false;
	context = arena_context(parent->arena, slot);
	if (!context->has_own_memory)
		inject_lower_limits(pid, parent->arena, ret_injection);
	/* -1: for a child that has not run yet. */
	if (!context->has_own_memory || context->tid != -1)
		return false;
	regs.rip = context->syscall_next;
	regs.r15 = context->r15;
	regs.gs_base = 0;
	regs.orig_rax = (unsigned long long)-1;
	if (ptrace(PTRACE_SETREGS, pid, NULL, &regs))
		return false;
	arena_leave_slot(parent->arena, slot);
	return !inject_unmap(pid, NULL, parent->arena, ret_injection) && !ret_injection->ended;
}

int translate_adopt_child(struct translate *translate, pid_t pid, bool *ret_ended, int *ret_status)
{
	struct injection injection = {.tid = pid};
	bool is_free = leave_parent(translate, pid, &injection);
	struct translate_process *process;
	int err = 0;

	*ret_ended = injection.ended;
	*ret_status = injection.status;
	if (is_free)
		err = translate_need_process(translate, pid, &process);
	if (is_free && !err)
		process->is_attached = true;
	return err;
}

bool translate_wants(const struct translate *translate, pid_t pid, pid_t tid)
{
	const struct translate_process *process = translate_find_process(translate, pid);

	return process && process->is_attached && !translate_find(translate, tid);
}

bool translate_waits(const struct translate *translate, pid_t tid)
{
	const struct translate_thread *thread = translate_find(translate, tid);

	return thread && thread->waits;
}

/*
 * A thread that has been in the memory of an earlier trailcam still has its address there in gs. If it only
 * sleeps, and we are killed, the next trailcam would take it for one that is in our memory (former.c).
 */
static void forget_former_slot(pid_t tid)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) ||
	    regs.gs_base - ARENA_BASE >= arena_bytes(RING_SIZE_MAX, SLOTS_MAX))
		return;
	regs.gs_base = 0;
	ptrace(PTRACE_SETREGS, tid, NULL, &regs);
}

/* The memory for the process, and an entry for the thread. */
static int prepare(struct translate *translate, struct translate_process *process, pid_t tid,
		   struct translate_thread **ret_thread, struct injection *ret_injection)
{
	int err = 0;

	if (!process->arena) {
		err = translate_make_arena(translate, process, tid, ret_injection);
		process->is_attached = process->arena || ret_injection->ended;
	}
	if (err || !process->arena || ret_injection->ended)
		return err;
	err = translate_add_thread(translate, process, tid, ret_thread);
	if (err)
		return err;
	forget_former_slot(tid);
	/* This takes most of the time: who sleeps in a system call does not wait for it behind that. */
	(*ret_thread)->next_slot = arena_take_slot(process->arena, process->pid, tid);
	if ((*ret_thread)->next_slot < 0) {
		translate_refuse(translate, tid, give_back_reasons[GIVE_THREADS]);
		return 0;
	}
	err = inject_leave_rseq(tid, process->arena, &(*ret_thread)->rseq, ret_injection);
	(*ret_thread)->waits = !err;
	if (err && !ret_injection->ended)
		translate_refuse(translate, tid, fail_message(err));
	return 0;
}

int translate_take_over(struct translate *translate, pid_t pid, pid_t tid, bool *ret_ended, int *ret_status)
{
	struct translate_process *process = translate_find_process(translate, pid);
	struct translate_thread *thread = translate_find(translate, tid);
	struct injection injection = {.tid = tid};
	struct user_regs_struct regs;
	int err = 0;

	*ret_ended = false;
	if (thread ? !thread->waits : !translate_wants(translate, pid, tid))
		return 0;
	if (!thread)
		err = prepare(translate, process, tid, &thread, &injection);
	*ret_ended = injection.ended;
	*ret_status = injection.status;
	if (err || injection.ended || !thread || !thread->waits)
		return err;
	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) ||
	    ((long)regs.orig_rax >= 0 && call_is_restarted((long)regs.rax)))
		return 0;
	thread->waits = false;
	return translate_enter(translate, thread);
}

bool translate_is_out(const struct translate *translate, pid_t pid, pid_t tid)
{
	const struct translate_process *process = translate_find_process(translate, pid);
	struct user_regs_struct regs;

	return !process || !process->arena ||
	       (!ptrace(PTRACE_GETREGS, tid, NULL, &regs) && !arena_is_ours(process->arena, regs.rip));
}

bool translate_return(const struct translate *translate, pid_t tid, int *signal, int *ret_status)
{
	struct translate_thread *thread = translate_find(translate, tid);
	struct injection injection = {0};
	struct user_regs_struct regs;
	struct context *context;

	if (!thread || ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return false;
	context = thread->slot >= 0 && thread->process->arena
			  ? arena_context(thread->process->arena, thread->slot)
			  : NULL;
	/* If the runtime itself has let it go; a program that has set one of its own keeps it. */
	if (context && regs.gs_base == context->self) {
		regs.gs_base = 0;
		ptrace(PTRACE_SETREGS, tid, NULL, &regs);
	}
	if (thread->rseq.addr && thread->process->arena)
		inject_return(tid, signal, thread->process->arena, &thread->rseq, &injection);
	thread->rseq.addr = 0;
	*ret_status = injection.status;
	return injection.ended;
}

void translate_child_let_go(struct translate *translate, pid_t tid)
{
	struct injection injection;
	int signal = 0, status;
	uint64_t pid;

	if (proc_status_number(tid, "Tgid", 10, &pid))
		return;
	if ((pid_t)pid == tid) {
		leave_parent(translate, tid, &injection);
		return;
	}
	translate_let_go(translate, (pid_t)pid, tid, 0);
	translate_return(translate, tid, &signal, &status);
}

void translate_leave(struct translate *translate, pid_t pid)
{
	for (size_t i = 0; i < translate->process_cnt; i++) {
		struct translate_process *process = translate->processes[i];

		if (pid && process->pid != pid)
			continue;
		process->is_attached = false;
		if (process->arena)
			arena_leave(process->arena);
	}
}

bool translate_clean(const struct translate *translate, pid_t pid, pid_t tid, int *signal, int *ret_status)
{
	const struct translate_process *process = translate_find_process(translate, pid);
	struct injection injection = {0};

	if (process && process->arena)
		inject_unmap(tid, signal, process->arena, &injection);
	*ret_status = injection.status;
	return injection.ended;
}
