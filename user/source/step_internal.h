/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the step source: what they share. step.h is for everybody else. */
#pragma once

#include "source/pin.h"
#include "source/step.h"
#include "source/step_thread.h"

/* One traced process: an address space and what is known of it. */
struct step_process {
	pid_t pid;
	struct code_store *code;
	bool exec_seen; /* it runs the program that is meant */
	bool exited;
	int wait_status; /* valid once it has exited */
};

struct step {
	struct step_config config;
	struct trace_params params;
	struct pin pin;
	struct step_process **processes; /* the first is the one that was launched or named first */
	size_t process_cnt, process_cap;
	struct step_thread **threads;
	size_t thread_cnt, thread_cap;
	size_t last;		   /* index of the thread that stopped last: most likely the next one, too */
	struct snapshot *sideband; /* collects the sideband */
	bool started;		   /* stepping has begun */
	bool detached;
	uint64_t tsc; /* the last one told: time never runs back */
};

/* ---- step.c ---- */

/* The time, as a TSC of the software processor: later than any before. */
uint64_t step_now(struct step *step);

/* The traced thread tid, or NULL. */
struct step_thread *step_thread_find(struct step *step, pid_t tid);
int step_thread_add(struct step *step, struct step_process *process, pid_t tid,
		    struct step_thread **ret_thread);

/* ---- step_process.c ---- */

int step_process_add(struct step *step, pid_t pid, struct step_process **ret_process);
struct step_process *step_process_find(struct step *step, pid_t pid);
void step_process_free(struct step_process *process);

/* The mappings may have changed: tells about those that are new. `exec`: none is what it was. */
int step_process_read_maps(struct step *step, struct step_process *process, pid_t tid, bool exec);

/* Tells the thread's name. `exec`: together with an exec. */
void step_process_announce_comm(struct step *step, struct step_process *process, pid_t tid, bool exec);

/* ---- step_stop.c: what a stop of a thread in user code means ---- */

/* One step is done. */
int step_on_step(struct step *step, struct step_thread *thread);

/* A signal is about to be delivered; the instruction at hand was not executed. */
int step_on_signal(struct step *step, struct step_thread *thread, int signal);

/* Tells of a signal that is about to be delivered, if it is wanted. */
void step_tell_signal(struct step *step, const struct step_thread *thread, int signal);

/* The thread is traced from where it is. in_user_mode: it stands before an instruction; else it may be inside the kernel. */
void step_begin_here(struct step *step, struct step_thread *thread, bool in_user_mode);

/* A snapshot in the middle of a detour through code of a uprobe: the probed nop has been executed. */
void step_end_detour(struct step *step, struct step_thread *thread);

/* ---- step_event.c: threads and processes come and go ---- */

/* Waits for the next stop or exit and takes it in. The thread stays held; NULL where there is none to go on. */
int step_next_event(struct step *step, struct step_thread **ret_thread);

/* Process `pid` has ended, or its thread. */
void step_on_end(struct step *step, struct step_thread *thread, int status);
