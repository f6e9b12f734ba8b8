/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stops and ends as waitpid(2) tells them. Every stop is one of these, and the thread that it belongs to is
 * `held` until it is made to go on:
 *
 *	signal, trap	step_stop.c; before the start, a SIGSTOP may be a start point's
 *	event exec	a new address space; the thread stands at the loader's first instruction
 *	event clone	of the parent; what is new has a stop of its own, event stop, before or after this one
 *	and fork
 *	event stop	something new, an interrupt of ours, or a group stop (which PTRACE_LISTEN keeps up)
 *
 * What is new is a thread of a process we know, or a process: that is traced, too, or let go.
 */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/error.h"
#include "model/sideband.h"
#include "process/proc_status.h"
#include "source/step/step_hide.h"
#include "source/step/step_internal.h"

/*
 * A child asks to be traced by its parent soon after it is born, and before it executes a program. Each call
 * stops twice.
 */
enum { WATCHED_CALLS = 2 * 64 };

/* ---- the start ---- */

void step_begin_here(struct step *step, struct step_thread *thread, bool in_user_mode)
{
	uint64_t ip = step_ip(thread);

	if (step_is_ignored(thread, SIGTRAP))
		thread->process->shield.action = (struct trap_action){.handler = (uint64_t)SIG_IGN};
	step_unblock_trap(thread);
	if (in_user_mode) {
		step_thread_enter(thread, thread->process->code, step_now(step), ip);
		return;
	}
	thread->insn = code_store_insn(thread->process->code, ip, step_now(step));
	thread->unsure = true;
}

/* A target has reached the start point in `thread`. */
static int start_here(struct step *step, struct step_thread *thread)
{
	int err = step_read_maps(step, thread->process, thread->tid, false);

	if (err)
		return err;
	step_begin_here(step, thread, true);
	step_start(step);
	return 0;
}

/* ---- what is new ---- */

/* tid is in its first stop. */
static void let_go(struct step *step, pid_t tid, pid_t parent)
{
	step_shield_lower_in_child(step, tid, parent);
	pin_let_go(&step->pin, tid, parent);
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
}

void step_let_newborn_go(struct step *step, pid_t tid, pid_t parent)
{
	int status;

	/* It may have stopped already, and be on its way: then there is nothing to wait for. */
	if (waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status))
		let_go(step, tid, parent);
}

static int adopt_process(struct step *step, pid_t pid, pid_t parent, struct step_process **ret_process)
{
	const struct step_process *former = step_find_process(step, parent);
	int err = step_add_process(step, pid, ret_process);

	if (err)
		return err;
	(*ret_process)->runs_itself = true;
	if (former)
		step_shield_inherit(&(*ret_process)->shield, pid, &former->shield);
	step_note(step, sideband_add_task(step->sideband, PERF_RECORD_FORK, pid, pid, parent, parent,
					  step_now(step)));
	return step->config.adopted ? step->config.adopted(step->config.ctx, pid) : 0;
}

/* What ptrace holds since its creation becomes ours; *ret_thread NULL: it is not to be traced, or gone. */
static int adopt(struct step *step, pid_t tid, struct step_thread **ret_thread)
{
	struct step_process *process;
	uint64_t pid, parent;
	int err = 0;

	*ret_thread = NULL;
	if (proc_status_number(tid, "Tgid", 10, &pid) || proc_status_number(tid, "PPid", 10, &parent))
		return 0;
	process = step_find_process(step, (pid_t)pid);
	if (!process && !step->config.follow_forks)
		return 0;
	if (!process)
		err = adopt_process(step, (pid_t)pid, (pid_t)parent, &process);
	if (!err)
		err = step_add_thread(step, process, tid, ret_thread);
	if (!err)
		pin_inherit(&step->pin, tid, tid == process->pid ? (pid_t)parent : process->pid);
	return err;
}

/* The creation, as the parent sees it. */
static int on_creation(struct step *step, const struct step_thread *parent)
{
	unsigned long tid = 0;
	struct step_thread *thread;
	int err;

	ptrace(PTRACE_GETEVENTMSG, parent->tid, NULL, &tid);
	if (step_find(step, (pid_t)tid))
		return 0; /* its own stop came first */
	err = adopt(step, (pid_t)tid, &thread);
	if (!err && !thread)
		step_let_newborn_go(step, (pid_t)tid, parent->tid);
	return err;
}

