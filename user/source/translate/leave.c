/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that stand in the runtime or in the middle of an instruction run on until they are out: all
 * at once, because one may wait for another, and each for some moments, behind which it is looked at.
 * A signal that comes to one meanwhile is treated as always. Those that are out are let go, all but
 * one, which runs natively until the others are out, and removes what is ours then; if one does not
 * come out, all of it stays.
 */
#include "source/translate/leave.h"

#include <errno.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "process/proc_status.h"
#include "source/translate/translate.h"

static bool is_out(const struct leaving *leaving, const struct session_thread *thread)
{
	return translate_is_out(leaving->translate, thread->process->pid, thread->tid);
}

static bool is_one(const struct leaving *leaving, const struct session_thread *thread)
{
	return thread->process == leaving->process && !thread->dead && !thread->let_go &&
	       (thread->held || !proc_has_ended(thread->tid));
}

/* A thread of the process that was not let go yet: a held one that is out or not, or one that is not held. */
enum what { OUT, INSIDE, FREE };

static struct session_thread *find(const struct leaving *leaving, enum what what)
{
	struct session_thread *thread;

	for (size_t i = 0; (thread = session_thread_at(leaving->session, i)); i++)
		if (is_one(leaving, thread) && what == (!thread->held		  ? FREE
							: is_out(leaving, thread) ? OUT
										  : INSIDE))
			return thread;
	return NULL;
}

/* The stops of threads interrupt our sleep. */
static void wait_ns(long ns)
{
	struct timespec left = {.tv_nsec = ns};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static void resume_held(struct session_thread *thread, int signal)
{
	thread->held_signal = 0;
	thread->held = false;
	ptrace(PTRACE_CONT, thread->tid, NULL, (void *)(long)signal);
}

/* With what it has stopped for. */
static void go_on(const struct leaving *leaving, struct session_thread *thread)
{
	int signal = thread->held_signal;

	if (thread->held)
		resume_held(thread, signal ? translate_signal(leaving->translate, thread->tid, signal) : 0);
}

static void bring_to_stop(const struct leaving *leaving, struct session_thread *thread)
{
	session_bring_to_stop(leaving->session, thread);
	if (thread->held)
		translate_let_go(leaving->translate, thread->process->pid, thread->tid, thread->held_signal);
}

/*
 * A thread that stops for a signal is resumed at once: where signals come fast, it
 * would not get on otherwise.
 */
static void let_run(const struct leaving *leaving, long ns)
{
	enum { LOOKS = 16 };

	for (int look = 0; look < LOOKS && find(leaving, FREE); look++) {
		struct session_thread *thread;

		wait_ns(ns / LOOKS);
		for (size_t i = 0; (thread = session_thread_at(leaving->session, i)); i++) {
			if (!is_one(leaving, thread) || thread->held || !session_has_stopped(thread->tid))
				continue;
			bring_to_stop(leaving, thread);
			go_on(leaving, thread);
		}
	}
}

/* A moment is enough, unless others have the processors. All at once: one may wait for another. */
static void run_out(const struct leaving *leaving, int turn)
{
	struct session_thread *thread;

	while ((thread = find(leaving, INSIDE)) || (thread = find(leaving, OUT)))
		go_on(leaving, thread);
	let_run(leaving, 1000000l << (turn < 5 ? turn : 5));
	while ((thread = find(leaving, FREE))) {
		bring_to_stop(leaving, thread);
		if (!thread->held && !thread->dead)
			return;
	}
}

static void give_back(const struct leaving *leaving, struct session_thread *thread)
{
	int status;

	if (translate_return(leaving->translate, thread->tid, &thread->held_signal, &status))
		session_on_end(leaving->session, thread, status);
}

/* Those that are out are let go, all but the first one: it is the least likely to end. */
static void let_others_go(const struct leaving *leaving)
{
	struct session_thread *thread;
	bool any = false;

	for (size_t i = 0; (thread = session_thread_at(leaving->session, i)); i++) {
		if (!is_one(leaving, thread) || !thread->held || !is_out(leaving, thread))
			continue;
		if (any) {
			give_back(leaving, thread);
			session_let_thread_go(leaving->session, thread);
		}
		any = true;
	}
}

/* Whether no thread is inside any more. */
static bool run_all_out(const struct leaving *leaving)
{
	enum { TURNS = 32 };
	struct session_thread *inside;

	for (int turn = 0; (inside = find(leaving, INSIDE)); turn++) {
		if (inside->group_stop || turn == TURNS || find(leaving, FREE))
			return false;
		let_others_go(leaving);
		run_out(leaving, turn);
	}
	return !find(leaving, FREE);
}

void leave_process(const struct leaving *leaving)
{
	const bool all_out = run_all_out(leaving);
	struct session_thread *thread;
	int status;

	for (size_t i = 0; (thread = session_thread_at(leaving->session, i)); i++) {
		if (!is_one(leaving, thread) || !thread->held)
			continue;
		if (is_out(leaving, thread))
			give_back(leaving, thread);
		else if (thread->held_signal)
			thread->held_signal =
				translate_signal(leaving->translate, thread->tid, thread->held_signal);
	}
	thread = all_out ? find(leaving, OUT) : NULL;
	if (thread && translate_clean(leaving->translate, thread->process->pid, thread->tid,
				      &thread->held_signal, &status))
		session_on_end(leaving->session, thread, status);
}
