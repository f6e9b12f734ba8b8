/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop: a thread stops, session_event.c handles the stop, and the thread continues as the driver says,
 * until the recording ends.
 *
 *	session_attach.c	taking hold of processes
 *	session_gather.c	stopping them for the start
 *	session_detach.c	letting go
 *	session_event.c		stops and ends, who is new
 *	session_signal.c	what a stop's signal is
 *	session_maps.c		mappings and names
 *	session_tasks.c		who is there, and who was
 *	session_lives.c		threads that are not traced
 */
#include "session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "process/proc_status.h"
#include "session/session_internal.h"

/* See event_comes(). */
enum { PATIENCE = 2000 };

uint64_t session_now(struct session *session)
{
	uint64_t ns = clock_kernel_ns();

	session->now_ns = ns > session->now_ns ? ns : session->now_ns + 1;
	return session->now_ns;
}

/* ---- the run ---- */

static void resume(struct session *session, struct session_thread *thread)
{
	const struct session_driver *driver = session->config.driver;
	enum __ptrace_request request =
		!session->started && thread->watched_calls ? PTRACE_SYSCALL : PTRACE_CONT;
	int signal = thread->held_signal;

	thread->held_signal = 0;
	if (driver->resume)
		request = driver->resume(session->config.self, thread, request, &signal);
	thread->held = false;
	/* Of a thread that runs freely again, what a step has left in the queue is still ours. */
	thread->driven =
		session->started || (thread->driven && session_own_signal_is_queued(session, thread));
	thread->is_stepped = request == PTRACE_SINGLESTEP;
	/* ESRCH: killed in the meantime; its exit will be reported. */
	ptrace(request, thread->tid, NULL, (void *)(long)signal);
}

static bool all_exited(const struct session *session)
{
	for (size_t i = 0; i < session->process_cnt; i++)
		if (!session->processes[i]->exited)
			return false;
	return true;
}

/* Whether a stop or an end is pending, or comes within PATIENCE tenths of a millisecond. */
static bool event_comes(void)
{
	const struct timespec moment = {.tv_nsec = 100000};
	siginfo_t info = {0};

	for (int patience = PATIENCE; patience; patience--) {
		if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) || info.si_pid)
			return true;
		nanosleep(&moment, NULL);
	}
	return false;
}

/*
 * The recording ends: threads in the middle of a step finish it; those inside the kernel execute no user
 * code.
 */
static int hold_all(struct session *session)
{
	for (size_t i = 0; i < session->thread_cnt; i++) {
		while (session->threads[i]->announced && session_is_busy(session, session->threads[i]) &&
		       !all_exited(session)) {
			struct session_thread *thread;
			int err;

			/* A step may sleep in the kernel, if the kernel restarts a system call. */
			if (!event_comes())
				ptrace(PTRACE_INTERRUPT, session->threads[i]->tid, NULL, NULL);
			err = session_next_event(session, -1, &thread);
			if (err)
				return err;
		}
	}
	return 0;
}

/* Held threads continue from where the snapshot was taken. */
static void resume_all(struct session *session)
{
	for (size_t i = 0; i < session->thread_cnt; i++)
		if (session->threads[i]->held && !session->threads[i]->dead)
			resume(session, session->threads[i]);
}

/* ---- the rest ---- */

void session_rest(struct session *session)
{
	session->started = session->is_reached = false;
	if (!session->config.driver->begin)
		return;
	for (size_t i = 0; i < session->thread_cnt; i++) {
		struct session_thread *thread = session->threads[i];

		/* One that sleeps in the middle of a step has the trap flag. */
		if (!thread->dead &&
		    (thread->held || (thread->is_stepped && !proc_is_unstoppable(thread->tid))))
			session_bring_to_stop(session, thread);
	}
	for (size_t i = 0; i < session->process_cnt; i++)
		TELL_DRIVER(session, process_let_go, session->processes[i]);
	for (size_t i = 0; i < session->thread_cnt; i++) {
		struct session_thread *thread = session->threads[i];

		/* A thread that sleeps in the middle of a step must not complete the step. */
		if (!thread->held && !thread->dead && !thread->group_stop)
			ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
		TELL(session->config.driver, let_go, thread);
	}
	pin_rest(&session->pin);
	session->stalled_ns += clock_kernel_ns() - session->counted_ns;
	session->gather_ns = 0;
}

/* ---- from stop to stop ---- */

