/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A running process is seized thread by thread. Threads that are not seized yet may create more, so the list
 * is read until it has nothing new; what a seized thread creates is held from its beginning. Seizing stops no
 * thread: probes are attached while they run, which may take long.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/rights.h"
#include "process/attach_check.h"
#include "process/proc_status.h"
#include "session/session_internal.h"

/* If the targets run freely, a process's exit is the last chance to read its mappings. */
int session_seize(const struct session *session, const struct session_process *process, pid_t tid)
{
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC |
		       (session->config.free_running ? PTRACE_O_TRACEEXIT : 0);
	int err;

	if (!session_leads_alone(session, process))
		options |= PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
	rights_raise_ptrace();
	err = ptrace(PTRACE_SEIZE, tid, NULL, options) ? -errno : 0;
	rights_lower_ptrace();
	return err;
}

/* Without ptrace. Our own child's end is reported without a descriptor. */
static int watch(struct session *session, pid_t pid, bool is_child)
{
	struct session_process *process;
	int err = session_add_process(session, pid, NULL, &process);

	if (err || is_child)
		return err;
	process->end_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	process->exited = process->end_fd < 0;
	return process->exited ? fail_errno(-errno, "cannot wait for process %d", pid) : 0;
}

int session_launch(struct session *session, pid_t pid)
{
	struct session_process *process;
	struct session_thread *thread;
	int err;

	if (session->config.untraced)
		return watch(session, pid, true);
	err = session_add_process(session, pid, NULL, &process);
	if (err)
		return err;
	err = session_seize(session, process, pid);
	process->exited = err;
	if (err)
		return fail_errno(err, "ptrace is not allowed here (a seccomp filter, another tracer, or "
				       "kernel.yama.ptrace_scope=3)");
	err = session_add_thread(session, process, pid, &thread);
	if (err)
		return err;
	thread->announced = true;
	return 0;
}

bool session_is_ours(pid_t tid)
{
	uint64_t tracer;

	return !proc_status_number(tid, "TracerPid", 10, &tracer) && (pid_t)tracer == getpid();
}

/* 1: new, or newly seized; 0: known, or gone. */
static int seize_thread(struct session *session, struct session_process *process, pid_t tid)
{
	struct session_thread *thread = session_find(session, tid);
	bool is_alone = session_leads_alone(session, process);
	int err;

	if (thread && (is_alone || !thread->let_go))
		return 0;
	if (is_alone && tid != process->pid)
		return session_add_untraced(session, process, tid) ? -ENOMEM : 1;
	if (session_is_ours(tid))
		return 0;
	err = session_seize(session, process, tid);
	if (err == -ESRCH || (err == -EPERM && proc_has_ended(tid)))
		return 0;
	if (err)
		return attach_refused(process->pid, err);
	err = thread ? 0 : session_add_thread(session, process, tid, &thread);
	if (err)
		return err;
	thread->let_go = false;
	thread->announced = true;
	session_announce_comm(session, thread, false);
	return 1;
}

int session_seize_threads(struct session *session, struct session_process *process)
{
	CLEANUP(closedirp) DIR *threads = proc_threads(process->pid);
	int cnt = 0, seized = 0;

	for (pid_t tid; seized >= 0 && (tid = proc_next(threads));) {
		seized = seize_thread(session, process, tid);
		cnt += seized;
	}
	return seized < 0 ? seized : cnt;
}

int session_attach(struct session *session, pid_t pid)
{
	struct session_process *process;
	int cnt, total = 0, err = attach_check(pid);

	if (!err && session->config.untraced)
		return watch(session, pid, false);
	if (!err)
		err = session_add_process(session, pid, NULL, &process);
	if (err)
		return err;
	process->runs_itself = true;
	process->leader_left = proc_has_ended(pid);
	do {
		cnt = session_seize_threads(session, process);
		process->exited = cnt < 0;
		if (cnt < 0)
			return cnt;
		total += cnt;
	} while (cnt);
	process->exited = !total;
	if (!total)
		return fail(-ESRCH, "process %d has ended just now", pid);
	session->seized = true;
	return session_read_maps(session, process, pid, true);
}
