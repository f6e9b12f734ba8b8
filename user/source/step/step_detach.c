/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Letting go takes each thread in a stop that is not our own step's: its SIGTRAP, with nobody left to take
 * it, would kill. Children go before their parents: one that waits for its vfork cannot be stopped until the
 * child has gone on. A thread that was killed is not let go but taken in: until each traced one is, its
 * process has no end that anybody could wait for.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "process/proc_status.h"
#include "source/step/step_hide.h"
#include "source/step/step_internal.h"

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
	int signal = status >> 16 || WSTOPSIG(status) == STEP_SYSCALL_STOP ? 0 : WSTOPSIG(status);

	if (is_creation(status))
		let_created_go(step, thread);
	if (step_is_own_signal(thread, signal))
		signal = 0;
	thread->held_signal = signal;
	thread->held = true;
	if (!signal && !thread->group_stop)
		step_undo_eintr(thread);
}

/*
 * Its next stop, or its end. False: there is none to come. A leader that ends before its process's other
 * threads stays a zombie without an end for as long as these live.
 */
static bool wait_for(const struct step_thread *thread, int *ret_status)
{
	const bool leads = thread->tid == thread->process->pid;
	const struct timespec moment = {.tv_nsec = 1000000};
	pid_t pid;

	for (;;) {
		pid = waitpid(thread->tid, ret_status, __WALL | (leads ? WNOHANG : 0));
		if (pid > 0)
			return true;
		if ((pid < 0 && errno != EINTR) || (!pid && proc_has_ended(thread->tid)))
			return false;
		if (!pid)
			nanosleep(&moment, NULL);
	}
}

static void take_back_trap_flag(struct step_thread *thread)
{
	if (thread->tf_forgotten && !thread->traps_itself)
		step_take_back_trap_flag(thread);
}

/* If we were killed, it would go on with that SIGTRAP. */
static void leave_trap_stop(struct step_thread *thread)
{
	take_back_trap_flag(thread);
	ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
	thread->held = ptrace(PTRACE_CONT, thread->tid, NULL, (void *)(long)thread->held_signal);
}

void step_bring_to_stop(struct step *step, struct step_thread *thread)
{
	if (thread->held && step_is_own_signal(thread, SIGTRAP))
		leave_trap_stop(thread);
	else if (!thread->held && ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL))
		return;
	while (!thread->dead && (!thread->held || step_own_signal_is_queued(thread))) {
		int status;

		if (thread->held) {
			take_back_trap_flag(thread);
			ptrace(PTRACE_CONT, thread->tid, NULL, (void *)(long)thread->held_signal);
		}
		thread->held = false;
		if (!wait_for(thread, &status))
			return;
		if (WIFSTOPPED(status))
			on_last_stop(step, thread, status);
		else
			step_on_end(step, thread, status);
	}
}

static void let_go(struct step *step, struct step_thread *thread)
{
	int status;

	thread->let_go = true;
	if (!ptrace(PTRACE_DETACH, thread->tid, NULL, (void *)(long)thread->held_signal))
		return;
	/* It was killed in its stop. */
	while (!thread->dead && wait_for(thread, &status)) {
		if (WIFSTOPPED(status))
			ptrace(PTRACE_CONT, thread->tid, NULL, NULL);
		else
			step_on_end(step, thread, status);
	}
}

static void let_threads_go(struct step *step, struct step_process *process)
{
	for (size_t i = step->thread_cnt; i--;) {
		struct step_thread *thread = step->threads[i];

		if (thread->dead || thread->let_go || thread->process != process)
			continue;
		step_bring_to_stop(step, thread);
		take_back_trap_flag(thread);
		step_block_trap_again(thread);
	}
	step_shield_lower(step, process);
	for (size_t i = step->thread_cnt; i--;) {
		struct step_thread *thread = step->threads[i];

		if (!thread->dead && !thread->let_go && thread->process == process)
			let_go(step, thread);
	}
}

void step_detach(struct step *step)
{
	for (size_t i = step->process_cnt; i--;)
		let_threads_go(step, step->processes[i]);
	pin_release(&step->pin);
}

int step_let_process_go(struct step *step, struct step_process *process)
{
	int err = step->started ? 0 : code_store_keep_private(process->code, step_now(step));

	let_threads_go(step, process);
	for (size_t i = 0; i < step->thread_cnt; i++) {
		struct step_thread *thread = step->threads[i];

		if (thread->process != process || thread->dead)
			continue;
		if (step->started)
			step_thread_interrupt(thread, step_now(step));
		pin_let_go(&step->pin, thread->tid, thread->tid);
		pin_forget(&step->pin, thread->tid);
		thread->dead = true;
	}
	process->exited = true;
	code_store_end(process->code);
	if (step->config.released)
		step->config.released(step->config.ctx, process->pid);
	return err;
}

int step_wait_end(const struct step *step)
{
	struct step_process *first = step->processes[0];

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
