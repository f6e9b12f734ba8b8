/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread is detached in a stop that no step of ours caused: without a tracer, that step's SIGTRAP would
 * kill it. Children go before their parents, because a parent that waits for its vfork child cannot be
 * stopped until the child continues. A thread that was killed is reaped instead: until each traced thread is,
 * nobody can wait for the end of its process.
 *
 * A thread that waits for a disk that is gone, or whose cgroup is frozen (cgroup v1), does not stop. Without
 * a driver nothing of ours is in it, so that the end of this process lets it go as well.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "process/inject.h"
#include "process/proc_status.h"
#include "session/session_internal.h"

/* So long a thread that nothing can stop is waited for. */
enum { PATIENCE_NS = 500000000 };

/* Most stops come soon: so often the processor is given away only. Then this lies between looks. */
enum { SOON_LOOKS = 50, LOOK_NS = 1000000 };

static bool is_creation(int status)
{
	int event = status >> 16;

	return event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE;
}

static void let_created_go(struct session *session, const struct session_thread *parent)
{
	unsigned long tid = 0;

	if (!ptrace(PTRACE_GETEVENTMSG, parent->tid, NULL, &tid) && !session_find(session, (pid_t)tid))
		session_let_newborn_go(session, (pid_t)tid, parent->tid);
}

/* The driver learns that its memory is that of another program, which it lets go like any other. */
static void on_last_exec(struct session *session, struct session_thread *leader)
{
	struct session_thread *thread;

	session_note(session, session_survivor_of_exec(session, leader, &thread));
	thread->held = true;
	TELL_DRIVER(session, executed, thread);
}

/*
 * A stop before the detach: the signal that the thread stops for is delivered later, unless it is our own
 * step's.
 */
static void on_last_stop(struct session *session, struct session_thread *thread, int status)
{
	int signal = status >> 16 || WSTOPSIG(status) == SYSCALL_STOP ? 0 : WSTOPSIG(status);

	if (status >> 16 == PTRACE_EVENT_EXEC) {
		on_last_exec(session, thread);
		return;
	}
	if (is_creation(status))
		let_created_go(session, thread);
	if (session_is_own_signal(session, thread, signal))
		signal = 0;
	thread->held_signal = signal;
	thread->held = true;
	if (!signal && !thread->group_stop)
		session_undo_eintr(thread);
	else
		call_restart_plainly(thread->tid);
}

/*
 * Waits for the thread's next stop or end. False: none will come, or is_stuck. A leader that exits before the
 * other threads of its process remains a zombie that cannot be reaped until they end.
 */
static bool wait_for(const struct session *session, struct session_thread *thread, int *ret_status)
{
	const bool is_plain = !session->config.driver->let_go;
	const bool looks = is_plain || thread->tid == thread->process->pid;
	const struct timespec moment = {.tv_nsec = LOOK_NS};
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	pid_t pid;

	for (size_t looked = 0;; looked++) {
		pid = waitpid(thread->tid, ret_status, __WALL | (looks ? WNOHANG : 0));
		if (pid > 0)
			return true;
		if ((pid < 0 && errno != EINTR) || (!pid && proc_has_ended(thread->tid)))
			return false;
		if (!pid && looked < SOON_LOOKS) {
			sched_yield();
			continue;
		}
		thread->is_stuck = is_plain && clock_ns(CLOCK_MONOTONIC) - begin > PATIENCE_NS &&
				   proc_is_unstoppable(thread->tid);
		if (thread->is_stuck)
			return false;
		if (!pid)
			nanosleep(&moment, NULL);
	}
}

/* Who has a stop, or what else is asked for, that nobody has waited for; 0: nobody. */
static pid_t who_waits(idtype_t type, pid_t tid, int what)
{
	siginfo_t info = {0};

	return waitid(type, (id_t)tid, &info, what | WNOHANG | WNOWAIT | __WALL) ? 0 : info.si_pid;
}

/* With the signal that it has stopped for, as at any other stop. */
static void run_on(const struct session *session, struct session_thread *thread)
{
	int signal = session_pass_signal(session, thread, thread->held_signal);

	TELL(session->config.driver, run_on, thread);
	thread->held_signal = 0;
	thread->is_stepped = false;
	thread->held = ptrace(PTRACE_CONT, thread->tid, NULL, (void *)(long)signal);
}

