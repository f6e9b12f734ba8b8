/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The step source: software Intel PT. The targets, one process or several, are single-stepped with ptrace(2),
 * and what it does is written as genuine PT packets into one AUX ring per thread. Their processor's TSC
 * counts CLOCK_MONOTONIC's nanoseconds, so trace times are real times of the (much slowed) targets and
 * comparable with those of hits.
 *
 * User code only, as hardware traces it with kernel tracing off: a system call is TIP.PGD ... TIP.PGE, a
 * signal or fault FUP, TIP.PGD ... TIP.PGE. Every thread of the targets is traced; the children that they
 * fork either are targets, too, or run freely.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "model/snapshot.h"
#include "source/code_store.h"

struct step;

struct step_config {
	size_t ring_size;  /* of each thread: a power of two, a page at least */
	bool follow_forks; /* children are targets, too */
	bool hits_stop;	   /* probes of the caller's stop threads (SIGSTOP) */
	/* the targets run at full speed until start_wanted(), and again after step_rest() */
	bool wait_for_start;
	uint64_t
		/* test aid: an overflow after every so many instructions, which loses some; 0: none */
		overflow_every;
	FILE *log; /* one line "TID IP SP" (SP: behind it; decimal, hexadecimal) for each instruction retired; or NULL */
	struct code_store_config code;
	/*
	 * Before the start: waits until a target may have stopped, or stop_wanted() may have changed its
	 * mind. NULL: only stops are waited for. With it the targets are better apart from who waits: they
	 * are not pinned.
	 */
	void (*idle)(void *ctx);
	/* A thread has stopped by a SIGSTOP before the start: is that where stepping is to begin? */
	bool (*start_wanted)(void *ctx);
	/* All threads are held, but for those that sleep in the kernel, and stepping begins; or NULL. */
	void (*started)(void *ctx);
	/*
	 * A signal of the set `signals` (bit N - 1: signal N) is about to be delivered to a thread; `hit`
	 * says where that stands (its trigger and action are 0). What it decides shows in stop_wanted().
	 */
	uint64_t signals;
	void (*signalled)(void *ctx, int signal, struct caught_hit *hit);
	/* Asked after each step: is the recording to end here? The targets are held then. */
	bool (*stop_wanted)(void *ctx);
	/*
	 * New executable mappings, before any code of theirs runs under the stepper. A negative return ends
	 * the run with that error.
	 */
	int (*mapped)(void *ctx, pid_t pid, const struct sideband_mapping *mapping);
	/*
	 * A program has been executed; nothing of it has run, or been mapped() yet. `replaced`: by a thread
	 * that is not the first of its process, and has taken the first one's place. Or NULL. A negative
	 * return ends the run with that error.
	 */
	int (*executed)(void *ctx, pid_t pid, bool replaced);
	/*
	 * A child has become a target, and has not run yet; or NULL. A negative return ends the run with that
	 * error.
	 */
	int (*adopted)(void *ctx, pid_t pid);
	/*
	 * A thread of a target, or a child that is one, has been born and has not run yet; or NULL. A
	 * negative return ends the run with that error.
	 */
	int (*born)(void *ctx, pid_t pid, pid_t tid);
	/* A child has been let go, for the targets themselves trace it from now on (ptrace(2)); or NULL. */
	void (*released)(void *ctx, pid_t pid);
	/*
	 * A target has ended, with this wait status (waitpid(2)); or NULL. What it decides shows in
	 * stop_wanted().
	 */
	void (*ended)(void *ctx, pid_t pid, int wait_status);
	void *ctx;
};

int step_new(struct step **ret_step, const struct step_config *config);

/*
 * Before the first run: takes hold of a target. 0, or -errno with a sentence; -EPERM: ptrace is not allowed
 * here.
 *
 * step_launch(): the child `pid`, which has not exec'd yet and is not recorded before.
 * step_attach(): the running process `pid` with all its threads, which are recorded from where they are.
 * Other errors are those of attach_check();
 * -ESRCH also where it ends in between. What was seized by then is let go by step_free().
 */
int step_launch(struct step *step, pid_t pid);
int step_attach(struct step *step, pid_t pid);

enum step_end {
	STEP_STOPPED, /* stop_wanted(): the targets are held */
	STEP_EXITED,  /* the last target has ended */
};

/*
 * Runs the targets, held by an earlier run or not begun yet, until one of these. 0, or -errno with a
 * sentence: they are held, or gone.
 */
int step_run(struct step *step, enum step_end *ret_end);

/*
 * After step_run(): closes the trace where it is and appends an AUX trace for each thread, of what was
 * written since the last snapshot, and the sideband since then. step_run() again goes on from there.
 */
int step_snapshot(struct step *step, struct snapshot *snapshot);

/*
 * After step_snapshot(), with wait_for_start: step_run() lets the targets run at full speed up to the next
 * start.
 */
void step_rest(struct step *step);

/*
 * For how long the targets have been held or stepped so far, in nanoseconds: time in which some thread of
 * theirs could have run at full speed.
 */
uint64_t step_stalled_ns(const struct step *step);

/* Before the start nothing tells of new mappings: looks for them now. 0 or -errno with a sentence. */
int step_look_at_maps(struct step *step);

/* After the last of them: fills parameters and clock. */
int step_describe(struct step *step, struct snapshot *snapshot);

/*
 * Appends the code that cannot be had from files: what was stepped over, or before the start all that the
 * held targets have. -ENOMEM, or another
 * -errno with a sentence.
 */
int step_copy_code(struct step *step, struct snapshot *snapshot);

/* Lets the held targets go on at full speed, untraced; a signal that was about to be delivered is. */
void step_detach(struct step *step);

/*
 * After step_detach(): waits for the launched program to end, and takes in whatever is ours and ends before:
 * its wait status (waitpid(2)). All children of this process are taken for the program's.
 */
int step_wait_end(const struct step *step);

/* The wait status (waitpid(2)) of the first target after its end. */
int step_wait_status(const struct step *step);

/* Instructions retired under the stepper, all threads. */
uint64_t step_instruction_cnt(const struct step *step);

/* Whether stepping has begun (see wait_for_start). */
bool step_started(const struct step *step);

void step_free(struct step *step); /* detaches first if need be */

DEFINE_CLEANUP(struct step *, step_free)
