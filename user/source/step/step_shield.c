/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a process has a shield (process/shield.h): from its first step to its last. A SIGTRAP of the program's
 * own, and a child that is not traced, find the program's own action.
 */
#include <errno.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/inject.h"
#include "process/memory.h"
#include "process/proc_status.h"
#include "source/step/step_hide.h"
#include "source/step/step_internal.h"

static void take_end(struct step *step, struct step_thread *thread, const struct shield_end *end)
{
	if (end->ended)
		session_on_end(step->session, &thread->base, end->status);
}

void step_shield_raise(struct step *step, struct step_thread *thread)
{
	struct shield *shield = &thread->process->shield;
	struct shield_end end = {0};

	if (shield->at || shield->impossible || step_mask_is_passing(thread))
		return;
	shield_raise(shield, thread->base.tid, maps_vdso_end(&thread->process->base.maps), &end);
	take_end(step, thread, &end);
}

static struct step_thread *held_thread(struct step *step, const struct step_process *process, bool held)
{
	const struct session_thread *thread;

	for (size_t i = 0; (thread = session_thread_at(step->session, i)); i++)
		if (thread->process == &process->base && !thread->dead && !thread->let_go &&
		    thread->held == held)
			return (struct step_thread *)thread;
	return NULL;
}

void step_shield_lower(void *self, struct session_process *base)
{
	struct step_process *process = (struct step_process *)base;
	struct step *step = self;
	struct step_thread *thread = held_thread(step, process, true);
	struct shield_end end = {0};

	process->knows_ignored = false;
	if (!process->shield.at || process->base.exited)
		return;
	if (!thread) {
		thread = held_thread(step, process, false);
		if (thread)
			session_bring_to_stop(step->session, &thread->base);
	}
	if (!thread || thread->base.dead)
		return;
	if (thread->base.held_signal == SIGTRAP) {
		step_shield_give_way(step, thread);
		return;
	}
	shield_lower(&process->shield, thread->base.tid, thread->base.held_signal, &end);
	thread->base.held_signal = 0;
	take_end(step, thread, &end);
}

void step_shield_give_way(struct step *step, struct step_thread *thread)
{
	struct shield *shield = &thread->process->shield;
	struct shield_end end = {0};

	if (!shield->at)
		return;
	shield_give_way(shield, thread->base.tid, session_siginfo_code(&thread->base) > 0, &end);
	take_end(step, thread, &end);
}

void step_shield_lower_in_child(void *self, pid_t tid, pid_t parent)
{
	const struct step *step = self;
	const struct session_thread *thread = session_find(step->session, parent);
	const struct step_process *process =
		(struct step_process *)session_find_process(step->session, parent);
	struct shield_end end = {0};
	struct shield own;

	if (!process && thread)
		process = (struct step_process *)thread->process;
	/* A child may share its parent's actions (CLONE_SIGHAND). */
	if (!process || !process->shield.at || !syscall(SYS_kcmp, tid, parent, KCMP_SIGHAND, 0, 0))
		return;
	step_shield_inherit(&own, tid, &process->shield);
	if (own.at || own.action.handler == (uint64_t)SIG_IGN) {
		own.at = process->shield.at;
		shield_lower(&own, tid, 0, &end);
	}
}

/* An action begins with its handler. */
void step_shield_action_changed(struct step_thread *thread)
{
	struct shield *shield = &thread->process->shield;
	uint64_t action = step_register(thread, offsetof(struct user_regs_struct, rsi));
	uint64_t old = step_register(thread, offsetof(struct user_regs_struct, rdx));
	const struct trap_action before = shield->action;
	size_t shown = shield->at			     ? sizeof(before)
		       : before.handler == (uint64_t)SIG_IGN ? sizeof(uint64_t)
							     : 0;

	if (step_register(thread, offsetof(struct user_regs_struct, rdi)) != SIGTRAP ||
	    step_syscall_result(thread))
		return;
	if (action) {
		uint64_t words[sizeof(before) / sizeof(uint64_t)];

		errno = 0;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			words[i] = (uint64_t)ptrace(PTRACE_PEEKDATA, thread->base.tid,
						    (void *)(action + i * sizeof(words[0])), NULL);
		memcpy(&shield->action, words, sizeof(words));
		/* The kernel may have put the old one in its place. */
		shield->known = !errno && action != old;
		shield->at = 0;
	}
	if (old)
		memory_poke(thread->base.tid, old, &before, shown);
}

void step_shield_on_exec(struct shield *shield)
{
	struct trap_action kept = {.handler = shield->action.handler == (uint64_t)SIG_IGN
						      ? (uint64_t)SIG_IGN
						      : (uint64_t)SIG_DFL};

	*shield = (struct shield){.action = kept};
}

void step_shield_inherit(struct shield *shield, pid_t tid, const struct shield *former)
{
	uint64_t caught = 0;

	*shield = *former;
	if (!former->at || (!proc_status_number(tid, "SigCgt", 16, &caught) && caught >> (SIGTRAP - 1) & 1))
		return;
	/* Its parent has reset what it caught (CLONE_CLEAR_SIGHAND). */
	step_shield_on_exec(shield);
}
