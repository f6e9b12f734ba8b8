/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/*
 * Which signals were blocked and which ignored when this process began: a program that it starts inherits
 * both.
 */
struct launch_signals {
	sigset_t blocked, ignored;
};

/*
 * To be called before any signal's action changes. Gives SIGCHLD its default action: a process that ignores
 * it cannot wait for children.
 */
void launch_note_signals(struct launch_signals *ret_signals);

/*
 * A program that is about to run: its process exists and waits just before the exec, so that probes and
 * tracing can be set up.
 */
struct launch {
	pid_t pid;
	int go_fd;  /* closing it before a write makes the child exit */
	int err_fd; /* carries the child's errno if its exec fails */
};

/*
 * fork(2), for a child that an unprivileged user may trace. A program with file capabilities is not dumpable,
 * and without this its child would not be dumpable until its exec.
 */
pid_t fork_traceable(void);

/* What is executed. */
struct launch_program {
	const char *path;		      /* not searched in $PATH */
	char *const *argv;		      /* as for execv(3) */
	const struct launch_signals *signals; /* NULL: as this process has them */
	const struct rlimit *files;	      /* how many it may have open; NULL: as many as this process */
	/*
	 * No tracer is attached at the exec. If a tracer without CAP_SYS_PTRACE is attached, the kernel
	 * ignores the rights that a file gives (setuid, capabilities). Otherwise PR_SET_NO_NEW_PRIVS does the
	 * same for a program that is recorded. Root may record everything.
	 */
	bool is_untraced;
};

/*
 * Whether the file gives the program rights that the user of this process lacks (setuid, setgid,
 * capabilities).
 */
bool launch_gains_rights(const char *path);

/*
 * Forks. The program inherits what this process inherited from its own caller (base/rights.h), except CAP_BPF
 * and CAP_PERFMON in the ambient set. 0 or -errno with a sentence.
 */
int launch_prepare(struct launch *ret_launch, const struct launch_program *program);

/* Lets the child exec, and does not wait for that. */
void launch_go(struct launch *launch);

/*
 * After launch_go(), once the child has exec'd or ended: 0, or the negative errno of its exec, with a
 * sentence that names the program.
 */
int launch_error(struct launch *launch, const char *path);

/* Kills and reaps a child that has not exec'd. Leaves one that has alone. */
void launch_release(struct launch *launch);
