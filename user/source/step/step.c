/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop: a thread stops, step_event.c takes in what happened, and it goes on for one more instruction;
 * until the recording is to end.
 *
 *	step_attach.c	taking hold of a running process	step_process.c	its mappings and names
 *	step_event.c	stops and ends, who is new		step_stop.c	what one step or signal means
 *	step_hide.c	what a target must not notice		step_hit.c	hits that no probe makes
 *	step_thread.c	one thread's PT stream (no ptrace)	step_detach.c	letting go
 *	step_vdso.c	what is not stepped			step_shield.c	what lets targets outlive us
 *	step_take.c	what a snapshot gets
 */
#include "source/step/step.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/rights.h"
#include "process/proc_status.h"
#include "source/step/step_hide.h"
#include "source/step/step_internal.h"

enum { PATIENCE_MS = 200, GATHER_MS = 50 };

uint64_t step_now(struct step *step)
{
	uint64_t ns = clock_ns(CLOCK_MONOTONIC);

	step->tsc = ns > step->tsc ? ns : step->tsc + 1;
	return step->tsc;
}

/* ---- threads ---- */

struct step_thread *step_find(struct step *step, pid_t tid)
{
	if (step->last < step->thread_cnt && step->threads[step->last]->tid == tid &&
	    !step->threads[step->last]->dead)
		return step->threads[step->last];
	for (size_t i = 0; i < step->thread_cnt; i++) {
		if (step->threads[i]->tid != tid || step->threads[i]->dead)
			continue;
		step->last = i;
		return step->threads[i];
	}
	return NULL;
}

void step_thread_free(struct step_thread *thread)
{
	encoder_release(&thread->encoder);
	free(thread);
}

int step_add_thread(struct step *step, struct step_process *process, pid_t tid,
		    struct step_thread **ret_thread)
{
	struct step_thread *thread = calloc(1, sizeof(*thread));
	int err = thread ? encoder_init(&thread->encoder, &step->params, step->config.ring_size) : -ENOMEM;

	if (!err)
		err = ARRAY_PUSH(step->threads, step->thread_cnt, step->thread_cap, thread);
	if (err) {
		if (thread)
			step_thread_free(thread);
		return err;
	}
	thread->process = process;
	thread->tid = tid;
	thread->syscall = -1;
	thread->log = step->config.log;
	thread->overflow_every = thread->overflow_next = step->config.overflow_every;
	*ret_thread = thread;
	return 0;
}

/* Where nothing is stepped, a process's end is the last chance to see what it had mapped. */
int step_seize(const struct step *step, pid_t tid)
{
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
		       PTRACE_O_TRACEVFORK | (step->config.idle ? PTRACE_O_TRACEEXIT : 0);

	int err;

	rights_raise_ptrace();
	err = ptrace(PTRACE_SEIZE, tid, NULL, options) ? -errno : 0;
	rights_lower_ptrace();
	return err;
}

/* ---- the run ---- */

/*
 * Only a resumption that is no step makes the kernel forget what it believes of the trap flag. The next stop
 * is an interrupt's, before any instruction is executed; the signal's handler has been entered then.
 */
static enum __ptrace_request settle(struct step_thread *thread)
{
	step_take_back_trap_flag(thread);
	thread->tf_forgotten = false;
	thread->settling = true;
	ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
	return PTRACE_CONT;
}

/*
 * System calls are not stepped, so that they and what they create know nothing of it: neither of the trap
 * flag, nor of SIGTRAP unblocked.
 */
static enum __ptrace_request step_over(struct step *step, struct step_thread *thread)
{
	if (thread->encoder.enabled) {
		step_over_vdso(step, thread);
		if (thread->insn.kind == INSN_SYSCALL)
			thread->syscall = (long)step_register(thread, offsetof(struct user_regs_struct, rax));
		step_thread_leave(thread, step_now(step));
	}
	if (thread->in_kernel && thread->insn.kind == INSN_SYSCALL) {
		step_block_trap_again(thread);
		return PTRACE_SYSCALL;
	}
	thread->tf_forgotten = thread->insn.loads_flags;
	return PTRACE_SINGLESTEP;
}

