/* SPDX-License-Identifier: BSD-2-Clause */
/* Which signal a thread has stopped for, and where it was. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "arch/arch.h"
#include "base/array.h"
#include "process/inject.h"
#include "process/proc_status.h"
#include "session/session_internal.h"

int session_siginfo_code(const struct session_thread *thread)
{
	siginfo_t info = {0};

	return ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) ? 0 : info.si_code;
}

/* The kernel itself sends SIGSTOP only for a BPF program. */
static bool is_own(const struct session *session, const struct session_thread *thread, const siginfo_t *info)
{
	if (info->si_signo == SIGSTOP)
		return info->si_code == SI_KERNEL;
	return info->si_signo == SIGTRAP && ASK(session->config.driver, is_own_trap, thread, info);
}

bool session_is_own_signal(const struct session *session, const struct session_thread *thread, int signal)
{
	siginfo_t info = {0};

	return !ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) && info.si_signo == signal &&
	       is_own(session, thread, &info);
}

bool session_own_signal_is_queued(const struct session *session, const struct session_thread *thread)
{
	struct __ptrace_peeksiginfo_args args = {.nr = 32};
	siginfo_t queued[32];
	long cnt = ptrace(PTRACE_PEEKSIGINFO, thread->tid, &args, queued);

	for (long i = 0; i < cnt; i++)
		if (is_own(session, thread, &queued[i]))
			return true;
	return false;
}

int session_pass_signal(const struct session *session, struct session_thread *thread, int signal)
{
	const struct session_driver *driver = session->config.driver;

	return signal && driver->pass ? driver->pass(session->config.self, thread, signal) : signal;
}

/* ---- EINTR ---- */

/* System calls that fail with EINTR even if no handler runs. */
static bool is_never_restarted(long syscall_nr)
{
	static const long calls[] = {
		SYS_epoll_wait,	     SYS_epoll_pwait,  SYS_epoll_pwait2,  SYS_semop,	      SYS_semtimedop,
		SYS_rt_sigtimedwait, SYS_io_getevents, SYS_io_pgetevents, SYS_io_uring_enter,
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i] == syscall_nr)
			return true;
	return false;
}

static bool signal_is_due(const struct session_thread *thread)
{
	uint64_t own = 0, shared = 0, blocked = 0;

	return proc_status_number(thread->tid, "SigPnd", 16, &own) ||
	       proc_status_number(thread->tid, "ShdPnd", 16, &shared) ||
	       proc_status_number(thread->tid, "SigBlk", 16, &blocked) || (own | shared) & ~blocked;
}

void session_undo_eintr(const struct session_thread *thread)
{
	struct user_regs_struct regs;

	if (call_restart_plainly(thread->tid) || ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs) ||
	    arch_syscall_result(&regs) != -EINTR || !is_never_restarted(arch_syscall_nr(&regs)) ||
	    signal_is_due(thread))
		return;
	arch_syscall_repeat(&regs);
	ptrace(PTRACE_SETREGS, thread->tid, NULL, &regs);
}

/* ---- hits without a probe ---- */

/*
 * Follows the frame pointers, each with the return address above it, as long as they lead up the stack.
 */
static void walk_stack(const struct session_thread *thread, struct caught_hit *hit)
{
	uint64_t frame = hit->regs[HIT_FP];

	hit->stack[hit->hit.stack_cnt++] = hit->regs[HIT_IP];
	while (hit->hit.stack_cnt < HIT_STACK_MAX && frame) {
		uint64_t next, ret;

		errno = 0;
		next = (uint64_t)ptrace(PTRACE_PEEKDATA, thread->tid, (void *)frame, NULL);
		ret = (uint64_t)ptrace(PTRACE_PEEKDATA, thread->tid, (void *)(frame + sizeof(uint64_t)),
				       NULL);
		if (errno)
			return;
		hit->stack[hit->hit.stack_cnt++] = ret;
		if (next <= frame)
			return;
		frame = next;
	}
}

static void describe_thread(struct session *session, const struct session_thread *thread,
			    struct caught_hit *ret_hit)
{
	struct caught_hit caught = {.hit = {.time_ns = session_now(session),
					    .pid = (uint32_t)thread->process->pid,
					    .tid = (uint32_t)thread->tid}};
	struct hit *hit = &caught.hit;
	struct user_regs_struct regs = {0};
	char comm[HIT_COMM_BYTES + 1] = "";

	hit->begin_ns = hit->time_ns;
	ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs);
	arch_hit_registers(&regs, caught.regs);
	errno = 0;
	hit->return_address =
		(uint64_t)ptrace(PTRACE_PEEKDATA, thread->tid, (void *)caught.regs[HIT_SP], NULL);
	if (errno)
		hit->return_address = 0;
	walk_stack(thread, &caught);
	proc_status_text(thread->tid, "Name", comm, sizeof(comm));
	memcpy(hit->comm, comm, sizeof(hit->comm));
	*ret_hit = caught;
}

void session_tell_signal(struct session *session, const struct session_thread *thread, int signal)
{
	struct caught_hit hit;

	if (!(session->config.signals >> (signal - 1) & 1))
		return;
	describe_thread(session, thread, &hit);
	TELL_CAPTURE(session, signalled, signal, &hit);
}