/* The kernel takes it back only where a thread goes on without a step, or is detached from. */
static bool has_trap_flag(const struct session_thread *thread)
{
	return thread->is_stepped && !thread->group_stop;
}

/*
 * If we were killed now, the thread would continue with that SIGTRAP, or with the trap flag. It stops again,
 * before its next instruction.
 */
static void leave_trap_stop(const struct session *session, struct session_thread *thread)
{
	ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
	run_on(session, thread);
}

void session_bring_to_stop(struct session *session, struct session_thread *thread)
{
	if (thread->held && (session_is_own_signal(session, thread, SIGTRAP) || has_trap_flag(thread)))
		leave_trap_stop(session, thread);
	/* An interrupt would stop it once more, as soon as it goes on. */
	else if (!thread->held && !who_waits(P_PID, thread->tid, WSTOPPED) &&
		 ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL))
		return;
	while (!thread->dead &&
	       (!thread->held || session_own_signal_is_queued(session, thread) || has_trap_flag(thread))) {
		int status;

		if (thread->held && session_own_signal_is_queued(session, thread))
			run_on(session, thread);
		else if (thread->held)
			leave_trap_stop(session, thread);
		thread->held = false;
		if (!wait_for(session, thread, &status))
			return;
		if (WIFSTOPPED(status))
			on_last_stop(session, thread, status);
		else
			session_on_end(session, thread, status);
	}
}

/* Most times it is a thread of the process that waits, or there is only one process. */
static pid_t who_waits_of(const struct session *session, const struct session_process *process)
{
	pid_t tid = who_waits(P_ALL, 0, WSTOPPED | WEXITED);
	const struct session_thread *thread = tid ? session_find(session, tid) : NULL;

	if (!tid || !process || (thread && thread->process == process))
		return tid;
	for (size_t i = 0; i < session->thread_cnt; i++) {
		thread = session->threads[i];
		if (thread->process == process && !thread->dead && !thread->let_go &&
		    who_waits(P_PID, thread->tid, WSTOPPED | WEXITED))
			return thread->tid;
	}
	return 0;
}

/* It is new: its parent's stop comes next. */
static void let_stranger_go(struct session *session, pid_t tid)
{
	uint64_t pid = 0, parent = 0;

	proc_status_number(tid, "Tgid", 10, &pid);
	if ((pid_t)pid == tid)
		proc_status_number(tid, "PPid", 10, &parent);
	session_let_newborn_go(session, tid, (pid_t)(parent ? parent : pid));
}

bool session_next_last_stop(struct session *session, const struct session_process *process,
			    struct session_thread **ret_thread)
{
	pid_t tid = who_waits_of(session, process);
	struct session_thread *thread = tid ? session_find(session, tid) : NULL;
	int status;

	*ret_thread = NULL;
	if (tid && !thread)
		let_stranger_go(session, tid);
	if (!thread || waitpid(tid, &status, __WALL | WNOHANG) != tid)
		return tid;
	if (!WIFSTOPPED(status)) {
		session_on_end(session, thread, status);
	} else if (!thread->let_go) {
		on_last_stop(session, thread, status);
		/* Another one, if that has executed a program. */
		thread = session_find(session, tid);
		if (thread)
			session_bring_to_stop(session, thread);
		*ret_thread = thread && thread->held ? thread : NULL;
	}
	return true;
}

void session_let_thread_go(struct session *session, struct session_thread *thread)
{
	int status;

	thread->let_go = true;
	pin_end(&session->pin, thread->tid);
	if (thread->is_stuck) {
		log_warn("thread %d waits in the kernel, or is frozen, and cannot be detached from: "
			 "the kernel lets it go when trailcam ends",
			 (int)thread->tid);
		return;
	}
	if (!ptrace(PTRACE_DETACH, thread->tid, NULL, (void *)(long)thread->held_signal)) {
		/* What was not held is stopped for a moment only. */
		if (!session->is_cut || !thread->sleeps)
			session_count_stall(session);
		return;
	}
	/* The thread was killed during its stop. */
	while (!thread->dead && wait_for(session, thread, &status)) {
		if (WIFSTOPPED(status))
			ptrace(PTRACE_CONT, thread->tid, NULL, NULL);
		else
			session_on_end(session, thread, status);
	}
}

