/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the session share. Nobody else includes it. */
#pragma once

#include "process/pin.h"
#include "session/driver.h"

/* What a stop before or behind a system call looks like, in place of a signal (PTRACE_O_TRACESYSGOOD). */
enum { SYSCALL_STOP = SIGTRAP | 0x80 };

struct session {
	struct session_config config; /* the tables are never NULL, their functions may be */
	struct pin pin;
	struct session_process **processes; /* the first one is the launched one, where one was */
	size_t process_cnt, process_cap;
	struct session_thread **threads; /* parents before their children */
	size_t thread_cnt, thread_cap;
	size_t last;		   /* index of the thread that stopped last: most likely the next one, too */
	struct snapshot *sideband; /* collects the sideband */
	int err;		   /* of the first record that could not be kept: the run ends with it */
	bool started;
	bool gathers;	     /* it has started just now, and threads may still run */
	bool seized;	     /* session_attach() has taken hold of threads, which run until the first run */
	uint64_t stalled_ns; /* see session_stalled_ns() ... */
	uint64_t counted_ns; /* ... which is complete up to this time (CLOCK_MONOTONIC) */
	uint64_t now_ns;     /* the last one told: time never runs back */
};

/* Functions of the driver and of the capture, where there are some. ASK: 0 if not. */
#define TELL(table, fn, ...)                      \
	do {                                      \
		if ((table)->fn)                  \
			(table)->fn(__VA_ARGS__); \
	} while (0)
#define ASK(table, fn, ...)	      ((table)->fn ? (table)->fn(__VA_ARGS__) : 0)
#define TELL_DRIVER(session, fn, ...) TELL((session)->config.driver, fn, (session)->config.self, __VA_ARGS__)
#define ASK_DRIVER(session, fn, ...)  ASK((session)->config.driver, fn, (session)->config.self, __VA_ARGS__)
#define TELL_CAPTURE(session, fn, ...) \
	TELL((session)->config.events, fn, (session)->config.ctx, ##__VA_ARGS__)
#define ASK_CAPTURE(session, fn, ...) ASK((session)->config.events, fn, (session)->config.ctx, ##__VA_ARGS__)

/* Whether there is a driver, and it begins without being asked to. */
static inline bool session_starts_at_once(const struct session *session)
{
	return session->config.driver->begin && !session->config.wait_for_start;
}

/* Takes note of a record that could not be kept, if `err` says so. */
static inline void session_note(struct session *session, int err)
{
	session->err = session->err ? session->err : err;
}

/* Whether the driver has the thread on its way to its next stop. */
static inline bool session_is_busy(const struct session *session, const struct session_thread *thread)
{
	return !thread->dead && !thread->held && ASK(session->config.driver, is_busy, thread);
}

int session_add_thread(struct session *session, struct session_process *process, pid_t tid,
		       struct session_thread **ret_thread);

/* `former`: which it was forked from, or NULL. */
int session_add_process(struct session *session, pid_t pid, const struct session_process *former,
			struct session_process **ret_process);

/* How ptrace takes hold of threads: what they create is held, too. -errno of ptrace(2). */
int session_seize(const struct session *session, pid_t tid);

/* The driver begins: asks all threads to stop. The run goes on when none runs any more. */
void session_start(struct session *session);

/* ---- session_event.c ---- */

/*
 * Waits for the next stop or end and takes it in. *ret_thread stays held (NULL: none does). 0, or -errno with
 * a sentence.
 */
int session_next_event(struct session *session, struct session_thread **ret_thread);

/* What has just been created by a thread, and is held by ptrace, goes its own way. */
void session_let_newborn_go(struct session *session, pid_t tid, pid_t parent);

/* ---- session_detach.c ---- */

/* The process goes on untraced, as if it had ended. 0, or -errno with a sentence. */
int session_let_process_go(struct session *session, struct session_process *process);

/* ---- session_signal.c ---- */

/* A signal of ours is queued, but not reported yet: without a tracer it would kill, or stop for good. */
bool session_own_signal_is_queued(const struct session *session, const struct session_thread *thread);

/*
 * Stopping a thread by PTRACE_INTERRUPT makes some system calls fail with EINTR although no signal came
 * (signal(7), "Interruption of system calls and library functions by stop signals"). Such a call is made
 * again.
 */
void session_undo_eintr(const struct session_thread *thread);
