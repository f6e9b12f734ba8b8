/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One stepped thread: what its instructions do to its PT stream. No ptrace here: step.c tells what happened.
 */
#pragma once

#include <stdio.h>

#include "session/driver.h"
#include "source/code_store.h"
#include "source/encoder.h"

struct step_process;

struct step_thread {
	struct session_thread base;
	struct step_process *process; /* base.process */
	struct encoder encoder;
	struct insn
		insn;	/* the next instruction to execute; ip valid while the thread is known to be at it */
	long syscall;	/* number of the system call it is in; -1: none */
	bool in_kernel; /* insn was a system call that has not come back */
	bool unsure;	/* went on from a stop that tells nothing: the next stop says where from */
	/*
	 * in code that a uprobe of ours put there: insn is the probed one, and counts as executed when it is
	 * left ...
	 */
	bool detour;
	uint64_t detour_tsc; /* ... at the time when it began, before what the uprobe does */
	bool fresh;	     /* has not executed anything since its clone or exec */
	bool paused;	     /* held for a snapshot before insn: its trace goes on there */
	bool trap_blocked;   /* the target has SIGTRAP blocked, as far as it knows */
	bool traps_itself; /* the target has set the trap flag: each of its steps ends in a SIGTRAP for it */
	bool tf_forgotten; /* the kernel no longer knows whose the trap flag is: step_take_back_trap_flag() */
	bool settling;	   /* on its way to a stop in which it knows again */
	uint64_t instruction_cnt;
	uint64_t overflow_every,
		overflow_next;	/* test aid: instructions between overflows, and when the next is due */
	uint64_t overflow_left; /* instructions still to be lost */
	uint64_t change_cnt;	/* of the code, that the stream's last PSB knows */
	FILE *log;
};

/* The thread is before the instruction at ip, and traced from here on. */
void step_thread_enter(struct step_thread *thread, struct code_store *code, uint64_t tsc, uint64_t ip);

/* About to execute thread->insn: what leaves user mode is reported before it does. */
void step_thread_leave(struct step_thread *thread, uint64_t tsc);

/* thread->insn was executed; the next one is at ip. */
void step_thread_retire(struct step_thread *thread, struct code_store *code, uint64_t tsc, uint64_t ip);

/* Something asynchronous happens before thread->insn: a signal, the end. */
void step_thread_interrupt(struct step_thread *thread, uint64_t tsc);