int session_run(struct session *session, enum session_end *ret_end)
{
	int err = 0;

	if ((session->seized && session_starts_at_once(session)) || (session->started && session->is_cut)) {
		session_note_sleepers(session);
		session_start(session);
	} else {
		resume_all(session);
	}
	session->seized = false;
	while (!all_exited(session)) {
		struct session_thread *thread = NULL;
		bool starts;

		if (!session->gathers)
			err = session_next_event(session, -1, &thread);
		if (err || session->err)
			return err ? err : session->err;
		starts = session->gathers;
		/* A target has reached the start: all others are held first. */
		err = starts ? session_gather(session) : 0;
		if (err)
			return err;
		if (session->config.events->stop_wanted(session->config.ctx)) {
			err = hold_all(session);
			*ret_end = all_exited(session) ? SESSION_EXITED : SESSION_STOPPED;
			return err;
		}
		if (starts)
			resume_all(session);
		else if (thread && thread->held)
			resume(session, thread);
		err = session_forget_some(session);
		if (err)
			return err;
	}
	*ret_end = SESSION_EXITED;
	return 0;
}

/* ---- what was recorded ---- */

static int take_sideband(struct session *session, struct snapshot *snapshot)
{
	struct snapshot *from = session->sideband;
	int err = array_reserve(&snapshot->sideband, &snapshot->sideband_cap,
				snapshot->sideband_size + from->sideband_size, 1);

	if (err)
		return err;
	if (from->sideband_size)
		memcpy(snapshot->sideband + snapshot->sideband_size, from->sideband, from->sideband_size);
	snapshot->sideband_size += from->sideband_size;
	from->sideband_size = 0;
	return 0;
}

int session_take(struct session *session, struct snapshot *snapshot)
{
	int err = session_look_at_maps(session);

	if (err)
		return err;
	err = session_list_threads(session);
	if (err)
		return err;
	session_forget_ended(session);
	/* A thread may have got its name since it was born. */
	for (size_t i = 0; i < session->thread_cnt; i++)
		session_announce_comm(session, session->threads[i], false);
	return take_sideband(session, snapshot);
}

/* ---- life ---- */

int session_new(struct session **ret_session, const struct session_config *config)
{
	static const struct session_driver none;
	CLEANUP(session_freep) struct session *session = calloc(1, sizeof(*session));
	int err;

	if (!session)
		return -ENOMEM;
	session->config = *config;
	if (!config->driver)
		session->config.driver = &none;
	session->sideband_max = config->sideband_bytes ? config->sideband_bytes : SESSION_SIDEBAND_MAX;
	pin_init(&session->pin);
	err = snapshot_new(&session->sideband);
	if (!err)
		err = ASK_DRIVER(session, plug, session);
	if (err)
		return err;
	*ret_session = TAKE_PTR(session);
	return 0;
}

int session_wait_status(const struct session *session)
{
	return session->processes[0]->wait_status;
}

uint64_t session_stalled_ns(const struct session *session)
{
	return session->stalled_ns;
}

uint64_t session_let_go_ns(const struct session *session)
{
	uint64_t ns = session->gather_ns + session->gather_ns / 2;

	return session->gathered_cnt ? ns / session->gathered_cnt * session->thread_cnt : ns;
}

size_t session_gathered_cnt(const struct session *session)
{
	return session->gathered_cnt;
}

bool session_is_cut(const struct session *session)
{
	return session->is_cut;
}

void session_look_for_others(struct session *session, pid_t pid)
{
	if (!session->config.follow_forks && !session->has_others)
		session->has_others = proc_has_children(pid);
}

bool session_has_others(struct session *session)
{
	for (size_t i = 0; i < session->process_cnt; i++)
		if (!session->processes[i]->exited)
			session_look_for_others(session, session->processes[i]->pid);
	return session->has_others;
}

static bool is_other(const void *ctx, pid_t pid)
{
	return !session_find_process(ctx, pid) && !proc_has_ended(pid) && proc_is_older(pid, getpid());
}

pid_t session_parent_of_others(const struct session *session)
{
	for (size_t i = 0; i < session->process_cnt; i++)
		if (!session->processes[i]->exited &&
		    proc_has_child(session->processes[i]->pid, is_other, session))
			return session->processes[i]->pid;
	return 0;
}

bool session_started(const struct session *session)
{
	return session->started || session->is_reached;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	session_detach(session);
	session_free_tasks(session);
	snapshot_free(session->sideband);
	free(session);
}
