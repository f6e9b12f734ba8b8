/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stops and ends as waitpid(2) reports them. Every stop is one of these. Its thread is `held` until it is
 * resumed:
 *
 * 	signal, trap	the driver's; before the start, a SIGSTOP may be a start point's
 * 	event exec	a new address space; the thread stands at the loader's first instruction
 * 	event clone	of the parent; what is new has a stop of its own, event stop, before or after this one
 * 	and fork
 * 	event stop	something new, an interrupt of ours, or a group stop (which PTRACE_LISTEN keeps up)
 *
 * A new task is a thread of a known process, or a new process, which is traced, too, or detached.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "arch/arch.h"
#include "base/error.h"
#include "model/sideband.h"
#include "process/inject.h"
#include "process/proc_status.h"
#include "session/session_internal.h"

/*
 * A child that asks to be traced by its parent does so soon after its creation, and before an exec. Each
 * system call stops twice.
 */
enum { WATCHED_CALLS = 2 * 64 };

/* The driver holds no thread longer than it takes to take it over, so the others need not be gathered. */
static int reach(struct session *session, struct session_thread *thread)
{
	int err = session_look_at_maps(session);

	session->is_reached = true;
	if (!err)
		err = ASK(session->config.driver, reached, session->config.self);
	if (!err)
		err = ASK_DRIVER(session, take_over, thread);
	TELL_CAPTURE(session, started);
	return err;
}

/* A target has reached the start point in `thread`. */
static int start_here(struct session *session, struct session_thread *thread)
{
	int err;

	if (!session->config.driver->begin)
		return reach(session, thread);
	err = session_read_maps(session, thread->process, thread->tid, false);
	if (!err)
		err = ASK_DRIVER(session, begin, thread, SESSION_HERE);
	if (!err)
		session_start(session);
	return err;
}

/* After the start. While others may run, session_gather() does it for all. */
static int begin_anywhere(struct session *session, struct session_thread *thread)
{
	return session->gathers ? 0 : ASK_DRIVER(session, begin, thread, SESSION_ANYWHERE);
}

/* ---- what is new ---- */

/* tid is in its first stop. */
static void let_go(struct session *session, pid_t tid, pid_t parent)
{
	TELL_DRIVER(session, child_let_go, tid, parent);
	pin_let_go(&session->pin, tid, parent);
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
}

void session_let_newborn_go(struct session *session, pid_t tid, pid_t parent)
{
	int status;
	pid_t waited;

	/* The thread may have stopped already, and have been resumed: then no stop will come. */
	do
		waited = waitpid(tid, &status, __WALL);
	while (waited < 0 && errno == EINTR);
	if (waited == tid && WIFSTOPPED(status))
		let_go(session, tid, parent);
}

static int adopt_process(struct session *session, pid_t pid, pid_t parent,
			 struct session_process **ret_process)
{
	int err = session_add_process(session, pid, session_find_process(session, parent), ret_process);

	if (err)
		return err;
	(*ret_process)->runs_itself = true;
	session_note(session, sideband_add_task(session->sideband, PERF_RECORD_FORK, pid, pid, parent, parent,
						session_now(session)));
	return ASK_CAPTURE(session, adopted, pid);
}

/* Adds a task that ptrace holds since its creation. *ret_thread NULL: it is not a target, or gone. */
static int adopt(struct session *session, pid_t tid, struct session_thread **ret_thread)
{
	struct session_process *process;
	uint64_t pid, parent = 0;
	int err = 0;

	*ret_thread = NULL;
	if (proc_status_number(tid, "Tgid", 10, &pid) ||
	    (tid == (pid_t)pid && proc_status_number(tid, "PPid", 10, &parent)))
		return 0;
	process = session_find_process(session, (pid_t)pid);
	if (!process && !session->config.follow_forks) {
		session->has_others = true;
		return 0;
	}
	if (!process)
		err = adopt_process(session, (pid_t)pid, (pid_t)parent, &process);
	if (!err)
		err = session_add_thread(session, process, tid, ret_thread);
	if (!err)
		pin_inherit(&session->pin, tid, tid == process->pid ? (pid_t)parent : process->pid);
	return err;
}