static void resume(struct step *step, struct step_thread *thread, int signal)
{
	enum __ptrace_request request = !step->started ? thread->watched_calls ? PTRACE_SYSCALL : PTRACE_CONT
					: thread->tf_forgotten && !thread->traps_itself
						? settle(thread)
						: step_over(step, thread);

	if (signal == SIGTRAP && thread->process->shield.action.handler == (uint64_t)SIG_IGN &&
	    step_siginfo_code(thread) <= 0)
		signal = 0; /* somebody has sent it */
	if (signal == SIGTRAP)
		step_shield_give_way(step, thread);
	if (!signal && request == PTRACE_SINGLESTEP)
		step_shield_raise(step, thread);
	/* The handler's frame holds the mask. */
	if (signal && step_is_caught(thread, signal))
		step_block_trap_again(thread);
	thread->held = false;
	thread->stepped = step->started;
	/* ESRCH: killed in the meantime; its exit will be reported. */
	ptrace(request, thread->tid, NULL, (void *)(long)signal);
}

static bool all_exited(const struct step *step)
{
	for (size_t i = 0; i < step->process_cnt; i++)
		if (!step->processes[i]->exited)
			return false;
	return true;
}

static bool is_stepping(const struct step_thread *thread)
{
	return !thread->dead && !thread->held && thread->announced && thread->encoder.enabled;
}

/* A step may sleep in the kernel after all, where a system call began anew: then it is asked to stop. */
static void urge(const struct step_thread *thread)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	siginfo_t info = {0};

	for (int i = 0; i < PATIENCE_MS; i++) {
		if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) || info.si_pid)
			return;
		nanosleep(&moment, NULL);
	}
	ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
}

/*
 * The recording ends: threads in the middle of a step finish it; those inside the kernel are silent anyway.
 */
static int hold_all(struct step *step)
{
	for (size_t i = 0; i < step->thread_cnt; i++) {
		while (is_stepping(step->threads[i]) && !all_exited(step)) {
			struct step_thread *thread;
			int err;

			urge(step->threads[i]);
			err = step_next_event(step, &thread);
			if (err)
				return err;
		}
	}
	return 0;
}

static void go_on(struct step *step, struct step_thread *thread)
{
	int signal = thread->held_signal;

	if (!thread->unsure)
		thread->held_signal = 0;
	resume(step, thread, signal);
}

/* Where a snapshot was taken. */
static void resume_all(struct step *step)
{
	for (size_t i = 0; i < step->thread_cnt; i++) {
		struct step_thread *thread = step->threads[i];

		if (thread->dead || !thread->paused)
			continue;
		thread->paused = false;
		step_thread_enter(thread, thread->process->code, step_now(step), thread->insn.ip);
	}
	for (size_t i = 0; i < step->thread_cnt; i++)
		if (step->threads[i]->held && !step->threads[i]->dead)
			go_on(step, step->threads[i]);
}

/* ---- the start ---- */

/*
 * A thread that runs, or will in a moment: sleepers are asked to stop, and wake up for it, but those deep in
 * the kernel do not.
 */
static bool is_on_its_way(const struct step_thread *thread)
{
	char state[16];

	return !thread->dead && !thread->held && !thread->group_stop &&
	       !proc_status_text(thread->tid, "State", state, sizeof(state)) && state[0] != 'D' &&
	       state[0] != 'Z';
}

static bool event_comes(void)
{
	const struct timespec moment = {.tv_nsec = 100000};
	siginfo_t info = {0};

	for (int i = 0; i < GATHER_MS * 10; i++) {
		if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) || info.si_pid)
			return true;
		nanosleep(&moment, NULL);
	}
	return false;
}

void step_start(struct step *step)
{
	step->started = step->gathers = true;
	step->counted_ns = clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < step->thread_cnt; i++) {
		struct step_thread *thread = step->threads[i];

		if (thread->dead)
			continue;
		pin_add(&step->pin, thread->tid);
		if (!thread->held)
			ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
	}
}

/* After step_start(): returns when no thread runs any more. */
static int gather(struct step *step)
{
	step->gathers = false;
	for (size_t i = 0; i < step->thread_cnt; i++)
		while (is_on_its_way(step->threads[i]) && event_comes()) {
			struct step_thread *thread;
			int err = step_next_event(step, &thread);

			if (err)
				return err;
		}
	if (step->config.started)
		step->config.started(step->config.ctx);
	return 0;
}

