/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel gives up a change of code (kernel/events/uprobes.c: uprobe_write_opcode(), by way of
 * get_user_pages_remote()) when the process that asked for it has SIGKILL pending. When a probe is taken out,
 * it then says "failed to unregister, leaking uprobe" and leaves the breakpoint. An exiting process has none
 * pending: get_signal() removes SIGKILL first, and drops later ones. So the keeper leaves it to its exit to
 * close the descriptors, after a SIGKILL of ours or anybody's. Opening cannot be made as safe: only exiting
 * processes and kernel threads never have SIGKILL pending.
 *
 * 	this process                     the one between             the keeper
 * 	clone(VM | FILES | VFORK) ---->  clone(VM | PIDFD) ------->  setsid(), work(), closes the rest
 * 	reads from the pipe              ends                        writes to the pipe
 * 	...                                                          waits for the end of this process
 * 	SIGKILL by pidfd -------------------------------------------> ends
 *
 * The process in between orphans the keeper: whoever kills a process's descendants, or its process group,
 * must not find the keeper while it opens. Rejected: a separate process that closes, which `killall -9`
 * finds, too; pinned links, which need a writable BPF file system.
 */
#include "process/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sort.h"

enum { STACK_BYTES = 1 << 20, BETWEEN_STACK_BYTES = 1 << 14 };

/* AddressSanitizer: clears the shadow of a stack from which no function has returned. */
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void *addr, size_t size);

/* The keeper's input, which does not change meanwhile, and its `result`. */
struct start {
	struct keeper *keeper;
	int (*work)(struct keeper *keeper, void *ctx);
	void *ctx;
	int worker; /* pidfd of the process that it serves */
	int done;   /* write end of the pipe, written to when `work` has returned */
	int result;
};

/* Of the process that it serves. */
struct ends {
	int worker, signals, done[2];
};

/* ---- the keeper ---- */

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void close_others(struct keeper *keeper)
{
	int fd = 0;

	sort_array(keeper->fds, keeper->fd_cnt, sizeof(*keeper->fds), by_number);
	for (size_t i = 0; i < keeper->fd_cnt; i++, fd++)
		for (; fd < keeper->fds[i]; fd++)
			close(fd);
	closefrom(fd);
}

static bool wait_for_end(int pidfd, int timeout_ms)
{
	struct pollfd end = {.fd = pidfd, .events = POLLIN};
	int cnt;

	do
		cnt = poll(&end, 1, timeout_ms);
	while (cnt < 0 && errno == EINTR);
	return cnt == 1;
}

static int keep(void *arg)
{
	struct start *start = arg;
	struct keeper *keeper = start->keeper;
	int worker = start->worker, done = start->done;
	ssize_t written;

	setsid();
	prctl(PR_SET_NAME, "trailcam-probes");
	start->result = start->work(keeper, start->ctx);
	if (!start->result)
		close_others(keeper);
	/* From here on both processes run: errno and `start` belong to the other one again. */
	written = write(done, "d", 1);
	(void)written;
	wait_for_end(worker, -1);
	kill(getpid(), SIGKILL);
	return 0;
}

int keeper_keep(struct keeper *keeper, int fd)
{
	return ARRAY_PUSH(keeper->fds, keeper->fd_cnt, keeper->fd_cap, fd);
}

/* ---- this process ---- */

static int between(void *arg)
{
	struct start *start = arg;
	struct keeper *keeper = start->keeper;

	return clone(keep, keeper->stack + STACK_BYTES, CLONE_VM | CLONE_PIDFD, start, &keeper->pidfd) < 0
		       ? errno
		       : 0;
}