/* The parent's stop at a creation. It may be the parent's first stop after the start. */
static int on_creation(struct session *session, struct session_thread *parent)
{
	unsigned long tid = 0;
	struct session_thread *thread;
	int err = 0;

	ptrace(PTRACE_GETEVENTMSG, parent->tid, NULL, &tid);
	/* Else the new task's own stop came first, and maybe its end. */
	if (!session_find(session, (pid_t)tid) && !proc_has_ended((pid_t)tid)) {
		err = adopt(session, (pid_t)tid, &thread);
		if (!err && !thread)
			session_let_newborn_go(session, (pid_t)tid, parent->tid);
	}
	return err || !session->started ? err : begin_anywhere(session, parent);
}

/* The first stop of a new task. */
static int on_birth(struct session *session, struct session_thread *thread)
{
	struct session_process *process = thread->process;
	bool is_process = thread->tid == process->pid;
	int err;

	if (!is_process)
		session_note(session,
			     sideband_add_task(session->sideband, PERF_RECORD_FORK, process->pid, thread->tid,
					       process->pid, process->pid, session_now(session)));
	if (is_process)
		thread->watched_calls = WATCHED_CALLS;
	session_announce_comm(session, thread, false);
	err = is_process ? session_read_maps(session, process, thread->tid, true) : 0;
	if (!err)
		err = ASK_CAPTURE(session, born, process->pid, thread->tid);
	return err || !session->started ? err : ASK_DRIVER(session, begin, thread, SESSION_FRESH);
}

/* ---- events ---- */

int session_survivor_of_exec(struct session *session, struct session_thread *leader,
			     struct session_thread **ret_thread)
{
	unsigned long former = 0;
	struct session_thread *caller;
	int err = 0;

	ptrace(PTRACE_GETEVENTMSG, leader->tid, NULL, &former);
	caller = session_find(session, (pid_t)former);
	if (caller && caller != leader) {
		leader->dead = true;
		err = session_rename_thread(session, caller, leader->tid);
		caller->held = true;
		leader = caller;
	}
	for (size_t i = 0; i < session->thread_cnt; i++) {
		struct session_thread *thread = session->threads[i];

		if (thread == leader || thread->process != leader->process || thread->dead)
			continue;
		TELL_DRIVER(session, ended, thread);
		thread->dead = true;
	}
	*ret_thread = leader;
	return err;
}

static int on_exec(struct session *session, struct session_thread *leader)
{
	struct session_thread *thread;
	int err = session_survivor_of_exec(session, leader, &thread);

	if (!err)
		err = ASK_CAPTURE(session, executed, thread->process->pid, thread != leader);
	if (err)
		return err;
	TELL_DRIVER(session, executed, thread);
	thread->process->runs_itself = true;
	thread->watched_calls = 0;
	session_announce_comm(session, thread, true);
	err = session_read_maps(session, thread->process, thread->tid, true);
	if (err)
		return err;
	thread->announced = true;
	if (!session->started && !session_starts_at_once(session))
		return 0;
	err = ASK_DRIVER(session, begin, thread, SESSION_FRESH);
	if (!err && !session->started)
		session_start(session);
	return err;
}

static int on_event_stop(struct session *session, struct session_thread *thread, int signal)
{
	bool continued = thread->group_stop;
	int err = 0;

	TELL_DRIVER(session, event_stop, thread);
	if (!thread->announced)
		err = on_birth(session, thread);
	thread->announced = true;
	thread->group_stop = false;
	if (err)
		return err;
	if (signal != SIGTRAP) {
		/* Stopped by job control, until SIGCONT causes another event stop. */
		if (session->started)
			TELL_DRIVER(session, group_stop, thread);
		thread->group_stop = true;
		thread->held = false;
		ptrace(PTRACE_LISTEN, thread->tid, NULL, NULL);
		return 0;
	}
	if (!continued)
		session_undo_eintr(thread);
	return session->started ? begin_anywhere(session, thread) : ASK_DRIVER(session, take_over, thread);
}

