/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads are let go one after another, the newest first, and each is held only for its own way out. The
 * others run meanwhile: from the first moment on, the runtime gives back who comes to it. So most threads run
 * natively before they are stopped. Why none has to wait for the others:
 *
 *	our memory is there until the last thread of a process is out, which removes it. The first thread is
 *	the last one, since it is the least likely to end: it runs natively until then, held by ptrace
 *	a native thread may change code that has a copy in the cache: a thread in the cache comes to the
 *	runtime some thousand words later, and behind a system call at once
 *	a thread asleep in the kernel stands behind its call, which is made again, natively
 *	a thread that is born meanwhile, or has another stop, is let go in that stop
 *	signals and what handles them are not changed by us; one that is held back comes first
 *	the probes on the nops are silent; a thread on a nop goes on at its instruction
 *	a parent that waits for its vfork(2) child cannot be stopped until that has executed a program: all
 *	others are let go before it is waited for
 *
 * A thread in the runtime, or in the middle of an instruction, runs on, and is looked at again after all
 * others, some moments later. A signal that comes to one meanwhile is treated as always. If one does not come
 * out, what is ours stays.
 */
#include "source/translate/leave.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <time.h>

#include "base/clock.h"
#include "process/proc_status.h"
#include "source/translate/translate.h"

enum { TURNS = 32, MOMENT_NS = 1000000 };

static struct translated_thread *own(struct session_thread *thread)
{
	return (struct translated_thread *)thread;
}

static bool is_in(const struct session_thread *thread, const struct session_process *process)
{
	return (!process || thread->process == process) && !thread->dead && !thread->let_go;
}

/* The first thread of the process that was not let go, other than that one (or NULL). */
static struct session_thread *first_of(const struct leaving *leaving, const struct session_process *process,
				       const struct session_thread *other_than)
{
	struct session_thread *thread;

	for (size_t i = 0; (thread = session_thread_at(leaving->session, i)); i++)
		if (thread != other_than && is_in(thread, process))
			return thread;
	return NULL;
}

/* With what it has stopped for. */
static void go_on(const struct leaving *leaving, struct session_thread *thread)
{
	int signal = thread->held_signal;

	signal = signal ? translate_signal(leaving->translate, thread->tid, signal) : 0;
	thread->held_signal = 0;
	thread->held = false;
	ptrace(PTRACE_CONT, thread->tid, NULL, (void *)(long)signal);
}

static void give_back(const struct leaving *leaving, struct session_thread *thread)
{
	int status;

	own(thread)->is_out = true;
	if (translate_return(leaving->translate, thread->tid, &thread->held_signal, &status))
		session_on_end(leaving->session, thread, status);
}

static void clean(const struct leaving *leaving, struct session_thread *thread)
{
	int status;

	if (translate_clean(leaving->translate, thread->process->pid, thread->tid, &thread->held_signal,
			    &status))
		session_on_end(leaving->session, thread, status);
}

static bool is_out(const struct leaving *leaving, const struct session_thread *thread)
{
	return translate_is_out(leaving->translate, thread->process->pid, thread->tid);
}

/* The thread is held. */
static void on_stop(const struct leaving *leaving, struct session_thread *thread)
{
	const struct session_process *process = thread->process;
	struct session_thread *first;

	own(thread)->is_asked = false;
	translate_let_go(leaving->translate, process->pid, thread->tid, thread->held_signal);
	if (!is_out(leaving, thread)) {
		own(thread)->turns++;
		/* Job control has stopped it: it cannot run on. */
		if (!thread->group_stop)
			go_on(leaving, thread);
		return;
	}
	give_back(leaving, thread);
	if (thread->dead)
		return;
	first = first_of(leaving, process, thread);
	if (first && first_of(leaving, process, NULL) == thread) {
		go_on(leaving, thread);
		return;
	}
	if (!first)
		clean(leaving, thread);
	if (!thread->dead)
		session_let_thread_go(leaving->session, thread);
}

/* Sees to all that stop, until the thread has done so (NULL: it is any number), or the time is over. */
static void see_to_stops(const struct leaving *leaving, const struct session_thread *thread, int64_t ns)
{
	const uint64_t begin = clock_kernel_ns();
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		struct session_thread *stopped;
		int64_t left;

		while (session_next_last_stop(leaving->session, leaving->process, &stopped))
			if (stopped)
				on_stop(leaving, stopped);
		left = ns - (int64_t)(clock_kernel_ns() - begin);
		if (left <= 0 ||
		    (thread && (thread->dead || !((const struct translated_thread *)thread)->is_asked)))
			return;
		/* A stop is a SIGCHLD, which is blocked but here. */
		sigtimedwait(&child, NULL, &(struct timespec){.tv_nsec = left});
	}
}

/* Whether it is worth to stop the thread once more. */
static bool is_left(const struct leaving *leaving, struct session_thread *thread)
{
	if (!is_in(thread, leaving->process) || own(thread)->turns >= TURNS || thread->held)
		return false;
	/* The last one is looked at when it is alone. */
	return !own(thread)->is_out || !first_of(leaving, thread->process, thread);
}

/* Whether there is somebody left. */
static bool take_turn(const struct leaving *leaving)
{
	bool any = false;

	for (size_t i = session_thread_cnt(leaving->session); i--;) {
		struct session_thread *thread = session_thread_at(leaving->session, i);

		if (!is_left(leaving, thread) || proc_has_ended(thread->tid))
			continue;
		any = true;
		if (own(thread)->is_asked)
			continue;
		own(thread)->is_asked = true;
		if (!ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL))
			see_to_stops(leaving, thread, MOMENT_NS);
	}
	return any;
}

void leave(const struct leaving *leaving)
{
	struct session_thread *thread;

	translate_leave(leaving->translate, leaving->process ? leaving->process->pid : 0);
	for (size_t i = 0; (thread = session_thread_at(leaving->session, i)); i++) {
		if (!is_in(thread, leaving->process))
			continue;
		own(thread)->is_asked = false;
		if (thread->held)
			on_stop(leaving, thread);
	}
	for (int turn = 0; turn < TURNS && take_turn(leaving); turn++)
		see_to_stops(leaving, NULL, MOMENT_NS << (turn < 5 ? turn : 5));
}

void leave_rest(const struct leaving *leaving)
{
	struct session_thread *thread;
	bool all_out = true;

	for (size_t i = 0; (thread = session_thread_at(leaving->session, i)); i++) {
		if (!is_in(thread, leaving->process) || (!thread->held && proc_has_ended(thread->tid)))
			continue;
		if (!thread->held || !is_out(leaving, thread))
			all_out = false;
		else
			give_back(leaving, thread);
		if (thread->held && thread->held_signal && !own(thread)->is_out)
			thread->held_signal =
				translate_signal(leaving->translate, thread->tid, thread->held_signal);
	}
	thread = all_out ? first_of(leaving, leaving->process, NULL) : NULL;
	if (thread && thread->held)
		clean(leaving, thread);
}
