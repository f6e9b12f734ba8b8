/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the session share. Nobody else includes it. */
#pragma once

#include "base/containers/hash_index.h"
#include "process/pin.h"
#include "session/driver.h"

/* The "signal" of a stop before or after a system call (PTRACE_O_TRACESYSGOOD). */
enum { SYSCALL_STOP = SIGTRAP | 0x80 };

/* So many threads are stopped at a time. */
enum { SESSION_BATCH = 64 };

struct session {
	struct session_config config; /* the tables are never NULL; their functions may be */
	struct pin pin;
	struct session_process **processes; /* a launched one is the first */
	size_t process_cnt, process_cap;
	struct session_thread **threads; /* parents before their children */
	size_t thread_cnt, thread_cap;
	struct hash_index by_tid, by_pid; /* of both, with those that have ended */
	size_t ended_cnt;		  /* threads, since the last time that they were forgotten */
	struct session_process
		*ending;	   /* whose end, or that of its first thread, is being told; NULL: none */
	struct snapshot *sideband; /* collects the sideband */
	size_t sideband_max;	   /* bytes: beyond, what is about tasks that have ended is forgotten */
	uint64_t forgotten_cnt;	   /* see session_forgotten_cnt() */
	int err;		   /* of the first record that could not be stored; ends the run */
	bool started;
	bool gathers;	 /* it has just started, and threads may still run */
	bool has_left;	 /* the leader of some process, which led alone */
	bool has_others; /* see session_has_others() */
	bool is_reached; /* the start, of a driver without begin() */
	bool seized;	 /* session_attach() has seized threads, which run until the first run */
	uint64_t look_ns,
		look_every_ns; /* the next look at mappings, and how long after the last one it is */
	uint64_t soonest_ns;   /* a look before that would take too much of the time */
	uint64_t stalled_ns;   /* see session_stalled_ns() ... */
	uint64_t counted_ns;   /* ... which is complete up to this time (CLOCK_MONOTONIC) */
	uint64_t gather_ns;    /* how long the last start took, or takes so far ... */
	size_t gathered_cnt;   /* ... for so many threads */
	bool is_cut;	       /* it was given up: some threads run, and the driver has none */
	uint64_t now_ns;       /* the last time given out: time never runs back */
};

/* Call a function of the driver or the capture, if it exists. ASK: 0 if it does not. */
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

/* Whether there is a driver that begins at once. */
static inline bool session_starts_at_once(const struct session *session)
{
	return session->config.driver->begin && !session->config.wait_for_start;
}

/* Keeps the first error of records that could not be stored; `err` may be 0. */
static inline void session_note(struct session *session, int err)
{
	session->err = session->err ? session->err : err;
}

/* Whether the driver expects the thread's next stop soon. */
static inline bool session_is_busy(const struct session *session, const struct session_thread *thread)
{
	return !thread->dead && !thread->held && ASK(session->config.driver, is_busy, thread);
}

int session_add_thread(struct session *session, struct session_process *process, pid_t tid,
		       struct session_thread **ret_thread);

/* `former`: its parent if it was forked, or NULL. */
int session_add_process(struct session *session, pid_t pid, const struct session_process *former,
			struct session_process **ret_process);

/* The thread goes on under another id, after an exec. 0 or -ENOMEM. */
int session_rename_thread(struct session *session, struct session_thread *thread, pid_t tid);

/* Everything about threads that have ended has been reported. */
void session_forget_ended(struct session *session);

/*
 * Without a driver, once there is much: the same, and of what was reported the oldest. 0,
 * or -errno with a sentence.
 */
int session_forget_some(struct session *session);

void session_free_tasks(struct session *session);

/* Seizes a thread, so that what it creates is held, too, unless it leads alone. 0, or -errno of ptrace(2). */
int session_seize(const struct session *session, const struct session_process *process, pid_t tid);

/* How many threads were not known, or not traced and are now. Or -errno with a sentence. */
int session_seize_threads(struct session *session, struct session_process *process);

/* The process has ended with this wait status. */
void session_end_process(struct session *session, struct session_process *process, int wait_status);

/* Notes whether the process has started others (session_has_others()). */
void session_look_for_others(struct session *session, pid_t pid);

/* Whether this process traces it; a thread that we have seized may have created it. */
bool session_is_ours(pid_t tid);

/* Whether only the first thread of the process is traced. */
static inline bool session_leads_alone(const struct session *session, const struct session_process *process)
{
	return session->config.leaders_only && !process->leader_left;
}

/* ---- session_maps.c ---- */

/* Something is mapped, or about to be. */
void session_look_soon(struct session *session);

/* ---- session_lives.c ---- */

/* A thread that is not traced. 0 or -ENOMEM. */
int session_add_untraced(struct session *session, struct session_process *process, pid_t tid);

/* With leaders_only: adds threads that no source has reported: those born between an attach and its start. */
int session_list_threads(struct session *session);

/*
 * No thread is traced any more. Reads what sources have to report (another thread's exec may have replaced
 * a leader), and ends the processes that are gone.
 */
void session_find_lost(struct session *session);

/*
 * The processes whose leader has left: their other threads are traced from now on, since
 * nobody else sees their end.
 */
void session_seize_left(struct session *session);

/* ---- session_gather.c ---- */

/* Which threads sleep; while none of them is held. */
void session_note_sleepers(struct session *session);

/* The driver begins; session_gather() is called next. */
void session_start(struct session *session);

/* Stops all threads, which the driver takes over then; or some, and the capture wants to stop. */
int session_gather(struct session *session);

/*
 * Count the time up to now as one in which threads were held; or in which this process waited, which is a
 * stall only if it was short, or a step was under way.
 */
void session_count_stall(struct session *session);
void session_count_wait(struct session *session);

/* ---- session_event.c ---- */

/*
 * Waits for the next stop or end of the thread (-1: of any) and handles it. *ret_thread stays held (NULL: no
 * thread does). 0, or -errno with a sentence.
 */
int session_next_event(struct session *session, pid_t of, struct session_thread **ret_thread);

/*
 * A stop under the leader's id behind an exec: all other threads of the process are gone. *ret_thread is the
 * one that called exec, which has the leader's id from now on. 0 or -ENOMEM.
 */
int session_survivor_of_exec(struct session *session, struct session_thread *leader,
			     struct session_thread **ret_thread);

/* Detaches from a newly created child that ptrace holds. */
void session_let_newborn_go(struct session *session, pid_t tid, pid_t parent);

/* ---- session_detach.c ---- */

/* Detaches from the process; to the session it has ended. 0, or -errno with a sentence. */
int session_let_process_go(struct session *session, struct session_process *process);

/* ---- session_signal.c ---- */

/*
 * Whether a signal of ours is queued, but not reported yet: without a tracer it would kill the thread or stop
 * it for good.
 */
bool session_own_signal_is_queued(const struct session *session, const struct session_thread *thread);

/* The signal to deliver to a thread that has stopped for `signal` (0: none), without a start. */
int session_pass_signal(const struct session *session, struct session_thread *thread, int signal);

/*
 * PTRACE_INTERRUPT makes some system calls fail with EINTR although no signal came (signal(7), "Interruption
 * of system calls and library functions by stop signals"). Makes the thread repeat such a call, and one that
 * could not go on (call_restart_plainly()).
 */
void session_undo_eintr(const struct session_thread *thread);