void step_rest(struct step *step)
{
	step->started = false;
	for (size_t i = 0; i < step->thread_cnt; i++)
		if (step->threads[i]->held && !step->threads[i]->dead)
			step_bring_to_stop(step, step->threads[i]);
	for (size_t i = 0; i < step->process_cnt; i++)
		step_shield_lower(step, step->processes[i]);
	for (size_t i = 0; i < step->thread_cnt; i++) {
		struct step_thread *thread = step->threads[i];

		/* What sleeps in the middle of a step is to go on without it. */
		if (!thread->held && !thread->dead && !thread->group_stop)
			ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
		if (thread->held && !thread->dead) {
			if (thread->tf_forgotten && !thread->traps_itself)
				step_take_back_trap_flag(thread);
			step_block_trap_again(thread);
		}
		thread->paused = thread->in_kernel = thread->unsure = thread->detour = thread->fresh = false;
		thread->tf_forgotten = thread->settling = false;
		thread->syscall = -1;
	}
	pin_rest(&step->pin);
}

/* ---- from stop to stop ---- */

/* A target that reaches the start has all others held first. */
static int next_event(struct step *step, struct step_thread **ret_thread)
{
	int err = step_next_event(step, ret_thread);
	pid_t tid;

	if (err || step->err)
		return err ? err : step->err;
	if (!step->gathers)
		return 0;
	tid = *ret_thread ? (*ret_thread)->tid : 0;
	err = gather(step);
	*ret_thread = step_find(step, tid);
	return err;
}

int step_run(struct step *step, enum step_end *ret_end)
{
	int err = 0;

	if (step->seized && !step->config.wait_for_start) {
		step_start(step);
		err = gather(step);
	}
	step->seized = false;
	if (err)
		return err;
	resume_all(step);
	while (!all_exited(step)) {
		struct step_thread *thread;

		err = next_event(step, &thread);
		if (err)
			return err;
		if (step->config.stop_wanted(step->config.ctx)) {
			err = hold_all(step);
			*ret_end = all_exited(step) ? STEP_EXITED : STEP_STOPPED;
			return err;
		}
		if (thread && thread->held)
			go_on(step, thread);
	}
	*ret_end = STEP_EXITED;
	return 0;
}

/* ---- life ---- */

int step_new(struct step **ret_step, const struct step_config *config)
{
	CLEANUP(step_freep) struct step *step = calloc(1, sizeof(*step));
	int err;

	if (!step)
		return -ENOMEM;
	step->config = *config;
	step->params = encoder_default_params();
	pin_init(&step->pin);
	step_vdso_init(&step->vdso);
	err = snapshot_new(&step->sideband);
	if (err)
		return err;
	*ret_step = TAKE_PTR(step);
	return 0;
}

int step_launch(struct step *step, pid_t pid)
{
	struct step_process *process;
	struct step_thread *thread;
	int err = step_seize(step, pid);

	if (err)
		return fail_errno(err, "ptrace is not allowed here (a seccomp filter, another tracer, or "
				       "kernel.yama.ptrace_scope=3)");
	err = step_add_process(step, pid, &process);
	if (!err)
		err = step_add_thread(step, process, pid, &thread);
	if (err)
		return err;
	thread->announced = true;
	return 0;
}

int step_wait_status(const struct step *step)
{
	return step->processes[0]->wait_status;
}

uint64_t step_instruction_cnt(const struct step *step)
{
	uint64_t cnt = step->past_instruction_cnt;

	for (size_t i = 0; i < step->thread_cnt; i++)
		cnt += step->threads[i]->instruction_cnt;
	return cnt;
}

uint64_t step_stalled_ns(const struct step *step)
{
	return step->stalled_ns;
}

bool step_started(const struct step *step)
{
	return step->started;
}

void step_free(struct step *step)
{
	if (!step)
		return;
	step_detach(step);
	for (size_t i = 0; i < step->thread_cnt; i++)
		step_thread_free(step->threads[i]);
	free(step->threads);
	for (size_t i = 0; i < step->process_cnt; i++)
		step_process_free(step->processes[i]);
	free(step->processes);
	snapshot_free(step->sideband);
	free(step);
}
