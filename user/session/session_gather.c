/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The start: all threads are stopped. Those that sleep are stopped first, so that those that run do so at
 * full speed meanwhile. They are stopped a batch at a time: if it takes too long, the others are left alone.
 */
#include <sched.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "process/proc_status.h"
#include "session/session_internal.h"

/* How often a thread's stop is looked for: first the processor is given away only. */
enum { SOON_LOOKS = 50, LOOKS = 550 };

/* ---- the time that it takes ---- */

static bool any_busy(const struct session *session)
{
	for (size_t i = 0; i < session->thread_cnt; i++)
		if (session_is_busy(session, session->threads[i]))
			return true;
	return false;
}

void session_count_stall(struct session *session)
{
	uint64_t now = clock_kernel_ns();

	if (session->started)
		session->stalled_ns += now - session->counted_ns;
	session->counted_ns = now;
}

/* Else all threads slept. */
void session_count_wait(struct session *session)
{
	enum { LONG_NS = 1000000 };
	uint64_t now = clock_kernel_ns();

	if (now - session->counted_ns >= LONG_NS && !any_busy(session))
		session->counted_ns = now;
	session_count_stall(session);
}

/* ---- stop after stop ---- */

void session_note_sleepers(struct session *session)
{
	for (size_t i = 0; i < session->thread_cnt; i++)
		session->threads[i]->sleeps = proc_sleeps(session->threads[i]->tid);
}

void session_start(struct session *session)
{
	session->started = session->gathers = true;
	session->counted_ns = clock_kernel_ns();
}

/*
 * Whether the thread has stopped, or does so soon. PTRACE_INTERRUPT wakes sleepers, except those in
 * uninterruptible sleep. One that another thread's exec has ended cannot be waited for.
 */
static bool stop_comes(pid_t tid)
{
	const struct timespec moment = {.tv_nsec = 100000};
	siginfo_t info = {0};

	for (int looked = 0; looked < LOOKS; looked++) {
		if (waitid(P_PID, (id_t)tid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL))
			return false;
		if (info.si_pid)
			return true;
		if (looked < SOON_LOOKS)
			sched_yield();
		else if (proc_is_unstoppable(tid))
			return false;
		else
			nanosleep(&moment, NULL);
	}
	return false;
}

static int take(struct session *session, const struct session_thread *thread)
{
	struct session_thread *other;
	int err = 0;

	while (!err && !thread->dead && !thread->held && !thread->group_stop && stop_comes(thread->tid))
		err = session_next_event(session, thread->tid, &other);
	return err;
}

/* Those that sleep, or the others, until the capture has had enough. */
static int take_those(struct session *session, bool sleep)
{
	const uint64_t before_ns = session->stalled_ns - session->gather_ns;
	int err = 0;

	for (size_t begin = 0, end; begin < session->thread_cnt && !err && !session->is_cut; begin = end) {
		size_t cnt = 0;

		for (end = begin; end < session->thread_cnt && cnt < SESSION_BATCH; end++) {
			const struct session_thread *thread = session->threads[end];

			if (thread->dead || thread->sleeps != sleep)
				continue;
			cnt++;
			/* What is new stops by itself. */
			if (!thread->held && thread->announced)
				ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
		}
		for (size_t i = begin; i < end && !err; i++)
			if (session->threads[i]->sleeps == sleep)
				err = take(session, session->threads[i]);
		session_count_stall(session);
		session->gather_ns = session->stalled_ns - before_ns;
		session->is_cut = session->config.events->stop_wanted(session->config.ctx);
	}
	return err;
}

/* No thread runs any more. */
static int begin_all(struct session *session)
{
	int err = 0;

	for (size_t i = 0; i < session->process_cnt && !err; i++)
		if (!session->processes[i]->exited)
			err = session_read_maps(session, session->processes[i], session->processes[i]->pid,
						false);
	for (size_t i = 0; i < session->thread_cnt && !err; i++) {
		struct session_thread *thread = session->threads[i];

		if (!thread->dead && session->config.driver->pins)
			pin_add(&session->pin, thread->tid);
		if (!thread->dead && thread->held)
			err = ASK_DRIVER(session, begin, thread, SESSION_GATHERED);
	}
	return err;
}

int session_gather(struct session *session)
{
	const uint64_t before_ns = session->stalled_ns;
	int err;

	session->gather_ns = session->gathered_cnt = 0;
	session->is_cut = false;
	err = take_those(session, true);
	if (!err && !session->is_cut)
		err = take_those(session, false);
	session->gathers = false;
	if (!err && !session->is_cut)
		err = begin_all(session);
	session_count_stall(session);
	session->gather_ns = session->stalled_ns - before_ns;
	session->gathered_cnt = session->thread_cnt;
	if (!err)
		TELL_CAPTURE(session, started);
	return err;
}
