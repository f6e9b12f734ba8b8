/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The step source: software Intel PT. The targets, one process or several, are single-stepped with ptrace(2),
 * and what they do is written as genuine PT packets into one AUX ring per thread. Their processor's TSC
 * counts CLOCK_MONOTONIC's nanoseconds, so trace times are real times of the (much slowed) targets and
 * comparable with those of hits.
 *
 * It traces user code only, as hardware does with kernel tracing off: a system call is TIP.PGD ... TIP.PGE, a
 * signal or fault FUP, TIP.PGD ... TIP.PGE. Every thread of the targets is traced.
 *
 * Shared by the files of the source (step*.c); others use source_step.
 */
#pragma once

#include <signal.h>

#include "process/shield.h"
#include "session/driver.h"
#include "source/code_stores.h"
#include "source/source.h"
#include "source/step/step_thread.h"

struct step_process {
	struct session_process base;
	struct code_store *code; /* of the recording */
	struct shield shield;
	bool knows_ignored; /* whether SIGTRAP is, since the process is stepped */
};

/* Offsets from the beginning of the vDSO of the functions that read the clock, or 0. */
struct step_vdso {
	uint64_t clock_gettime, gettimeofday;
};

struct step {
	struct session *session;
	const struct source_options *options;
	struct code_stores *codes;
	struct trace_params params;
	struct step_vdso vdso;
	/*
	 * one line "TID IP SP" for each retired instruction (TID decimal; IP, and SP after it, hexadecimal);
	 * or NULL
	 */
	FILE *log;
	uint64_t past_instruction_cnt; /* of threads that were forgotten */
};

/* ---- step.c ---- */

extern const struct session_driver step_driver; /* its self is the struct step */

/* ---- step_stop.c ---- */

/* For struct session_driver. */
int step_on_signal_stop(void *self, struct session_thread *thread, int signal);
int step_on_syscall_end(void *self, struct session_thread *thread);

/* Finds where a thread is, once the kernel knows again whose its trap flag is. */
void step_on_settled(void *self, struct session_thread *thread);

/* Leaves a uprobe's code: the trace ends here, and may continue later. */
void step_end_detour(struct step *step, struct step_thread *thread);

/* ---- step_shield.c ---- */

/*
 * The thread is about to make a step: sets up its process's shield, if there is none yet and this is possible
 * now.
 */
void step_shield_raise(struct step *step, struct step_thread *thread);

/* For struct session_driver. No thread of the process is in the middle of a step. */
void step_shield_lower(void *self, struct session_process *process);

/* The thread, in its first stop, was forked from one of `parent`, and will run untraced. */
void step_shield_lower_in_child(void *self, pid_t tid, pid_t parent);

/* A SIGTRAP of the program's own is about to be delivered to the thread. */
void step_shield_give_way(struct step *step, struct step_thread *thread);

/* The thread has just returned from rt_sigaction(2). */
void step_shield_action_changed(struct step_thread *thread);

/* The state of the shield after an exec, or in a process forked from `former`. */
void step_shield_on_exec(struct shield *shield);
void step_shield_inherit(struct shield *shield, pid_t tid, const struct shield *former);

/* ---- step_vdso.c ---- */

void step_vdso_init(struct step_vdso *ret_vdso);

/*
 * If the thread is about to read the clock in the vDSO, reads it in its place: true, and the thread is after
 * the call.
 */
bool step_over_vdso(struct step *step, struct step_thread *thread);