/* The first stop of something new. */
static int on_birth(struct step *step, struct step_thread *thread)
{
	struct step_process *process = thread->process;
	bool is_process = thread->tid == process->pid;
	int err;

	if (!is_process)
		step_note(step, sideband_add_task(step->sideband, PERF_RECORD_FORK, process->pid, thread->tid,
						  process->pid, process->pid, step_now(step)));
	if (is_process)
		thread->watched_calls = WATCHED_CALLS;
	step_announce_comm(step, thread, false);
	err = is_process ? step_read_maps(step, process, thread->tid, true) : 0;
	if (!err && step->config.born)
		err = step->config.born(step->config.ctx, process->pid, thread->tid);
	if (err || !step->started)
		return err;
	step_begin_here(step, thread, true);
	thread->fresh = true;
	return 0;
}

/* ---- events ---- */

/* All other threads of the process are gone; the one that called exec carries on under the leader's id. */
static struct step_thread *survivor_of_exec(struct step *step, struct step_thread *leader)
{
	unsigned long former = 0;
	struct step_thread *caller;

	ptrace(PTRACE_GETEVENTMSG, leader->tid, NULL, &former);
	caller = step_find(step, (pid_t)former);
	if (caller && caller != leader) {
		leader->dead = true;
		caller->tid = leader->tid;
		caller->held = true;
		leader = caller;
	}
	for (size_t i = 0; i < step->thread_cnt; i++) {
		struct step_thread *thread = step->threads[i];

		if (thread == leader || thread->process != leader->process || thread->dead)
			continue;
		step_thread_interrupt(thread, step_now(step));
		thread->dead = true;
	}
	return leader;
}

static int on_exec(struct step *step, struct step_thread *leader)
{
	struct step_thread *thread = survivor_of_exec(step, leader);
	int err = step->config.executed
			  ? step->config.executed(step->config.ctx, thread->process->pid, thread != leader)
			  : 0;

	if (err)
		return err;
	step_shield_on_exec(&thread->process->shield);
	thread->process->runs_itself = true;
	thread->watched_calls = 0;
	if (thread->encoder.enabled) /* cannot be, unless the system call was not seen as one */
		step_thread_interrupt(thread, step_now(step));
	step_announce_comm(step, thread, true);
	err = step_read_maps(step, thread->process, thread->tid, true);
	if (err)
		return err;
	thread->announced = true;
	thread->syscall = -1;
	if (!step->started && step->config.wait_for_start)
		return 0;
	step_begin_here(step, thread, true);
	thread->fresh = true;
	if (!step->started)
		step_start(step);
	return 0;
}

/* Stopped by job control: stays so until SIGCONT, which is reported as another event stop. */
static void on_group_stop(struct step *step, struct step_thread *thread)
{
	step_thread_interrupt(thread, step_now(step));
	thread->insn = code_store_insn(thread->process->code, step_ip(thread), step_now(step));
	thread->unsure = true;
	thread->group_stop = true;
	thread->held = false;
	ptrace(PTRACE_LISTEN, thread->tid, NULL, NULL);
}

static int on_event_stop(struct step *step, struct step_thread *thread, int signal)
{
	bool continued = thread->group_stop;
	int err = 0;

	if (thread->settling)
		step_on_settled(step, thread);
	if (!thread->announced)
		err = on_birth(step, thread);
	thread->announced = true;
	thread->group_stop = false;
	if (err)
		return err;
	if (signal != SIGTRAP) {
		on_group_stop(step, thread);
		return 0;
	}
	if (!continued)
		step_undo_eintr(thread);
	if (!step->started || thread->encoder.enabled || thread->in_kernel || thread->unsure)
		return 0;
	/* It ran freely until now. */
	err = step_read_maps(step, thread->process, thread->tid, false);
	if (!err)
		step_begin_here(step, thread, false);
	return err;
}

static int on_signal_stop(struct step *step, struct step_thread *thread, int signal)
{
	if (step->started && signal == SIGTRAP)
		return step_on_trap(step, thread);
	if (step->started && step_is_own_signal(thread, signal))
		return 0; /* a hit stops its thread, which is under our hands anyway */
	if (step->started) {
		step_on_signal(step, thread, signal);
		return 0;
	}
	if (signal == SIGSTOP && thread->process->runs_itself && step->config.start_wanted &&
	    step->config.start_wanted(step->config.ctx))
		return start_here(step, thread);
	/*
	 * One that a hit sent is not for the thread to know, nor that of a system call's end which began
	 * while it was stepped.
	 */
	thread->held_signal =
		(signal == SIGSTOP || thread->stepped) && step_is_own_signal(thread, signal) ? 0 : signal;
	if (thread->stepped)
		step_block_trap_again(thread);
	thread->stepped = false;
	step_tell_signal(step, thread, signal);
	return 0;
}

