/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tracer that is killed leaves the trap flag set in the threads that it steps, and the next SIGTRAP kills
 * them. The shield is a handler of SIGTRAP that only clears the flag, so that the process survives. The
 * program still sees its own action for SIGTRAP, except in /proc/PID/status (SigCgt).
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
	uint64_t at; /* address of its code in the process's vDSO; 0: no shield is up */
	/* there is no room for its code, or a seccomp filter that may kill for its system calls */
	bool impossible;
	bool known;		   /* `action` is known, because we saw the program set it */
	struct trap_action action; /* the program's */
};

/* The thread's end, if it happens during one of these calls. */
struct shield_end {
	bool ended;
	int status; /* waitpid(2) */
};

/*
 * Sets up the shield. The thread is in a ptrace stop, continues from it without a signal, and ends up in an
 * event stop. `vdso_end`: the end of its vDSO; 0: it has none.
 */
void shield_raise(struct shield *shield, pid_t tid, uint64_t vdso_end, struct shield_end *ret_end);

/*
 * Gives the kernel the program's action back. The thread is in a stop with a signal to be delivered (0:
 * none), and ends up in an event stop.
 */
void shield_lower(struct shield *shield, pid_t tid, int signal, struct shield_end *ret_end);

/*
 * As shield_lower(), from the stop before a SIGTRAP is delivered; the thread ends up in such a stop again.
 * `forced`: the signal kills even a program that ignores it.
 */
void shield_give_way(struct shield *shield, pid_t tid, bool forced, struct shield_end *ret_end);

/* Zeroes the shield's code in a copy of a vDSO. */
void shield_hide(uint8_t *vdso, size_t size);
