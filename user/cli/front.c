/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terminal sends its signals to the whole process group, the worker included. Other signals are
 * forwarded.
 */
#include "cli/front.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "capture/interrupt.h"
#include "cli/cli.h"
#include "process/program.h"

int front_exec_status(int err)
{
	return err == -ENOENT ? STATUS_RUN_NOT_FOUND : STATUS_RUN_CANNOT_EXECUTE;
}

int front_find_program(const char *name, char **ret_path, char **ret_binary)
{
	int err = program_find(name, ret_path);

	if (err)
		return print_failure(err, front_exec_status(err));
	err = program_binary(*ret_path, ret_binary);
	return err ? print_failure(err, STATUS_RUN_FAILED) : 0;
}

int end_as(int wait_status)
{
	struct rlimit no_core = {0};

	if (!WIFSIGNALED(wait_status))
		return WEXITSTATUS(wait_status);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(wait_status), SIG_DFL);
	raise(WTERMSIG(wait_status));
	return 128 + WTERMSIG(wait_status);
}

int front_run(int (*work)(void *ctx), void *ctx)
{
	pid_t front = getpid();
	sigset_t all, before;
	pid_t worker;
	int status;

	/* A process that ignores SIGCHLD cannot wait for children. */
	signal(SIGCHLD, SIG_DFL);
	/* Blocks signals, so that none is lost between the fork and the handlers. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	worker = fork();
	if (!worker) {
		interrupt_watch_parent();
		sigprocmask(SIG_SETMASK, &before, NULL);
		/* If the parent is gone already, no signal will come. */
		exit(getppid() == front ? work(ctx) : STATUS_RUN_FAILED);
	}
	if (worker > 0)
		interrupt_pass_on(worker);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (worker < 0)
		return print_failure(fail_errno(-errno, "cannot start a process"), STATUS_RUN_FAILED);
	while (waitpid(worker, &status, 0) < 0 && errno == EINTR)
		;
	return end_as(status);
}
