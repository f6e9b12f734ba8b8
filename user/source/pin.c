/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guard is a process that blocks on a pipe. A byte means that the affinity was put back in good order; end-of-file
 * without it that the tracer was killed, and the guard does it.
 */
#include "source/pin.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "source/tracee.h"

static void restore_threads(const struct pin *pin, pid_t pid)
{
	CLEANUP(closedirp) DIR *tasks = tracee_open_tasks(pid);
	pid_t tid;

	while (tasks && (tid = tracee_next_task(tasks)))
		pin_restore_task(pin, tid);
}

static void restore_all(const struct pin *pin)
{
	for (int i = 0; i < pin->targets->cnt; i++)
		restore_threads(pin, pin->targets->pids[i]);
}

void pin_add(struct pin *pin, pid_t pid)
{
	if (pin->guard_fd < 0)
		return;
	if (pin->targets->cnt < PIN_MAX)
		pin->targets->pids[pin->targets->cnt++] = pid;
	else
		restore_threads(pin, pid);
}

void pin_restore_task(const struct pin *pin, pid_t tid)
{
	if (pin->guard_fd >= 0)
		sched_setaffinity(tid, sizeof(pin->before), &pin->before);
}

static void __attribute__((noreturn)) guard(const struct pin *pin, int fd)
{
	char word;

	/* Ctrl-C is for the program in front; this one only outlives it by a moment. */
	setsid();
	prctl(PR_SET_NAME, "trailcam-guard");
	/* Nothing inherited is kept open: a pipe's reader would wait for us. */
	for (int other = 0; other < 1024; other++)
		if (other != fd)
			close(other);
	if (read(fd, &word, 1) != 1)
		restore_all(pin);
	_exit(0);
}

static int guard_start(struct pin *pin)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pin->guard_fd = ends[1];
	pin->guard = fork();
	if (!pin->guard) {
		close(ends[1]);
		guard(pin, ends[0]);
	}
	close(ends[0]);
	if (pin->guard > 0)
		return 0;
	close(ends[1]);
	pin->guard_fd = -1;
	return -1;
}

void pin_init(struct pin *pin, pid_t target)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	*pin = (struct pin){.guard_fd = -1};
	pin->targets =
		mmap(NULL, sizeof(*pin->targets), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pin->targets == MAP_FAILED)
		return;
	pin->targets->pids[pin->targets->cnt++] = target;
	if (cpu < 0 || sched_getaffinity(0, sizeof(pin->before), &pin->before) || guard_start(pin))
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	sched_setaffinity(target, sizeof(one), &one);
}

void pin_release(struct pin *pin)
{
	ssize_t written;

	if (pin->guard_fd < 0)
		return;
	restore_all(pin);
	sched_setaffinity(0, sizeof(pin->before), &pin->before);
	written = write(pin->guard_fd, "d", 1);
	(void)written; /* a guard that is gone already has nothing to do */
	close(pin->guard_fd);
	pin->guard_fd = -1;
	waitpid(pin->guard, NULL, 0);
	munmap(pin->targets, sizeof(*pin->targets));
}