/* A thread is about to end; with the first one the process mostly does, and its code with it. */
static int look_a_last_time(struct step *step, const struct step_thread *thread)
{
	int err = step_read_maps(step, thread->process, thread->tid, false);

	return err || thread->tid != thread->process->pid
		       ? err
		       : code_store_keep_private(thread->process->code, step_now(step));
}

static int on_stop(struct step *step, struct step_thread *thread, int status)
{
	switch (status >> 16) {
	case 0:
		if (WSTOPSIG(status) == STEP_SYSCALL_STOP)
			return step_on_syscall_stop(step, thread);
		return on_signal_stop(step, thread, WSTOPSIG(status));
	case PTRACE_EVENT_EXEC:
		return on_exec(step, thread);
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		return on_creation(step, thread);
	case PTRACE_EVENT_EXIT:
		return step->started ? 0 : look_a_last_time(step, thread);
	case PTRACE_EVENT_STOP:
		return on_event_stop(step, thread, WSTOPSIG(status));
	default:
		return 0;
	}
}

static bool has_live_thread(const struct step *step, const struct step_process *process)
{
	for (size_t i = 0; i < step->thread_cnt; i++)
		if (step->threads[i]->process == process && !step->threads[i]->dead)
			return true;
	return false;
}

void step_on_end(struct step *step, struct step_thread *thread, int status)
{
	struct step_process *process = thread->process;

	if (step->started) {
		step_thread_interrupt(thread, step_now(step));
		step_note(step, sideband_add_task(step->sideband, PERF_RECORD_EXIT, process->pid, thread->tid,
						  process->pid, process->pid, step_now(step)));
	}
	thread->dead = true;
	thread->held = false;
	pin_forget(&step->pin, thread->tid);
	if (thread->tid != process->pid && has_live_thread(step, process))
		return;
	process->exited = true;
	process->wait_status = status;
	code_store_end(process->code);
	if (step->config.ended)
		step->config.ended(step->config.ctx, process->pid, status);
}

/* A stop of something that is not known yet. */
static int on_stranger(struct step *step, pid_t tid, struct step_thread **ret_thread)
{
	uint64_t parent = 0;
	int err = adopt(step, tid, ret_thread);

	if (err || *ret_thread)
		return err;
	proc_status_number(tid, "PPid", 10, &parent);
	let_go(step, tid, (pid_t)parent);
	return 0;
}

static bool any_stepping(const struct step *step)
{
	for (size_t i = 0; i < step->thread_cnt; i++) {
		const struct step_thread *thread = step->threads[i];

		if (!thread->dead && !thread->held && thread->encoder.enabled)
			return true;
	}
	return false;
}

/* Up to now. What took long was a step only if one was under way; else all slept. */
static void count_stall(struct step *step)
{
	enum { LONG_NS = 1000000 };
	uint64_t now = clock_ns(CLOCK_MONOTONIC), passed = now - step->counted_ns;

	if (step->started && (passed < LONG_NS || any_stepping(step)))
		step->stalled_ns += passed;
	step->counted_ns = now;
}

int step_next_event(struct step *step, struct step_thread **ret_thread)
{
	bool idle = !step->started && step->config.idle;
	struct step_thread *thread;
	int status, err;
	pid_t tid;

	*ret_thread = NULL;
	if (idle)
		step->config.idle(step->config.ctx);
	tid = waitpid(-1, &status, __WALL | (idle ? WNOHANG : 0));
	count_stall(step);
	if (!tid)
		return 0;
	if (tid < 0)
		return errno == EINTR ? 0 : fail_errno(-errno, "cannot wait for the traced processes");
	thread = step_find(step, tid);
	if (!WIFSTOPPED(status)) {
		if (thread)
			step_on_end(step, thread, status);
		return 0;
	}
	if (!thread) {
		err = on_stranger(step, tid, &thread);
		if (err || !thread)
			return err;
	}
	thread->held = true;
	err = on_stop(step, thread, status);
	*ret_thread = step_find(step, tid);
	return err;
}
