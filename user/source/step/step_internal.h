/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the step source (step*.c) share. Nobody else includes it. */
#pragma once

#include <signal.h>

#include "process/pin.h"
#include "process/shield.h"
#include "source/step/step.h"
#include "source/step/step_thread.h"

/* What a stop before or behind a system call looks like, in place of a signal (PTRACE_O_TRACESYSGOOD). */
enum { STEP_SYSCALL_STOP = SIGTRAP | 0x80 };

/* A traced process: its code, and what became of it. */
struct step_process {
	pid_t pid;
	struct code_store *code;
	struct shield shield;
	bool runs_itself; /* what it executes is the target's: false for a launched child until its exec */
	bool exited;
	int wait_status;
};

/* The functions that read the clock: their distance from where the vDSO begins, or 0. */
struct step_vdso {
	uint64_t clock_gettime, gettimeofday;
};

struct step {
	struct step_config config;
	struct trace_params params;
	struct pin pin;
	struct step_process **processes; /* the first one is the launched one, where one was */
	size_t process_cnt, process_cap;
	struct step_thread **threads; /* parents before their children */
	size_t thread_cnt, thread_cap;
	size_t last; /* index of the thread that stopped last: most likely the next one, too */
	uint64_t past_instruction_cnt; /* of threads that were forgotten */
	struct snapshot *sideband;     /* collects the sideband */
	int err;		       /* of the first record that could not be kept: the run ends with it */
	struct step_vdso vdso;
	bool started;
	bool gathers; /* it has started just now, and threads may still run */
	bool seized;  /* step_attach() has taken hold of threads, which run until the first step_run() */
	uint64_t stalled_ns; /* see step_stalled_ns() ... */
	uint64_t counted_ns; /* ... which is complete up to this time (CLOCK_MONOTONIC) */
	uint64_t tsc;	     /* the last one told: time never runs back */
};

/* Nanoseconds of CLOCK_MONOTONIC, each time more than before. */
uint64_t step_now(struct step *step);

/* Takes note of a record that could not be kept, if `err` says so. */
static inline void step_note(struct step *step, int err)
{
	step->err = step->err ? step->err : err;
}

/* The thread that lives under this id, or NULL. */
struct step_thread *step_find(struct step *step, pid_t tid);
int step_add_thread(struct step *step, struct step_process *process, pid_t tid,
		    struct step_thread **ret_thread);
void step_thread_free(struct step_thread *thread);

/* How ptrace takes hold of threads: what they create is held, too. -errno of ptrace(2). */
int step_seize(const struct step *step, pid_t tid);

/* Stepping begins: asks all threads to stop. The run goes on when none runs any more. */
void step_start(struct step *step);

/* ---- step_process.c ---- */

struct step_process *step_find_process(struct step *step, pid_t pid);
int step_add_process(struct step *step, pid_t pid, struct step_process **ret_process);
void step_process_free(struct step_process *process);

/*
 * Reads the mappings; new ones go to the sideband, as of `tid`, and to config.mapped(). `exec`: all are new.
 * 0 where the process is gone; else -errno with a sentence.
 */
int step_read_maps(struct step *step, struct step_process *process, pid_t tid, bool exec);

/* The thread's name to the sideband. */
void step_announce_comm(struct step *step, const struct step_thread *thread, bool exec);

/* ---- step_event.c ---- */

/*
 * Waits for the next stop or end and takes it in. *ret_thread stays held (NULL: none does). 0, or -errno with
 * a sentence.
 */
int step_next_event(struct step *step, struct step_thread **ret_thread);

void step_on_end(struct step *step, struct step_thread *thread, int status);

/*
 * The thread is to be stepped from where it stands; in_user_mode: it is certain to execute the instruction
 * there next.
 */
void step_begin_here(struct step *step, struct step_thread *thread, bool in_user_mode);

/* What has just been created by a thread, and is held by ptrace, goes its own way. */
void step_let_newborn_go(struct step *step, pid_t tid, pid_t parent);

/* ---- step_stop.c ---- */

/* A stop by SIGTRAP: one step is done, mostly. 0, or -errno with a sentence. */
int step_on_trap(struct step *step, struct step_thread *thread);

/* Before or behind a system call, which is not stepped. 0, or -errno with a sentence. */
int step_on_syscall_stop(struct step *step, struct step_thread *thread);

/* Where a thread stands now that the kernel knows again whose its trap flag is. */
void step_on_settled(struct step *step, struct step_thread *thread);

/* Tells of a signal that is about to be delivered, if it is wanted. */
void step_tell_signal(struct step *step, const struct step_thread *thread, int signal);

/* A signal is about to be delivered; the instruction at hand was not executed. */
void step_on_signal(struct step *step, struct step_thread *thread, int signal);

/* The trace ends here, and may go on later: leaves code of a uprobe's. */
void step_end_detour(struct step *step, struct step_thread *thread);

/* ---- step_detach.c ---- */

/*
 * Takes it to a stop with no signal of ours in it or behind it, in which our death would do no harm; mostly
 * it runs nothing for that.
 */
void step_bring_to_stop(struct step *step, struct step_thread *thread);

/* The process goes on untraced, as if it had ended. 0 or -ENOMEM. */
int step_let_process_go(struct step *step, struct step_process *process);

/* ---- step_shield.c ---- */

/*
 * The thread is about to make a step: its process gets a shield, if it has none yet and this is a moment for
 * it.
 */
void step_shield_raise(struct step *step, struct step_thread *thread);

/* No thread of the process is in the middle of a step any more. */
void step_shield_lower(struct step *step, struct step_process *process);

/* The thread is in its first stop, and a child by fork of one in `parent`: it is to run without us. */
void step_shield_lower_in_child(const struct step *step, pid_t tid, pid_t parent);

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

/* ---- step_hit.c ---- */

/* What a BPF program records at a probe (bpf/trigger.bpf.c), of a thread that is stopped. */
void step_describe_thread(struct step *step, const struct step_thread *thread, struct caught_hit *ret_hit);
