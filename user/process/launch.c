/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two pipes, both closed by a successful exec: one tells the child to continue, the other returns the error
 * of its exec. If this process dies, the child reads end-of-file and exits without executing the program.
 */
#include "process/launch.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "base/rights.h"

enum { EXEC_FAILED = 127 };

void launch_note_signals(struct launch_signals *ret_signals)
{
	sigprocmask(SIG_SETMASK, NULL, &ret_signals->blocked);
	sigemptyset(&ret_signals->ignored);
	for (int i = 1; i < NSIG; i++) {
		struct sigaction action;

		if (!sigaction(i, NULL, &action) && action.sa_handler == SIG_IGN)
			sigaddset(&ret_signals->ignored, i);
	}
	signal(SIGCHLD, SIG_DFL);
}

static void restore_signals(const struct launch_signals *signals)
{
	for (int i = 1; i < NSIG; i++)
		signal(i, sigismember(&signals->ignored, i) ? SIG_IGN : SIG_DFL);
	sigprocmask(SIG_SETMASK, &signals->blocked, NULL);
}

bool launch_gains_rights(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	return (st.st_mode & S_ISUID && st.st_uid != getuid()) ||
	       (st.st_mode & S_ISGID && st.st_gid != getgid()) ||
	       (getuid() && getxattr(path, "security.capability", NULL, 0) > 0);
}

/*
 * The program must not get the rights that this process needs for its probes: an exec drops those of our
 * file, and this drops those of the ambient set. For a program that the caller records, a file that gives
 * more rights than the caller has (setuid) gives none.
 */
static void lay_down_rights(bool no_new_rights)
{
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER, CAP_BPF, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER, CAP_PERFMON, 0, 0);
	if (no_new_rights && getuid())
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static void __attribute__((noreturn)) child(int go_fd, int err_fd, const struct launch_program *program,
					    char *const environment[], const sigset_t *mask)
{
	char word;
	int err;

	if (read(go_fd, &word, 1) != 1)
		_exit(EXEC_FAILED);
	/* The handlers go first: a signal may wait. */
	if (program->signals)
		restore_signals(program->signals);
	else
		sigprocmask(SIG_SETMASK, mask, NULL);
	if (program->files)
		setrlimit(RLIMIT_NOFILE, program->files);
	lay_down_rights(program->is_untraced);
	execve(program->path, program->argv, environment);
	err = errno;
	if (write(err_fd, &err, sizeof(err)) < 0)
		_exit(EXEC_FAILED);
	_exit(EXEC_FAILED);
}

pid_t fork_traceable(void)
{
	int dumpable = prctl(PR_GET_DUMPABLE);
	pid_t pid;

	prctl(PR_SET_DUMPABLE, 1);
	pid = fork();
	if (pid && dumpable != 1)
		prctl(PR_SET_DUMPABLE, 0);
	return pid;
}

int launch_prepare(struct launch *ret_launch, const struct launch_program *program)
{
	CLEANUP(freep) char **environment = rights_environ();
	const char *path = program->path;
	int go[2], err[2];
	sigset_t all, before;
	pid_t pid;

	if (!environment)
		return -ENOMEM;
	if (getuid() && launch_gains_rights(path))
		log_warn("%s runs without the rights that its file gives it (setuid, capabilities): only "
			 "root may record those",
			 path);
	if (pipe2(go, O_CLOEXEC))
		return fail_errno(-errno, "cannot start %s", path);
	if (pipe2(err, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return fail_errno(-errno, "cannot start %s", path);
	}
	/* Our signal handlers must not run in the child; exec resets them. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork_traceable();
	if (!pid) {
		close(go[1]);
		close(err[0]);
		child(go[0], err[1], program, environment, &before);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(go[0]);
	close(err[1]);
	if (pid < 0) {
		close(go[1]);
		close(err[0]);
		return fail_errno(-errno, "cannot start %s", path);
	}
	*ret_launch = (struct launch){.pid = pid, .go_fd = go[1], .err_fd = err[0]};
	return 0;
}

void launch_go(struct launch *launch)
{
	ssize_t written = write(launch->go_fd, "g", 1);

	(void)written; /* a child that is dead already is noticed by whoever waits for it */
	closep(&launch->go_fd);
	launch->go_fd = -1;
}

int launch_error(struct launch *launch, const char *path)
{
	int err = 0;

	if (read(launch->err_fd, &err, sizeof(err)) != sizeof(err))
		return 0;
	return fail_errno(-err, "cannot run %s", path);
}

void launch_release(struct launch *launch)
{
	if (launch->go_fd >= 0 && launch->pid > 0) {
		kill(launch->pid, SIGKILL);
		waitpid(launch->pid, NULL, __WALL);
	}
	closep(&launch->go_fd);
	closep(&launch->err_fd);
	*launch = (struct launch){.go_fd = -1, .err_fd = -1};
}
