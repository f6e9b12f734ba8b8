/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stop of the target is a SIGCHLD, which is unblocked only inside ppoll(2): one that came before makes
 * ppoll() return at once, so that none is missed. A spinning reader polls the ring's memory, and checks for
 * stops less often, because that is a system call.
 */
#include "capture/idle.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

#include "base/array.h"
#include "capture/interrupt.h"

enum { SPINS = 2000 };

static void on_child(int signal)
{
	(void)signal;
}

void idle_prepare(struct idle_signals *ret_before)
{
	struct sigaction action = {.sa_handler = on_child};
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigaction(SIGCHLD, &action, &ret_before->action);
	sigprocmask(SIG_BLOCK, &child, &ret_before->mask);
	ret_before->is_known = true;
}

void idle_restore(struct idle_signals *before)
{
	if (!before->is_known)
		return;
	sigaction(SIGCHLD, &before->action, NULL);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
	before->is_known = false;
}

static bool child_waits(void)
{
	siginfo_t info = {0};

	return waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) || info.si_pid;
}

static void spin_for(struct trigger_set *set)
{
	for (int i = 0; i < SPINS; i++) {
		if (trigger_set_pending(set))
			return;
		__builtin_ia32_pause();
	}
}

void idle_wait(struct trigger_set *set, int fd, bool spin, int timeout_ms)
{
	struct pollfd fds[] = {{.fd = set ? trigger_set_fd(set) : -1, .events = POLLIN},
			       {.fd = fd, .events = POLLIN}};
	struct timespec timeout = {.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000L};
	sigset_t mask;

	if (set && spin) {
		spin_for(set);
		return;
	}
	sigprocmask(SIG_BLOCK, NULL, &mask);
	sigdelset(&mask, SIGCHLD);
	while (!interrupt_pending() && !child_waits() && !(set && trigger_set_pending(set)))
		if (ppoll(fds, ARRAY_SIZE(fds), timeout_ms < 0 ? NULL : &timeout, &mask) >= 0 ||
		    timeout_ms >= 0)
			return;
}
