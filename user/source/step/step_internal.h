/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The step source: software Intel PT. The targets, one process or several, are single-stepped with ptrace(2),
 * and what they do is written as genuine PT packets into one AUX ring per thread. Their processor's TSC
 * counts CLOCK_MONOTONIC's nanoseconds, so trace times are real times of the (much slowed) targets and
 * comparable with those of hits.
 *
 * User code only, as hardware traces it with kernel tracing off: a system call is TIP.PGD ... TIP.PGE, a
 * signal or fault FUP, TIP.PGD ... TIP.PGE. Every thread of the targets is traced.
 *
 * This is what the files of the source (step*.c) share. Nobody else includes it: others know source_step.
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
};

/* The functions that read the clock: their distance from where the vDSO begins, or 0. */
struct step_vdso {
	uint64_t clock_gettime, gettimeofday;
};

struct step {
	struct session *session;
	const struct source_options *options;
	struct code_stores *codes;
	struct trace_params params;
	struct step_vdso vdso;
	/* one line "TID IP SP" (SP: behind it; decimal, hexadecimal) for each instruction retired; or NULL */
	FILE *log;
	uint64_t past_instruction_cnt; /* of threads that were forgotten */
};

/* ---- step.c ---- */

extern const struct session_driver step_driver; /* its self is the struct step */

/* ---- step_stop.c ---- */

/* For struct session_driver. */
int step_on_signal_stop(void *self, struct session_thread *thread, int signal);
int step_on_syscall_end(void *self, struct session_thread *thread);

/* Where a thread stands now that the kernel knows again whose its trap flag is. */
void step_on_settled(void *self, struct session_thread *thread);

/* The trace ends here, and may go on later: leaves code of a uprobe's. */
void step_end_detour(struct step *step, struct step_thread *thread);

/* ---- step_shield.c ---- */

/*
 * The thread is about to make a step: its process gets a shield, if it has none yet and this is a moment for
 * it.
 */
void step_shield_raise(struct step *step, struct step_thread *thread);

/* For struct session_driver. No thread of the process is in the middle of a step any more. */
void step_shield_lower(void *self, struct session_process *process);

/* The thread is in its first stop, and a child by fork of one in `parent`: it is to run without us. */
void step_shield_lower_in_child(void *self, pid_t tid, pid_t parent);

/* A SIGTRAP of the program's own is about to be delivered to the thread. */
void step_shield_give_way(struct step *step, struct step_thread *thread);

/* The thread has just returned from rt_sigaction(2). */
void step_shield_action_changed(struct step_thread *thread);

/* Of a program that has just been executed, or a process that has been forked from `former`. */
void step_shield_on_exec(struct shield *shield);
void step_shield_inherit(struct shield *shield, pid_t tid, const struct shield *former);

/* ---- step_vdso.c ---- */

void step_vdso_init(struct step_vdso *ret_vdso);

/*
 * Where the thread is about to read the clock in the vDSO: has done so for it, and it stands behind the call.
 */
bool step_over_vdso(struct step *step, struct step_thread *thread);
