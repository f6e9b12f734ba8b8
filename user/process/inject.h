/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a traced thread execute system calls for us. Afterwards its registers, signal mask and pending
 * signals are as before; a system call that it slept in is restarted. If we are killed in between, the thread
 * restores its registers and its mask itself, and the next one who comes to its process sees to it that it
 * has. A restartable sequence (rseq(2)) that it stood in is aborted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum { INJECTION_BYTES = 192 };

/* What the thread's undoing call is of: nothing, what a call has just returned, or .undone. */
enum injection_undo { UNDO_NOTHING, UNDO_RESULT, UNDO_KNOWN };

struct injection {
	pid_t tid;
	uint64_t at;		      /* the code of the call, INJECTION_BYTES in the thread's memory */
	uint8_t *ours;		      /* the same memory where it is mapped for us, too; or NULL */
	struct user_regs_struct regs; /* the thread's own, to be restored */
	uint64_t mask;
	bool group_stop; /* job control has stopped its process */
	bool stop_sent;	 /* a SIGSTOP for it came meanwhile */
	bool ended;	 /* it has ended meanwhile, with `status` (waitpid(2)) */
	int status;

	/* injection_call_undone() */
	enum injection_undo undo;
	uint32_t undo_number, undo_second;
	uint64_t undone;
};

/*
 * The thread `tid` is in a ptrace stop (PTRACE_SEIZE). It continues from there up to the next instruction,
 * with *signal (NULL or 0: none), which is 0 from then on. `at`: unused executable memory of its process;
 * these and `ours` are set, all else is 0. Other threads of its process, which are traced, may be stopped for
 * it: such a stop is the next one that is seen of them. 0; -ENOTSUP: it is not a 64-bit program's, and is
 * still in its stop; -ESRCH: it has ended or cannot be stopped; -EBUSY: another thread cannot, which may be
 * in code that one who was killed has left there.
 */
int injection_begin(struct injection *injection, int *signal);

/*
 * Whether code for such calls is left at `at` of the thread's process, since who wrote it was killed. Its
 * first word, which tells, is written before all that is behind it, and removed last.
 */
bool injection_is_left(pid_t tid, uint64_t at);

/* Returns the system call's result, or -ESRCH as above. */
long injection_call(struct injection *injection, long number, const uint64_t args[static 6]);

/*
 * The same, of a call that injection_undo() undoes, as the thread itself does if we are killed before: by the
 * call `undo_number`, of the result and `undo_second`. There is one at a time, and no `ours`.
 */
long injection_call_undone(struct injection *injection, long number, const uint64_t args[static 6],
			   long undo_number, uint32_t undo_second);
void injection_undo(struct injection *injection);

/* Whether the thread, which is traced, stops soon. Its stop is still to be waited for. */
bool injection_stop(pid_t tid);

/* Afterwards the thread is held in an event stop (PTRACE_EVENT_STOP), unless it has ended. */
void injection_end(const struct injection *injection);

/* Results of calls that the kernel restarts (include/linux/errno.h). */
enum { ERESTARTSYS = 512, ERESTARTNOHAND = 514, ERESTART_RESTARTBLOCK = 516 };

/* Whether a system call with this result will be restarted by the kernel, perhaps after a signal. */
bool call_is_restarted(long result);

/*
 * The kernel has interrupted poll(2), a sleep or the like for a stop, and makes restart_syscall(2) go on with
 * it. A filter (seccomp(2)) that does not know that call may kill the program for it: then the thread, in its
 * stop, is made to make the call itself once more, whose timeout begins anew. A handler still makes it fail
 * with EINTR. True if that was so.
 */
bool call_restart_plainly(pid_t tid);

struct filtered_call;

/*
 * Whether it can make the calls and live on: its program may have restricted them (seccomp(2)), or
 * have them given to itself (PR_SET_SYSCALL_USER_DISPATCH), and the kernel would kill it, or send it
 * a signal. It is in a ptrace stop. A privileged tracer is shown its filters. Without that, a thread
 * with as many as we have is under those of our container, which allow what libraries call all the
 * time; any other one counts as restricted.
 */
bool injection_is_survived(pid_t tid, const struct filtered_call *calls, size_t cnt);

/* The same, whether its filters allow them. */
bool injection_is_allowed(pid_t tid, const struct filtered_call *calls, size_t cnt);