static int on_signal_stop(struct session *session, struct session_thread *thread, int signal)
{
	/* A step's trap comes often, and in no call. */
	if (signal != SIGTRAP)
		call_restart_plainly(thread->tid);
	if (session->started)
		return ASK_DRIVER(session, signal, thread, signal);
	if (signal == SIGSTOP && thread->process->runs_itself && !session->is_reached &&
	    ASK_CAPTURE(session, start_wanted))
		return start_here(session, thread);
	/*
	 * The thread must not see a SIGSTOP from a hit, nor the SIGTRAP at the end of a system call that was
	 * entered by a step.
	 */
	thread->held_signal =
		(signal == SIGSTOP || thread->driven) && session_is_own_signal(session, thread, signal)
			? 0
			: signal;
	if (thread->driven)
		TELL(session->config.driver, let_go, thread);
	thread->held_signal = session_pass_signal(session, thread, thread->held_signal);
	if (thread->held_signal)
		session_tell_signal(session, thread, thread->held_signal);
	return 0;
}

/* The child that a target is about to trace, or NULL. A process can have only one tracer. */
static struct session_process *traced_by_target(struct session *session, const struct session_thread *thread)
{
	const struct session_thread *other = NULL;
	struct user_regs_struct regs;
	uint64_t request;

	if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs) || arch_syscall_nr(&regs) != SYS_ptrace)
		return NULL;
	request = arch_syscall_arg(&regs, 0);
	if (request == PTRACE_TRACEME)
		other = thread;
	else if (request == PTRACE_ATTACH || request == PTRACE_SEIZE)
		other = session_find(session, (pid_t)arch_syscall_arg(&regs, 1));
	return other && other->process != session->processes[0] ? other->process : NULL;
}

/* Before or behind a system call. */
static int on_syscall_stop(struct session *session, struct session_thread *thread)
{
	enum {
		SYSCALL_EXIT = 2
	}; /* PTRACE_EVENTMSG_SYSCALL_EXIT of linux/ptrace.h, which conflicts with sys/ptrace.h */
	struct session_process *process;
	unsigned long which = 0;

	ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &which);
	if (thread->watched_calls)
		thread->watched_calls--;
	process = which == SYSCALL_EXIT ? NULL : traced_by_target(session, thread);
	if (process)
		return session_let_process_go(session, process);
	if (which != SYSCALL_EXIT)
		return 0;
	return session->started ? ASK_DRIVER(session, syscall_end, thread)
				: ASK_DRIVER(session, take_over, thread);
}

/* Whether it ends itself, and not its process. */
static bool leaves_alone(const struct session_thread *thread)
{
	struct user_regs_struct regs;

	return !ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs) && arch_syscall_nr(&regs) == SYS_exit;
}

/*
 * A thread is about to exit. If it is the leader, the process mostly ends, and its code is gone. Reading the
 * mappings for each other thread would hold up a program that starts many.
 */
static int look_a_last_time(struct session *session, struct session_thread *thread)
{
	struct session_process *process = thread->process;
	bool leads = thread->tid == process->pid;
	int err = 0;

	if (session_leads_alone(session, process) && leaves_alone(thread))
		process->is_left = session->has_left = true;

	session_announce_comm(session, thread, false);
	if (leads || process->leader_left)
		err = session_read_maps(session, process, thread->tid, false);
	if (leads)
		session_look_for_others(session, process->pid);
	process->leader_left = process->leader_left || leads;
	return err || !leads ? err : ASK_CAPTURE(session, leaving, thread->tid);
}

static int on_stop(struct session *session, struct session_thread *thread, int status)
{
	switch (status >> 16) {
	case 0:
		if (WSTOPSIG(status) == SYSCALL_STOP)
			return on_syscall_stop(session, thread);
		return on_signal_stop(session, thread, WSTOPSIG(status));
	case PTRACE_EVENT_EXEC:
		return on_exec(session, thread);
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		return on_creation(session, thread);
	case PTRACE_EVENT_EXIT:
		return look_a_last_time(session, thread);
	case PTRACE_EVENT_STOP:
		return on_event_stop(session, thread, WSTOPSIG(status));
	default:
		return 0;
	}
}

