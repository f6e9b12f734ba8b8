/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The step source: software Intel PT. The target is single-stepped with ptrace(2), and what it does is written as genuine PT
 * packets into one AUX ring per thread. Its processor's TSC counts CLOCK_MONOTONIC's nanoseconds, so trace times are real times
 * of the (much slowed) target and comparable with those of hits.
 *
 * User code only, as hardware traces it with kernel tracing off: a system call is TIP.PGD ... TIP.PGE, a signal or fault FUP,
 * TIP.PGD ... TIP.PGE. Every thread is traced.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "source/code_store.h"
#include "source/snapshot.h"

struct step;

struct step_config {
	size_t ring_size;    /* of each thread: a power of two, a page at least */
	bool wait_for_start; /* the target runs at full speed until start_wanted() */
	uint64_t
		overflow_every; /* test aid: an overflow after every so many instructions, which loses some; 0: none */
	FILE *log; /* one line "TID IP" (decimal, hexadecimal) for each instruction retired; or NULL */
	struct code_store_config code;
	/*
	 * Before the start: waits until the target may have stopped, or stop_wanted() may have changed its mind. NULL: only a stop of the
	 * target is waited for.
	 */
	void (*idle)(void *ctx);
	/* A thread has stopped by a SIGSTOP before the start: is that where stepping is to begin? */
	bool (*start_wanted)(void *ctx);
	/*
	 * A signal of the set `signals` (bit N - 1: signal N) is about to be delivered to a thread; `hit` says where that stands (its trigger and
	 * action are 0). What it decides shows in stop_wanted().
	 */
	uint64_t signals;
	void (*signalled)(void *ctx, int signal, const struct hit *hit);
	/* Asked after each step: is the recording to end here? The target is held then. */
	bool (*stop_wanted)(void *ctx);
	bool follow_forks; /* child processes are traced, too; else they run on their own */
	/* A process begins to be traced (a child of a traced one), or has ended. May be NULL. */
	void (*process)(void *ctx, pid_t pid, bool begins);
	/* New executable mappings, before any code of theirs runs under the stepper. A negative return ends the run with that error. */
	int (*mapped)(void *ctx, pid_t pid, const struct sideband_mapping *mapping);
	void *ctx;
};

/* Takes hold of the child `pid`, which has not exec'd yet. 0, or -errno with a sentence (-EPERM: ptrace is not allowed here). */
int step_new(struct step **ret_step, const struct step_config *config, pid_t pid);

/*
 * Takes hold of processes that run already, with all their threads: they are stepped from where they are (with wait_for_start: once that
 * comes). Threads inside a system call stay in it undisturbed. -ESRCH: no such process; -EPERM: not allowed; -EBUSY: already traced; each with
 * a sentence, and nothing is held.
 */
int step_attach(struct step **ret_step, const struct step_config *config, const pid_t *pids, size_t cnt);

enum step_end {
	STEP_STOPPED, /* stop_wanted(): the target is held */
	STEP_EXITED,  /* every traced process has ended */
};

/* Runs the target, held by an earlier run or not begun yet, until one of these. 0, or -errno with a sentence: the target is held, or gone. */
int step_run(struct step *step, enum step_end *ret_end);

/*
 * After step_run(): closes the trace where it is and appends an AUX trace for each thread, of what was written since the last snapshot, and the
 * sideband since then. step_run() again goes on from there.
 */
int step_snapshot(struct step *step, struct snapshot *snapshot);

/* Before the start nothing tells of new mappings: looks for them now. 0 or -errno with a sentence. */
int step_look_at_maps(struct step *step);

/* After the last of them: fills parameters, clock and code copies. */
int step_describe(struct step *step, struct snapshot *snapshot);

/* Lets a held target go on at full speed, untraced; a signal that was about to be delivered is. */
void step_detach(struct step *step);

/* Whether the first process has ended, and its wait status (waitpid(2)). */
bool step_has_exited(const struct step *step);
int step_wait_status(const struct step *step);

/* Instructions retired under the stepper, all threads. */
uint64_t step_instruction_cnt(const struct step *step);

/* Whether stepping ever began (see wait_for_start). */
bool step_started(const struct step *step);

void step_free(struct step *step); /* detaches first if need be */

DEFINE_CLEANUP(struct step *, step_free)
