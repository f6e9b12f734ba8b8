/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Letting go takes each thread in a stop that is not our own step's: its SIGTRAP, with nobody left to take it, would kill. Children go before their
 * parents: one that waits for its vfork cannot be stopped until the child has gone on.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "source/step_hide.h"
#include "source/step_internal.h"

static bool is_creation(int status)
{
	int event = status >> 16;

	return event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE;
}

static void let_created_go(struct step *step, const struct step_thread *parent)
{
	unsigned long tid = 0;

	if (!ptrace(PTRACE_GETEVENTMSG, parent->tid, NULL, &tid) && !step_find(step, (pid_t)tid))
		step_let_newborn_go(step, (pid_t)tid, parent->tid);
}

/* A stop on the way to being let go: what the thread stops for is kept for it, unless it is our own step. */
static void on_last_stop(struct step *step, struct step_thread *thread, int status)
{
	int signal = status >> 16 ? 0 : WSTOPSIG(status);

	if (is_creation(status))
		let_created_go(step, thread);
	if (step_is_own_signal(thread, signal))
		signal = 0;
	thread->held_signal = signal;
	thread->held = true;
	if (!signal && !thread->group_stop)
		step_undo_eintr(thread);
}

/* Runs it up to a stop with no signal of ours behind it; mostly it has to run nothing for that. */
static void bring_to_stop(struct step *step, struct step_thread *thread)
{
	if (!thread->held && ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL))
		return;
	while (!thread->dead && (!thread->held || step_own_signal_is_queued(thread))) {
		int status;

		if (thread->held)
			ptrace(PTRACE_CONT, thread->tid, NULL, (void *)(long)thread->held_signal);
		thread->held = false;
		if (waitpid(thread->tid, &status, __WALL) < 0) {
			if (errno == EINTR)
				continue;
			return;
		}
		if (WIFSTOPPED(status))
			on_last_stop(step, thread, status);
		else
			step_on_end(step, thread, status);
	}
}

void step_detach(struct step *step)
{
	for (size_t i = step->thread_cnt; i--;) {
		struct step_thread *thread = step->threads[i];

		if (thread->dead || thread->let_go)
			continue;
		bring_to_stop(step, thread);
		step_block_trap_again(thread);
		if (!thread->dead)
			ptrace(PTRACE_DETACH, thread->tid, NULL, (void *)(long)thread->held_signal);
		thread->let_go = true;
	}
	pin_release(&step->pin);
}
