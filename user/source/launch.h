/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <signal.h>
#include <sys/types.h>

/* The signals that this process was started with blocked, and those with none but SIG_IGN for a handler: a program that it starts has the same. */
struct launch_signals {
	sigset_t blocked, ignored;
};

/* To be called before any signal is touched. SIGCHLD gets its default action: who ignores it cannot wait for children. */
void launch_note_signals(struct launch_signals *ret_signals);

/*
 * A program about to run: the process exists and waits just before its exec, so that it can be prepared (probes, tracing).
 */
struct launch {
	pid_t pid;
	int go_fd;  /* closing it without a word makes the child exit */
	int err_fd; /* the child's errno where its exec failed */
};

/*
 * fork(2), of a child that a plain user may trace: a program with file capabilities is not dumpable, and until it execs its child would be none either.
 */
pid_t fork_traceable(void);

/*
 * Forks. `path` is what is executed (a path, not searched for), argv as execv(3). All that a program inherits is as this process has it, but for
 * `signals`; NULL: for them, too. 0 or -errno with a sentence.
 */
int launch_prepare(struct launch *ret_launch, const char *path, char *const argv[],
		   const struct launch_signals *signals);

/* Lets the child exec; does not wait for it. */
void launch_go(struct launch *launch);

/*
 * After launch_go(), once the child has exec'd or ended: 0, or the negative errno of its exec with a sentence that names the program.
 */
int launch_error(struct launch *launch, const char *path);

/* A child that has not exec'd is killed and reaped; one that has is left alone. */
void launch_release(struct launch *launch);