/* The signals that end this process, or its recording. */
static void ending_signals(sigset_t *ret_set)
{
	const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGRTMIN};
	struct sigaction action;

	sigemptyset(ret_set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (!sigaction(signals[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(ret_set, signals[i]);
}

/* Signals are blocked, and errno is the keeper's. */
static bool wait_until_done(struct keeper *keeper, const struct ends *ends)
{
	struct pollfd fds[] = {{.fd = ends->done[0], .events = POLLIN},
			       {.fd = ends->signals, .events = POLLIN}};
	char word;

	while (poll(fds, ARRAY_SIZE(fds), -1) >= 0 && !fds[0].revents) {
		keeper->is_cancelled = 1;
		fds[1].fd = -1;
	}
	return read(ends->done[0], &word, 1) == 1;
}

/* 0: `result` is valid; -EINTR: the keeper was killed before. */
static int run(struct start *start, struct ends *ends)
{
	int pid = clone(between, start->keeper->stack + BETWEEN_STACK_BYTES,
			CLONE_VM | CLONE_VFORK | CLONE_FILES, start);
	int status;

	if (pid < 0)
		return -errno;
	if (waitpid(pid, &status, __WALL) < 0 || !WIFEXITED(status))
		return -EINTR;
	close(ends->done[1]);
	ends->done[1] = -1;
	if (WEXITSTATUS(status))
		return -WEXITSTATUS(status);
	return wait_until_done(start->keeper, ends) ? 0 : -EINTR;
}

static int open_ends(struct ends *ends)
{
	sigset_t ending;

	ending_signals(&ending);
	ends->signals = signalfd(-1, &ending, SFD_CLOEXEC);
	ends->worker = (int)syscall(SYS_pidfd_open, getpid(), 0);
	return ends->signals < 0 || ends->worker < 0 || pipe2(ends->done, O_CLOEXEC) ? -errno : 0;
}

static void close_ends(const struct ends *ends)
{
	closep(&ends->worker);
	closep(&ends->signals);
	closep(&ends->done[0]);
	closep(&ends->done[1]);
}

static int map_stack(struct keeper *keeper)
{
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);

	if (stack == MAP_FAILED)
		return -errno;
	keeper->stack = stack;
	return 0;
}

static int start_blocked(struct keeper *keeper, int (*work)(struct keeper *keeper, void *ctx), void *ctx)
{
	CLEANUP(close_ends) struct ends ends = {-1, -1, {-1, -1}};
	struct start start = {.keeper = keeper, .work = work, .ctx = ctx};
	int err = open_ends(&ends);

	if (!err)
		err = map_stack(keeper);
	start.worker = ends.worker;
	start.done = ends.done[1];
	if (!err)
		err = keeper_keep(keeper, start.worker);
	if (!err)
		err = keeper_keep(keeper, start.done);
	if (!err)
		err = run(&start, &ends);
	return err ? fail_errno(err, "cannot start a process that holds probes") : start.result;
}

int keeper_start(struct keeper *keeper, int (*work)(struct keeper *keeper, void *ctx), void *ctx)
{
	sigset_t all, before;
	int err;

	*keeper = (struct keeper){.pidfd = -1};
	/* Our signal handlers must not run in the keeper, nor at the same time. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	err = start_blocked(keeper, work, ctx);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

void keeper_begin_end(struct keeper *keeper)
{
	if (!keeper->stack || keeper->pidfd < 0 || keeper->is_ending)
		return;
	if (wait_for_end(keeper->pidfd, 0))
		log_warn("the process that held the probes was killed: there were no hits from then on");
	syscall(SYS_pidfd_send_signal, keeper->pidfd, SIGKILL, NULL, 0);
	keeper->is_ending = true;
}

/* The keeper's stack is no longer needed: a killed process does not return to user code. */
bool keeper_end(struct keeper *keeper, int timeout_ms)
{
	bool has_ended = true;

	keeper_begin_end(keeper);
	if (keeper->is_ending) {
		has_ended = wait_for_end(keeper->pidfd, timeout_ms);
		close(keeper->pidfd);
	}
	if (keeper->stack && __asan_unpoison_memory_region)
		__asan_unpoison_memory_region(keeper->stack, STACK_BYTES);
	if (keeper->stack)
		munmap(keeper->stack, STACK_BYTES);
	free(keeper->fds);
	*keeper = (struct keeper){0};
	return has_ended;
}
