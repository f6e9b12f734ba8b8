/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tracer that is killed leaves the trap flag set in what it steps, and the SIGTRAP that follows kills. The
 * shield is an action for SIGTRAP that does nothing but clear the flag: a process that has it lives. The
 * program sees its own action in its place, except in /proc/PID/status (SigCgt).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The kernel's struct sigaction (rt_sigaction(2)). */
struct trap_action {
	uint64_t handler, flags, restorer, mask;
};

struct shield {
	uint64_t at; /* where its code is in the process's vDSO; 0: it is down */
	/* there is no place for it, or a seccomp filter that may kill for its system calls */
	bool impossible;
	bool known;		   /* `action` is what the program has set under our eyes */
	struct trap_action action; /* the program's */
};

/* How a thread's end was found while it was worked on. */
struct shield_end {
	bool ended;
	int status; /* waitpid(2) */
};

/*
 * The thread is in a ptrace stop, goes on from it without a signal, and is then held in an event stop.
 * `vdso_end`: where its vDSO ends; 0: it has none.
 */
void shield_raise(struct shield *shield, pid_t tid, uint64_t vdso_end, struct shield_end *ret_end);

/*
 * The same, from a stop with the signal to be delivered (0: none): the kernel has the program's action again.
 */
void shield_lower(struct shield *shield, pid_t tid, int signal, struct shield_end *ret_end);

/*
 * The thread is in the stop of a SIGTRAP that is to be delivered. The same, and it is in such a stop again.
 * `forced`: the signal kills a program that ignores it.
 */
void shield_give_way(struct shield *shield, pid_t tid, bool forced, struct shield_end *ret_end);

/* Zeroes what a shield has left in a copy of a vDSO. */
void shield_hide(uint8_t *vdso, size_t size);
