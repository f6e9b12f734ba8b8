/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Letting go: detaching takes a stop of each thread, and whatever signal it stops with is its own, unless it is our step's.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "source/step_internal.h"
#include "source/tracee.h"

/* A stop on the way to being let go: what the thread stops for is kept for it, unless it is our own step. */
static void on_last_stop(struct step_thread *thread, int status)
{
	int signal = status >> 16 ? 0 : WSTOPSIG(status);

	if (signal && tracee_signal_is_ours(thread->tid, signal))
		signal = 0;
	thread->held_signal = signal;
	thread->held = true;
	if (tracee_ours_is_queued(thread->tid)) {
		thread->held = false;
		ptrace(PTRACE_CONT, thread->tid, NULL, (void *)(long)signal);
	}
}

/* Detaching takes a stop. */
static void bring_to_stop(struct step *step, struct step_thread *thread)
{
	if (ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL))
		return;
	while (!thread->held && !thread->dead) {
		int status;

		if (waitpid(thread->tid, &status, __WALL) < 0) {
			if (errno == EINTR)
				continue;
			return;
		}
		if (WIFSTOPPED(status))
			on_last_stop(thread, status);
		else
			step_on_end(step, thread, status);
	}
}

static void let_go(struct step *step, struct step_thread *thread)
{
	if (!thread->held)
		bring_to_stop(step, thread);
	if (thread->dead)
		return;
	if (thread->trap_blocked)
		tracee_block_trap(thread->tid);
	ptrace(PTRACE_DETACH, thread->tid, NULL, (void *)(long)thread->held_signal);
}

void step_detach(struct step *step)
{
	if (step->detached)
		return;
	step->detached = true;
	for (size_t i = 0; i < step->thread_cnt; i++)
		if (!step->threads[i]->dead)
			let_go(step, step->threads[i]);
	pin_release(&step->pin);
}
