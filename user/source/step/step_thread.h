/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One stepped thread: what its instructions add to its PT stream. No ptrace here: step.c reports what
 * happened.
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
	bool unsure;	/* resumed from a stop at an unknown place: the next stop shows where it was */
	/*
	 * in code that a uprobe of ours put there: insn is the probed instruction, and counts as executed
	 * when the thread leaves that code ...
	 */
	bool detour;
	uint64_t detour_tsc; /* ... at this time, when the detour began, before the uprobe's work */
	bool fresh;	     /* has executed nothing since its clone or exec */
	bool paused;	     /* held for a snapshot before insn: its trace goes on there */
	bool trap_blocked;   /* the target has blocked SIGTRAP */
	bool traps_itself;   /* the target has set the trap flag: each step ends in its SIGTRAP */
	bool tf_forgotten;   /* the kernel takes it for the target's: step_take_back_trap_flag() */
	bool settling;	     /* on its way to a stop in which the kernel knows better */
	uint64_t instruction_cnt;
	uint64_t overflow_every,
		overflow_next;	/* test aid: instructions between overflows, and when the next is due */
	uint64_t overflow_left; /* instructions still to be lost */
	uint64_t change_cnt;	/* code_store_change_cnt() at the stream's last PSB */
	FILE *log;
};

/* The thread is at the instruction at ip, and traced from here on. */
void step_thread_enter(struct step_thread *thread, struct code_store *code, uint64_t tsc, uint64_t ip);

/* The thread is about to execute thread->insn. An instruction that leaves user mode is reported here. */
void step_thread_leave(struct step_thread *thread, uint64_t tsc);

/* thread->insn was executed; the next one is at ip. */
void step_thread_retire(struct step_thread *thread, struct code_store *code, uint64_t tsc, uint64_t ip);

/* Something asynchronous happens before thread->insn: a signal, the end. */
void step_thread_interrupt(struct step_thread *thread, uint64_t tsc);
