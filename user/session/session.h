/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session holds the targets of a recording, one process or several, with all their threads: it launches or
 * attaches, follows births, execs, signals and ends (ptrace(2)) and the mappings, and detaches. It writes the
 * sideband, and reports to the capture through struct session_events. Children that targets fork become
 * targets, too, or run freely.
 *
 * Without a driver (session/driver.h) the targets run at full speed; a driver decides how each thread goes on
 * from a stop.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "model/hit.h"
#include "model/snapshot.h"
#include "process/maps.h"

struct session;
struct session_driver;
struct thread_life;

/*
 * The callbacks of a capture. Each but stop_wanted() may be NULL. A negative return ends the run with that
 * error.
 */
struct session_events {
	/*
	 * With free_running: waits until a target may have stopped, or stop_wanted() may return something
	 * else.
	 */
	void (*idle)(void *ctx);
	/* Called after each stop: should the recording end here? If so, the targets stay held. */
	bool (*stop_wanted)(void *ctx);
	/* A SIGSTOP has stopped a thread before the start: should the driver begin here? */
	bool (*start_wanted)(void *ctx);
	/* The driver begins: all threads are held, except those that sleep in the kernel. */
	void (*started)(void *ctx);
	/*
	 * The session has read the executable mappings of the process again. `before` is valid until this
	 * returns. *now is valid until session_free(), and always holds the latest mappings. `all_new`: an
	 * exec or a fork made all of them. If a driver holds the targets, new code has not run yet. A return
	 * of -ENOENT or -ESRCH means that the process is gone; it is not an error.
	 */
	int (*mapped)(void *ctx, pid_t pid, const struct maps *before, const struct maps *now, bool all_new);
	/*
	 * The process has executed a new program, which has not run yet and was not reported by mapped().
	 * `replaced`: a thread other than the leader did so, and has become the leader.
	 */
	int (*executed)(void *ctx, pid_t pid, bool replaced);
	/* A forked child is a new target. It has not run yet. */
	int (*adopted)(void *ctx, pid_t pid);
	/* A target has a new thread, or a new child that is a target. It has not run yet. */
	int (*born)(void *ctx, pid_t pid, pid_t tid);
	/* The process is stopped, and will end or be detached: the last chance to read its memory. */
	int (*leaving)(void *ctx, pid_t pid);
	/* The session has detached from a child, because a target traces it from now on (ptrace(2)). */
	void (*released)(void *ctx, pid_t pid);
	/*
	 * A target has ended with this wait status (waitpid(2)). stop_wanted() is asked next.
	 */
	void (*ended)(void *ctx, pid_t pid, int wait_status);
	/* With leaders_only: calls session_hear() for all that was not told yet. */
	void (*catch_up)(void *ctx);
	/*
	 * A signal of session_config.signals is about to be delivered to a thread; `hit` says where the
	 * thread is (its trigger and action are 0). stop_wanted() is asked next.
	 */
	void (*signalled)(void *ctx, int signal, struct caught_hit *hit);
};

enum { SESSION_SIDEBAND_MAX = 64 << 20 };

struct session_config {
	bool follow_forks; /* children are targets, too */
	bool hits_stop;	   /* the caller's probes stop threads (SIGSTOP) */
	bool free_running; /* the targets run at full speed; events->idle() waits for them */
	/*
	 * No ptrace(2): ended() is the only event, and only for the targets themselves. Requires
	 * free_running.
	 */
	bool untraced;
	/*
	 * Of each process only the first thread is traced, so that births of others cost nothing; the caller
	 * tells session_hear() of these. Requires free_running, and none of the above.
	 */
	bool leaders_only;
	/* The driver begins when start_wanted() says so, and again after session_rest(); else at once. */
	bool wait_for_start;
	uint64_t signals; /* bit N - 1: report signal N */
	/*
	 * With free_running: beyond so many bytes the sideband forgets what ended first; 0:
	 * SESSION_SIDEBAND_MAX. What is about living targets stays, however much it is.
	 */
	size_t sideband_bytes;
	const struct session_events *events;
	void *ctx;			     /* of the events */
	const struct session_driver *driver; /* NULL: none */
	void *self;			     /* of the driver */
};