static bool has_live_thread(const struct session *session, const struct session_process *process)
{
	for (size_t i = 0; i < session->thread_cnt; i++)
		if (session->threads[i]->process == process && !session->threads[i]->dead)
			return true;
	return false;
}

void session_end_process(struct session *session, struct session_process *process, int wait_status)
{
	process->exited = true;
	process->wait_status = wait_status;
	TELL_CAPTURE(session, ended, process->pid, wait_status);
}

void session_on_end(struct session *session, struct session_thread *thread, int wait_status)
{
	struct session_process *process = thread->process;

	session->ending = process;
	if (session->config.leaders_only)
		TELL_CAPTURE(session, catch_up); /* the names of its other threads, while it is known */
	session->ending = NULL;
	TELL_DRIVER(session, ended, thread);
	if (session->started)
		session_note(session,
			     sideband_add_task(session->sideband, PERF_RECORD_EXIT, process->pid, thread->tid,
					       process->pid, process->pid, session_now(session)));
	thread->dead = true;
	thread->held = false;
	session->ended_cnt++;
	pin_forget(&session->pin, thread->tid);
	if (thread->tid == process->pid || !has_live_thread(session, process))
		session_end_process(session, process, wait_status);
}

/* A stop of a task that is not known yet. */
static int on_stranger(struct session *session, pid_t tid, struct session_thread **ret_thread)
{
	uint64_t parent = 0;
	int err = adopt(session, tid, ret_thread);

	if (err || *ret_thread)
		return err;
	proc_status_number(tid, "PPid", 10, &parent);
	let_go(session, tid, (pid_t)parent);
	return 0;
}

/* ---- without ptrace ---- */

/* Only a process's parent reaps it and learns its wait status. */
static void look_for_ends(struct session *session)
{
	siginfo_t info = {0};
	int status;

	while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) && info.si_pid) {
		struct session_process *process = session_find_process(session, info.si_pid);

		if (process)
			session_look_for_others(session, info.si_pid);
		if (waitpid(info.si_pid, &status, __WALL) > 0 && process)
			session_end_process(session, process, status);
		info.si_pid = 0;
	}
	for (size_t i = 0; i < session->process_cnt; i++) {
		struct session_process *process = session->processes[i];
		struct pollfd end = {.fd = process->end_fd, .events = POLLIN};

		if (!process->exited && poll(&end, 1, 0) > 0)
			session_end_process(session, process, 0);
	}
}

int session_next_event(struct session *session, pid_t of, struct session_thread **ret_thread)
{
	bool idle = session->config.free_running;
	struct session_thread *thread;
	int status, err;
	pid_t tid;

	*ret_thread = NULL;
	if (idle)
		session->config.events->idle(session->config.ctx);
	if (session->config.untraced) {
		look_for_ends(session);
		return 0;
	}
	session_seize_left(session);
	session_count_stall(session);
	tid = waitpid(of, &status, __WALL | (idle ? WNOHANG : 0));
	session_count_wait(session);
	if (!tid)
		return 0;
	if (tid < 0 && errno == ECHILD && session->config.leaders_only) {
		session_find_lost(session);
		return 0;
	}
	if (tid < 0)
		return errno == EINTR ? 0 : fail_errno(-errno, "cannot wait for the traced processes");
	thread = session_find(session, tid);
	if (!WIFSTOPPED(status)) {
		if (thread)
			session_on_end(session, thread, status);
		return 0;
	}
	if (!thread) {
		err = on_stranger(session, tid, &thread);
		if (err || !thread)
			return err;
	}
	thread->held = true;
	thread->let_go = false;
	err = on_stop(session, thread, status);
	*ret_thread = session_find(session, tid);
	return err;
}
