/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * With leaders_only the first thread of each process is held at its exec and at its exit, and no other thread
 * is. Of these the caller tells. What is seen of a process through its first thread needs one thread to be
 * traced as long as the process lives: where that leaves before the others, these are traced, and where
 * another thread has exec'd, that is.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model/sideband.h"
#include "session/session_internal.h"

int session_add_untraced(struct session *session, struct session_process *process, pid_t tid)
{
	struct session_thread *thread;
	int err = session_add_thread(session, process, tid, &thread);

	if (err)
		return err;
	thread->announced = thread->let_go = true;
	session_announce_comm(session, thread, false);
	return 0;
}

static void note_name(struct session *session, struct session_thread *thread, const struct thread_life *life)
{
	if (!strncmp(thread->comm, life->name, sizeof(thread->comm) - 1))
		return;
	strncpy(thread->comm, life->name, sizeof(thread->comm) - 1);
	session_note(session, sideband_add_comm(session->sideband, life->pid, life->tid, life->time_ns,
						life->name, false));
}

static int on_born(struct session *session, struct session_process *process, const struct thread_life *life)
{
	struct session_thread *thread;
	int err = session_add_thread(session, process, life->tid, &thread);

	if (err)
		return err;
	thread->announced = thread->let_go = true;
	session_note(session, sideband_add_task(session->sideband, PERF_RECORD_FORK, life->pid, life->tid,
						life->pid, life->pid, life->time_ns));
	note_name(session, thread, life);
	return 0;
}

static void on_ended(struct session *session, struct session_thread *thread, const struct thread_life *life)
{
	note_name(session, thread, life);
	thread->dead = true;
	session->ended_cnt++;
}

/* Not only its first thread, which is dead for a moment before another one replaces it. */
static bool is_all_ended(pid_t pid)
{
	CLEANUP(closep) int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd end = {.fd = fd, .events = POLLIN};

	return fd < 0 ? errno == ESRCH : poll(&end, 1, 0) > 0;
}

/* Whether nobody will tell us of its end. */
static bool has_ended_unseen(pid_t pid)
{
	siginfo_t info;

	return is_all_ended(pid) && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) &&
	       errno == ECHILD;
}

/* The thread that has exec'd was not traced, and runs. The former leader's end is not reported. */
static int on_replaced(struct session *session, struct session_process *process)
{
	struct session_thread *thread;
	int err;

	if (session_is_ours(process->pid) || session->ending == process)
		return 0; /* its exec is reported, or its end is */
	for (size_t i = 0; i < session->thread_cnt; i++)
		if (session->threads[i]->process == process)
			session->threads[i]->dead = true;
	process->leader_left = process->is_left = false;
	err = session_add_thread(session, process, process->pid, &thread);
	if (err)
		return err;
	thread->announced = true;
	thread->let_go = session_seize(session, process, process->pid);
	err = ASK_CAPTURE(session, executed, process->pid, true);
	if (err)
		return err;
	session_announce_comm(session, thread, true);
	err = session_read_maps(session, process, process->pid, true);
	if (!err && thread->let_go && has_ended_unseen(process->pid))
		session_end_process(session, process, 0);
	return err;
}

int session_hear(struct session *session, const struct thread_life *life)
{
	struct session_process *process = session_find_process(session, life->pid);
	struct session_thread *thread = session_find(session, life->tid);

	if (!process)
		return 0;
	if (life->kind == THREAD_MAPPED) {
		session_look_soon(session);
		return 0;
	}
	if (!session->config.leaders_only)
		return 0;
	if (life->kind == THREAD_REPLACED)
		return on_replaced(session, process);
	if (life->kind == THREAD_BORN && !thread)
		return on_born(session, process, life);
	if (life->kind == THREAD_ENDED && thread && thread->let_go)
		on_ended(session, thread, life);
	return 0;
}

void session_find_lost(struct session *session)
{
	const struct timespec moment = {.tv_nsec = 10000000};

	/* In the middle of an exec there is nobody for a moment. */
	nanosleep(&moment, NULL);
	TELL_CAPTURE(session, catch_up);
	for (size_t i = 0; i < session->process_cnt; i++)
		if (!session->processes[i]->exited && !session_is_ours(session->processes[i]->pid) &&
		    is_all_ended(session->processes[i]->pid))
			session_end_process(session, session->processes[i], 0);
}

int session_list_threads(struct session *session)
{
	int cnt = 0;

	if (!session->config.leaders_only)
		return 0;
	TELL_CAPTURE(session, catch_up);
	for (size_t i = 0; i < session->process_cnt && cnt >= 0; i++)
		if (!session->processes[i]->exited)
			cnt = session_seize_threads(session, session->processes[i]);
	return cnt < 0 ? cnt : 0;
}

/* What has ended meanwhile, or is about to, is left alone. */
void session_seize_left(struct session *session)
{
	if (!session->has_left)
		return;
	session->has_left = false;
	for (size_t i = 0; i < session->process_cnt; i++) {
		struct session_process *process = session->processes[i];
		const struct session_thread *leader = session_find(session, process->pid);

		if (!process->is_left || process->exited)
			continue;
		/* It is in the stop in which we learnt of it. */
		if (leader && leader->held) {
			session->has_left = true;
			continue;
		}
		process->is_left = false;
		session_seize_threads(session, process);
	}
}
