/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls that a traced thread makes for us. It finds its registers, signal mask and signals afterwards
 * as they were; a call that it sleeps in is made again. If we are killed in between, it puts its registers
 * and its mask back itself.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum { INJECTION_BYTES = 192 };

struct injection {
	pid_t tid;
	uint64_t at;		      /* the code of the call, INJECTION_BYTES in the thread's memory */
	struct user_regs_struct regs; /* the thread's own */
	uint64_t mask;
	bool group_stop; /* job control has stopped its process */
	bool stop_sent;	 /* a SIGSTOP for it came in between */
	bool ended;	 /* it has ended in between, with `status` (waitpid(2)) */
	int status;
};

/*
 * The thread is in a ptrace stop (PTRACE_SEIZE), and goes on from it with `signal` (0: none), as far as to
 * the next instruction. `at`: executable memory of it that holds nothing. 0; -ENOTSUP: it is no 64-bit
 * program's, and in the stop that it was; -ESRCH: it has ended or cannot be stopped.
 */
int injection_begin(struct injection *injection, pid_t tid, uint64_t at, int signal);

/* The call's result, or -ESRCH as above. */
long injection_call(struct injection *injection, long number, const uint64_t args[static 6]);

/* The thread is held in an event stop (PTRACE_EVENT_STOP), unless it has ended. */
void injection_end(const struct injection *injection);

/*
 * Whether the kernel is to make the call again that returns this, or has a signal to deliver first
 * (include/linux/errno.h).
 */
bool call_is_restarted(long result);

/*
 * Writes into memory of the thread, also where that is not writable. 0 or -errno. `size` is a multiple of 8.
 */
int injection_write(pid_t tid, uint64_t to, const void *bytes, size_t size);
