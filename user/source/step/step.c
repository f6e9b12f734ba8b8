/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver: how a thread continues from a stop by one instruction, and what stops and ends add to its PT
 * stream.
 *
 * 	step_source.c	in the table of sources			step_stop.c	what one step or signal means
 * 	step_thread.c	one thread's PT stream (no ptrace)	step_hide.c	what a target must not notice
 * 	step_vdso.c	what is not stepped			step_shield.c	what lets targets outlive us
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "source/step/step_hide.h"
#include "source/step/step_internal.h"

enum { RING_SIZE_DEFAULT = 4 << 20 };

/* ---- the instruction log ---- */

/* A new file that only its owner may read. It replaces an old one, which others might read. */
static int create_log(const char *path)
{
	struct stat st;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return open(path, O_WRONLY | O_CLOEXEC);
	if (unlink(path) && errno != ENOENT)
		return -1;
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static int open_log(struct step *step)
{
	const char *path = step->options->step_log;
	CLEANUP(closep) int fd = path ? create_log(path) : -1;

	if (!path)
		return 0;
	step->log = fd < 0 ? NULL : fdopen(fd, "w");
	if (!step->log)
		return fail_errno(-errno, "cannot write the step log %s", path);
	fd = -1;
	return 0;
}

/* ---- what is new, and what ends ---- */

static int plug(void *self, struct session *session)
{
	struct step *step = self;

	step->session = session;
	return open_log(step);
}

static int process_new(void *self, struct session_process *base, const struct session_process *former)
{
	struct step_process *process = (struct step_process *)base;
	struct step *step = self;

	if (former)
		step_shield_inherit(&process->shield, base->pid,
				    &((const struct step_process *)former)->shield);
	return code_stores_get(step->codes, base->pid, &process->code);
}

static int thread_new(void *self, struct session_thread *base)
{
	struct step_thread *thread = (struct step_thread *)base;
	struct step *step = self;

	thread->process = (struct step_process *)base->process;
	thread->syscall = -1;
	thread->log = step->log;
	thread->overflow_every = thread->overflow_next = step->options->step_overflow;
	return encoder_init(&thread->encoder, &step->params,
			    step->options->ring_size ? step->options->ring_size : RING_SIZE_DEFAULT);
}

static void thread_free(void *self, struct session_thread *base)
{
	struct step_thread *thread = (struct step_thread *)base;
	struct step *step = self;

	step->past_instruction_cnt += thread->instruction_cnt;
	encoder_release(&thread->encoder);
}

static void executed(void *self, struct session_thread *base)
{
	struct step_thread *thread = (struct step_thread *)base;
	struct step *step = self;

	step_shield_on_exec(&thread->process->shield);
	if (thread->encoder.enabled) /* happens only if the system call was not recognised as one */
		step_thread_interrupt(thread, session_now(step->session));
	thread->syscall = -1;
}

/* New code needs a new PSB in every stream of the process: a decoder can switch images only there. */
static void code_changed(void *self, struct session_process *process)
{
	const struct step *step = self;
	struct session_thread *thread;

	for (size_t i = 0; (thread = session_thread_at(step->session, i)); i++)
		if (thread->process == process)
			((struct step_thread *)thread)->encoder.psb_wanted = true;
}

static void ended(void *self, struct session_thread *thread)
{
	const struct step *step = self;

	step_thread_interrupt((struct step_thread *)thread, session_now(step->session));
}

static void group_stop(void *self, struct session_thread *base)
{
	struct step_thread *thread = (struct step_thread *)base;
	struct step *step = self;

	step_thread_interrupt(thread, session_now(step->session));
	thread->insn = code_store_insn(thread->process->code, step_ip(thread), session_now(step->session));
	thread->unsure = true;
}

/* ---- how a thread goes on ---- */

/* Stepped threads change it before our eyes. */
static void note_ignored(struct step_thread *thread)
{
	struct step_process *process = thread->process;

	if (!process->knows_ignored && step_is_ignored(thread, SIGTRAP))
		process->shield.action = (struct trap_action){.handler = (uint64_t)SIG_IGN};
	process->knows_ignored = true;
}

static int begin(void *self, struct session_thread *base, enum session_place place)
{
	struct step_thread *thread = (struct step_thread *)base;
	struct step *step = self;
	uint64_t ip;
	bool is_known = place == SESSION_FRESH || place == SESSION_HERE;
	int err = 0;

	if (!is_known && (thread->encoder.enabled || thread->in_kernel || thread->unsure))
		return 0;
	if (place == SESSION_ANYWHERE) /* It ran freely until now. */
		err = session_read_maps(step->session, base->process, base->tid, false);
	if (err)
		return err;
	ip = step_ip(thread);
	note_ignored(thread);
	step_unblock_trap(thread);
	if (!is_known) {
		thread->insn = code_store_insn(thread->process->code, ip, session_now(step->session));
		thread->unsure = true;
		return 0;
	}
	step_thread_enter(thread, thread->process->code, session_now(step->session), ip);
	thread->fresh = thread->fresh || place == SESSION_FRESH;
	return 0;
}

/*
 * Only a resumption without a step makes the kernel reset what it knows about the trap flag. The next stop is
 * an interrupt's, before any instruction; a signal's handler has been entered then.
 */
static enum __ptrace_request settle(struct step_thread *thread)
{
	step_take_back_trap_flag(thread);
	thread->tf_forgotten = false;
	thread->settling = true;
	ptrace(PTRACE_INTERRUPT, thread->base.tid, NULL, NULL);
	return PTRACE_CONT;
}

/*
 * System calls are not stepped, so that neither they nor what they create see the trap flag, or SIGTRAP
 * unblocked.
 */
static enum __ptrace_request step_over(struct step *step, struct step_thread *thread)
{
	if (thread->encoder.enabled) {
		step_over_vdso(step, thread);
		if (thread->insn.kind == INSN_SYSCALL)
			thread->syscall = (long)step_register(thread, offsetof(struct user_regs_struct, rax));
		step_thread_leave(thread, session_now(step->session));
	}
	if (thread->in_kernel && thread->insn.kind == INSN_SYSCALL) {
		step_block_trap_again(thread);
		return PTRACE_SYSCALL;
	}
	thread->tf_forgotten = thread->insn.loads_flags;
	return PTRACE_SINGLESTEP;
}

static enum __ptrace_request resume(void *self, struct session_thread *base, enum __ptrace_request request,
				    int *signal)
{
	struct step_thread *thread = (struct step_thread *)base;
	struct step *step = self;

	/* It was held for a snapshot. */
	if (thread->paused)
		step_thread_enter(thread, thread->process->code, session_now(step->session), thread->insn.ip);
	thread->paused = false;
	if (thread->unsure)
		base->held_signal = *signal;
	if (session_started(step->session))
		request = thread->tf_forgotten && !thread->traps_itself ? settle(thread)
									: step_over(step, thread);
	if (*signal == SIGTRAP && thread->process->shield.action.handler == (uint64_t)SIG_IGN &&
	    session_siginfo_code(base) <= 0)
		*signal = 0; /* somebody has sent it */
	if (*signal == SIGTRAP)
		step_shield_give_way(step, thread);
	if (!*signal && request == PTRACE_SINGLESTEP)
		step_shield_raise(step, thread);
	/* The handler's frame holds the mask. */
	if (*signal && step_is_caught(thread, *signal))
		step_block_trap_again(thread);
	return request;
}

static bool is_busy(const struct session_thread *thread)
{
	return ((const struct step_thread *)thread)->encoder.enabled;
}

/* ---- letting go ---- */

static void run_on(struct session_thread *base)
{
	struct step_thread *thread = (struct step_thread *)base;

	if (thread->tf_forgotten && !thread->traps_itself)
		step_take_back_trap_flag(thread);
}

static void let_go(struct session_thread *base)
{
	struct step_thread *thread = (struct step_thread *)base;

	if (base->held && !base->dead) {
		run_on(base);
		step_block_trap_again(thread);
	}
	thread->paused = thread->in_kernel = thread->unsure = thread->detour = thread->fresh = false;
	thread->tf_forgotten = thread->settling = false;
	thread->syscall = -1;
}

const struct session_driver step_driver = {
	.thread_size = sizeof(struct step_thread),
	.process_size = sizeof(struct step_process),
	.pins = true,
	.plug = plug,
	.process_new = process_new,
	.thread_new = thread_new,
	.thread_free = thread_free,
	.begin = begin,
	.resume = resume,
	.signal = step_on_signal_stop,
	.syscall_end = step_on_syscall_end,
	.group_stop = group_stop,
	.event_stop = step_on_settled,
	.executed = executed,
	.code_changed = code_changed,
	.ended = ended,
	.is_busy = is_busy,
	.is_own_trap = step_is_own_trap,
	.run_on = run_on,
	.let_go = let_go,
	.process_let_go = step_shield_lower,
	.child_let_go = step_shield_lower_in_child,
};
