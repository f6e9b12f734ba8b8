/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads and processes come and go. Every stop is one of these, and the thread that it belongs to is `held` until it goes on:
 *
 *	signal, step	step_stop.c
 *	event exec	a new address space; the thread stands at the loader's first instruction
 *	event clone	of the parent; the new thread's own first stop is event stop
 *	event exit	a thread is about to end
 *	event fork	of the parent; the child is taken in, or let go, at its own first stop
 *	event stop	a new thread or process, an interrupt of ours, or a group stop (which PTRACE_LISTEN keeps up)
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/error.h"
#include "source/sideband.h"
#include "source/step_internal.h"
#include "source/tracee.h"

/* The target has reached the start point in `thread`: all others are stopped, to be stepped too. */
static int start_here(struct step *step, struct step_thread *thread)
{
	int err = step_process_read_maps(step, thread->process, thread->tid, false);

	if (err)
		return err;
	step->started = true;
	step_begin_here(step, thread, true);
	for (size_t i = 0; i < step->thread_cnt; i++)
		if (step->threads[i] != thread && !step->threads[i]->dead)
			ptrace(PTRACE_INTERRUPT, step->threads[i]->tid, NULL, NULL);
	return 0;
}

/* The thread that called exec carries on under the leader's id; returns it. */
static struct step_thread *take_over_leader(struct step *step, struct step_thread *leader)
{
	struct step_thread *caller;
	unsigned long former = 0;

	ptrace(PTRACE_GETEVENTMSG, leader->tid, NULL, &former);
	caller = step_thread_find(step, (pid_t)former);
	if (!caller || caller == leader)
		return leader;
	leader->dead = true;
	caller->tid = leader->tid;
	caller->held = true;
	return caller;
}

/* All other threads of the process are gone. */
static int on_exec(struct step *step, struct step_thread *thread)
{
	struct step_process *process = thread->process;
	int err;

	thread = take_over_leader(step, thread);
	for (size_t i = 0; i < step->thread_cnt; i++) {
		struct step_thread *other = step->threads[i];

		if (other == thread || other->dead || other->process != process)
			continue;
		step_thread_interrupt(other, step_now(step));
		other->dead = true;
	}
	process->exec_seen = true;
	if (thread->encoder.enabled) /* cannot be, unless the system call was not seen as one */
		step_thread_interrupt(thread, step_now(step));
	step_process_announce_comm(step, process, thread->tid, true);
	err = step_process_read_maps(step, process, thread->tid, true);
	if (err)
		return err;
	if (!step->config.wait_for_start)
		step->started = true;
	if (step->started)
		step_begin_here(step, thread, true);
	thread->fresh = true;
	thread->syscall = -1;
	return 0;
}

/* A thread's first stop, in the system call that made it. */
static void begin_new(struct step *step, struct step_thread *thread)
{
	pid_t pid = thread->process->pid;

	/* The parent of a process is told where it is taken in. */
	if (thread->tid != pid)
		sideband_add_task(step->sideband, PERF_RECORD_FORK, pid, thread->tid, pid, pid,
				  step_now(step));
	step_process_announce_comm(step, thread->process, thread->tid, false);
	step_begin_here(step, thread, true);
	thread->fresh = true;
}

static int on_event_stop(struct step *step, struct step_thread *thread, int signal)
{
	if (signal != SIGTRAP) {
		/* Stopped by job control: stays so until SIGCONT, which is reported as another event stop. */
		step_thread_interrupt(thread, step_now(step));
		thread->insn = code_store_insn(thread->process->code, tracee_ip(thread->tid));
		thread->unsure = true;
		thread->held = false;
		ptrace(PTRACE_LISTEN, thread->tid, NULL, NULL);
		return 0;
	}
	if (!thread->announced && step->started)
		begin_new(step, thread);
	else if (step->started && !thread->encoder.enabled && !thread->in_kernel && !thread->unsure)
		step_begin_here(step, thread, false);
	thread->announced = true;
	return 0;
}

static bool is_start(const struct step *step, const struct step_thread *thread, int signal)
{
	return signal == SIGSTOP && thread->process->exec_seen && step->config.start_wanted &&
	       step->config.start_wanted(step->config.ctx);
}

static int on_stop(struct step *step, struct step_thread *thread, int status)
{
	int signal = WSTOPSIG(status);

	switch (status >> 16) {
	case 0:
		break;
	case PTRACE_EVENT_EXEC:
		return on_exec(step, thread);
	case PTRACE_EVENT_STOP:
		return on_event_stop(step, thread, signal);
	case PTRACE_EVENT_EXIT:
		return step->started ? 0 : step_process_read_maps(step, thread->process, thread->tid, false);
	default: /* clone, fork, vfork: the child is dealt with at its own first stop */
		return 0;
	}
	if (!step->started) {
		if (is_start(step, thread, signal))
			return start_here(step, thread);
		/* One that BPF sent is a hit's (bpf/trigger.bpf.c), which the thread is not to know of. */
		thread->held_signal =
			signal == SIGSTOP && tracee_signal_is_ours(thread->tid, signal) ? 0 : signal;
		step_tell_signal(step, thread, signal);
		return 0;
	}
	if (signal == SIGTRAP)
		return step_on_step(step, thread);
	return step_on_signal(step, thread, signal);
}

void step_on_end(struct step *step, struct step_thread *thread, int status)
{
	struct step_process *process = thread->process;

	if (step->started) {
		step_thread_interrupt(thread, step_now(step));
		sideband_add_task(step->sideband, PERF_RECORD_EXIT, process->pid, thread->tid, process->pid,
				  process->pid, step_now(step));
	}
	thread->dead = true;
	thread->held = false;
	if (thread->tid == process->pid) {
		process->exited = true;
		process->wait_status = status;
		if (step->config.process)
			step->config.process(step->config.ctx, process->pid, false);
	}
}

/* A child process that is not to be traced runs on its own. */
static void let_child_go(struct step *step, pid_t pid)
{
	pin_restore_task(&step->pin, pid);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

/* A child process that is traced, too. It starts as a copy of its parent, with the same mappings. */
static int take_child_in(struct step *step, pid_t pid, struct step_thread **ret_thread)
{
	pid_t parent = tracee_parent(pid);
	struct step_process *process;
	int err = step_process_add(step, pid, &process);

	if (!err)
		err = step_thread_add(step, process, pid, ret_thread);
	if (err)
		return err;
	process->exec_seen = true;
	pin_add(&step->pin, pid);
	if (step->config.process)
		step->config.process(step->config.ctx, pid, true);
	err = sideband_add_task(step->sideband, PERF_RECORD_FORK, pid, pid, parent, parent, step_now(step));
	return err ? err : step_process_read_maps(step, process, pid, true);
}

/* A stop of a task that is not known yet: a new thread, or a child process. */
static int on_stranger(struct step *step, pid_t tid, struct step_thread **ret_thread)
{
	struct step_process *process = step_process_find(step, tracee_group(tid));

	*ret_thread = NULL;
	if (process)
		return step_thread_add(step, process, tid, ret_thread);
	if (step->config.follow_forks)
		return take_child_in(step, tid, ret_thread);
	let_child_go(step, tid);
	return 0;
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
	if (!tid)
		return 0;
	if (tid < 0)
		return errno == EINTR
			       ? 0
			       : fail_errno(-errno, "cannot wait for process %d", step->processes[0]->pid);
	thread = step_thread_find(step, tid);
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
	*ret_thread = step_thread_find(step, tid);
	return err;
}