/*
 * The tables and what they point to must outlive the session. -ENOMEM, or what the driver's plug() returns.
 */
int session_new(struct session **ret_session, const struct session_config *config);

/*
 * To be called before the first run: seizes a target. 0, or -errno with a sentence; -EPERM: ptrace is not
 * allowed here.
 *
 * session_launch(): the child `pid`, which has not exec'd yet; the recording begins with its exec.
 * session_attach(): the running process `pid` with all its threads, which run on until the first run. Other
 * errors are those of attach_check(); -ESRCH also if the process ends meanwhile. After an error
 * session_free() detaches from the threads seized so far.
 */
int session_launch(struct session *session, pid_t pid);
int session_attach(struct session *session, pid_t pid);

enum session_end {
	SESSION_STOPPED, /* stop_wanted(): the targets are held, if there is a driver */
	SESSION_EXITED,	 /* the last target has ended */
};

/*
 * Runs the targets until one of these. They are held by an earlier run, or have not begun. 0, or -errno with
 * a sentence; the targets are held or gone then.
 */
int session_run(struct session *session, enum session_end *ret_end);

/* After session_run(): appends the sideband since the last call, and forgets threads that have ended. */
int session_take(struct session *session, struct snapshot *snapshot);

/*
 * After session_run(), with wait_for_start: the next session_run() waits for the next start. Up to there the
 * targets run at full speed, but for what a driver without begin() has taken over: that stays so.
 */
void session_rest(struct session *session);

/*
 * How long the targets have been held or driven so far, in nanoseconds of wall-clock time in which some
 * thread could have run at full speed: from the first thread that was stopped to the last that was let go.
 */
uint64_t session_stalled_ns(const struct session *session);

/* How long it may take to let them go: half as long again as to stop as many. 0: they are not held. */
uint64_t session_let_go_ns(const struct session *session);

/* How many threads were to be stopped at the last start. */
size_t session_gathered_cnt(const struct session *session);

/* Whether stop_wanted() came before all were: then the driver has begun with none of them. */
bool session_is_cut(const struct session *session);

/*
 * In the order in which it happened; births, ends and execs with leaders_only. 0, or -errno with a sentence.
 */
int session_hear(struct session *session, const struct thread_life *life);

/* Looks for new mappings: before the start no event reports them. 0, or -errno with a sentence. */
int session_look_at_maps(struct session *session);

/*
 * The same if it is time for it: at first every few milliseconds, since a program loads most of its libraries
 * and its JIT compiler's memory when it begins, then less and less often, but soon after session_hear() was
 * told of new code; and never so often that reading the mappings takes more than a hundredth of the time. To
 * be called every *ret_ms milliseconds.
 */
int session_look_now_and_then(struct session *session, int *ret_ms);

/* The time of the sideband: nanoseconds of CLOCK_MONOTONIC, strictly increasing. */
uint64_t session_now(struct session *session);

/* Detaches: the held targets run on at full speed, untraced. A pending signal is delivered. */
void session_detach(struct session *session);

/*
 * After session_detach(): waits for the launched program to end, and returns its wait status (waitpid(2)).
 * Reaps every child of this process that ends before.
 */
int session_wait_end(const struct session *session);

/* The wait status (waitpid(2)) of the first target, after its end. */
int session_wait_status(const struct session *session);

/* How many threads and processes were forgotten (session_config.sideband_bytes). */
uint64_t session_forgotten_cnt(const struct session *session);

/*
 * Without follow_forks: whether a target has started other processes, now or, where it has ended, in the end.
 */
bool session_has_others(struct session *session);

/* A target with a child that is none and is older than this process; 0: there is no such. */
pid_t session_parent_of_others(const struct session *session);

/* Whether the driver has begun, or the start was reached (see wait_for_start). */
bool session_started(const struct session *session);

void session_free(struct session *session); /* detaches first if necessary */

DEFINE_CLEANUP(struct session *, session_free)