static bool is_of(const struct session_thread *thread, const struct session_process *process)
{
	return !thread->dead && !thread->let_go && thread->process == process;
}

/* Asks the next of those before the first `end` to stop. Returns which it has not asked. */
static size_t interrupt_some(const struct session *session, const struct session_process *process, size_t end)
{
	for (size_t cnt = 0; end && cnt < SESSION_BATCH; end--) {
		const struct session_thread *thread = session->threads[end - 1];

		if (!is_of(thread, process) || thread->held)
			continue;
		ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
		cnt++;
	}
	return end;
}

static void detach_those(struct session *session, const struct session_process *process, bool sleep)
{
	for (size_t i = session->thread_cnt; i--;) {
		struct session_thread *thread = session->threads[i];

		if (is_of(thread, process) && thread->sleeps == sleep)
			session_let_thread_go(session, thread);
	}
}

/* Those that sleep, or the others. `at_once`: each is let go as soon as it is stopped. */
static void stop_those(struct session *session, const struct session_process *process, bool sleep,
		       bool at_once)
{
	size_t asked = session->thread_cnt;

	for (size_t i = session->thread_cnt; i--;) {
		struct session_thread *thread = session->threads[i];

		if (sleep && i < asked)
			asked = interrupt_some(session, process, asked);
		if (!is_of(thread, process) || thread->sleeps != sleep)
			continue;
		session_bring_to_stop(session, thread);
		/* Another one, if that has executed a program. */
		thread = session_find(session, thread->tid);
		if (thread)
			TELL(session->config.driver, let_go, thread);
		if (thread && at_once)
			session_let_thread_go(session, thread);
	}
}

static void note_held(struct session *session)
{
	for (size_t i = 0; i < session->thread_cnt; i++)
		session->threads[i]->sleeps = !session->threads[i]->held;
}

/*
 * A driver that has begun wants all threads of a process to be stopped before the first is let go. Those that
 * it held ran, and the others slept: these are stopped first and let go last. Else those that are held go
 * first.
 */
static void let_threads_go(struct session *session, struct session_process *process)
{
	bool at_once = !session->config.driver->process_let_go || session->is_cut;

	note_held(session);
	stop_those(session, process, !at_once, at_once);
	stop_those(session, process, at_once, at_once);
	TELL_DRIVER(session, process_let_go, process);
	detach_those(session, process, false);
	detach_those(session, process, true);
}

void session_detach(struct session *session)
{
	TELL_DRIVER(session, leave, NULL);
	note_held(session);
	/* What is held does not wait for other processes. */
	for (size_t i = session->is_cut ? session->process_cnt : 0; i--;)
		stop_those(session, session->processes[i], false, true);
	for (size_t i = session->process_cnt; i--;)
		let_threads_go(session, session->processes[i]);
	pin_release(&session->pin);
}

int session_let_process_go(struct session *session, struct session_process *process)
{
	int err = session->started ? 0 : ASK_CAPTURE(session, leaving, process->pid);

	TELL_DRIVER(session, leave, process);
	let_threads_go(session, process);
	for (size_t i = 0; i < session->thread_cnt; i++) {
		struct session_thread *thread = session->threads[i];

		if (thread->process != process || thread->dead)
			continue;
		if (session->started)
			TELL_DRIVER(session, ended, thread);
		thread->dead = true;
	}
	process->exited = true;
	TELL_CAPTURE(session, released, process->pid);
	return err;
}

int session_wait_end(const struct session *session)
{
	struct session_process *first = session->processes[0];

	while (!first->exited) {
		int status = 0;
		pid_t tid = waitpid(-1, &status, __WALL);

		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			break;
		if (WIFSTOPPED(status)) {
			ptrace(PTRACE_DETACH, tid, NULL, NULL);
			continue;
		}
		if (tid != first->pid)
			continue;
		first->exited = true;
		first->wait_status = status;
	}
	return first->wait_status;
}
