/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As vfork(2) does, but with the descriptors shared: they are closed when the last of the two processes ends,
 * which is then one that nobody is killing.
 */
#include "process/aside.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { STACK_BYTES = 1 << 20 };

struct job {
	int (*work)(void *ctx);
	void *ctx;
	int result;
};

static int run(void *ctx)
{
	struct job *job = ctx;

	job->result = job->work(job->ctx);
	return 0;
}

/* 0: it has run. */
static int run_aside(struct job *job)
{
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	int pid;

	if (stack == MAP_FAILED)
		return -1;
	pid = clone(run, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | CLONE_FILES, job);
	while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	munmap(stack, STACK_BYTES);
	return pid > 0 ? 0 : -1;
}

int aside(int (*work)(void *ctx), void *ctx)
{
	struct job job = {.work = work, .ctx = ctx};
	sigset_t all, before;
	int err;

	/* A handler of ours must not run there. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	err = run_aside(&job);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err ? work(ctx) : job.result;
}
