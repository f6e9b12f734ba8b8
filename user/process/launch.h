/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * The signals that this process was started with blocked, and those with none but SIG_IGN for a handler: a
 * program that it starts has the same.
 */
struct launch_signals {
	sigset_t blocked, ignored;
};

/*
 * To be called before any signal is touched. SIGCHLD gets its default action: who ignores it cannot wait for
 * children.
 */
void launch_note_signals(struct launch_signals *ret_signals);

/*
 * A program about to run: the process exists and waits just before its exec, so that it can be prepared
 * (probes, tracing).
 */
struct launch {
	pid_t pid;
	int go_fd;  /* closing it without a word makes the child exit */
	int err_fd; /* the child's errno where its exec failed */
};

/*
 * fork(2), of a child that a plain user may trace: a program with file capabilities is not dumpable, and
 * until it execs its child would be none either.
 */
pid_t fork_traceable(void);

/* What is executed. */
struct launch_program {
	const char *path;		      /* not searched for */
	char *const *argv;		      /* as execv(3) */
	const struct launch_signals *signals; /* NULL: as this process has them */
	/*
	 * No tracer will be there when it executes. For a tracer without CAP_SYS_PTRACE the kernel passes
	 * over what a file gives (setuid, capabilities); for others who record the program,
	 * PR_SET_NO_NEW_PRIVS does. Root may record everything.
	 */
	bool is_untraced;
};

/*
 * Whether the program's file gives it rights that this process's user does not have (setuid, setgid,
 * capabilities).
 */
bool launch_gains_rights(const char *path);

/*
 * Forks. All that a program inherits is as the caller of this process gave it (base/rights.h), but for
 * CAP_BPF and CAP_PERFMON in the ambient set. 0 or -errno with a sentence.
 */
int launch_prepare(struct launch *ret_launch, const struct launch_program *program);

/* Lets the child exec; does not wait for it. */
void launch_go(struct launch *launch);

/*
 * After launch_go(), once the child has exec'd or ended: 0, or the negative errno of its exec with a sentence
 * that names the program.
 */
int launch_error(struct launch *launch, const char *path);

/* A child that has not exec'd is killed and reaped; one that has is left alone. */
void launch_release(struct launch *launch);
