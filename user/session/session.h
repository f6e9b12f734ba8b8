/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session holds the targets of a recording, one process or several, with all their threads: it launches or
 * attaches, hears of births, execs, signals and ends (ptrace(2)), follows what is mapped, and lets go. It
 * writes the sideband and tells the capture by struct session_events. The children that targets fork either
 * are targets, too, or run freely.
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

/*
 * What a capture hears, and is asked. Each function but stop_wanted() may be NULL. A negative return ends the
 * run with that error.
 */
struct session_events {
	/*
	 * With free_running: waits until a target may have stopped, or stop_wanted() may have changed its
	 * mind.
	 */
	void (*idle)(void *ctx);
	/* Asked after each stop: is the recording to end here? The targets are held then. */
	bool (*stop_wanted)(void *ctx);
	/* A thread has stopped by a SIGSTOP before the start: is that where the driver is to begin? */
	bool (*start_wanted)(void *ctx);
	/* All threads are held, but for those that sleep in the kernel, and the driver begins. */
	void (*started)(void *ctx);
	/*
	 * The executable mappings of the process have been read again. `before` is good until this returns;
	 * *now stays where it is until session_free(), and always is what was read last. `all_new`: an exec
	 * or a fork has made all of them. What is new has not run yet where a driver holds the targets.
	 * -ENOENT, -ESRCH: the process is gone, which is no error.
	 */
	int (*mapped)(void *ctx, pid_t pid, const struct maps *before, const struct maps *now, bool all_new);
	/*
	 * A program has been executed; nothing of it has run, or been mapped() yet. `replaced`: by a thread
	 * that is not the first of its process, and has taken the first one's place.
	 */
	int (*executed)(void *ctx, pid_t pid, bool replaced);
	/* A child has become a target, and has not run yet. */
	int (*adopted)(void *ctx, pid_t pid);
	/* A thread of a target, or a child that is one, has been born and has not run yet. */
	int (*born)(void *ctx, pid_t pid, pid_t tid);
	/* The process stands still, and will end or be let go: the last look at its memory. */
	int (*leaving)(void *ctx, pid_t pid);
	/* A child has been let go, for the targets themselves trace it from now on (ptrace(2)). */
	void (*released)(void *ctx, pid_t pid);
	/*
	 * A target has ended, with this wait status (waitpid(2)). What it decides shows in stop_wanted().
	 */
	void (*ended)(void *ctx, pid_t pid, int wait_status);
	/*
	 * A signal of session_config.signals is about to be delivered to a thread; `hit` says where that
	 * stands (its trigger and action are 0). What it decides shows in stop_wanted().
	 */
	void (*signalled)(void *ctx, int signal, struct caught_hit *hit);
};

struct session_config {
	bool follow_forks; /* children are targets, too */
	bool hits_stop;	   /* probes of the caller's stop threads (SIGSTOP) */
	bool free_running; /* the targets run at full speed: they are waited for by events->idle() */
	/* No ptrace(2): nothing but ended() is told, of the targets themselves. With free_running only. */
	bool untraced;
	/* The driver begins at start_wanted(), and again after session_rest(); else at once. */
	bool wait_for_start;
	uint64_t signals; /* bit N - 1: signal N is told */
	const struct session_events *events;
	void *ctx;			     /* of the events */
	const struct session_driver *driver; /* NULL: none */
	void *self;			     /* of the driver */
};

/* The tables and what they point to must outlive the session. -ENOMEM, or what the driver's plug() returns. */
int session_new(struct session **ret_session, const struct session_config *config);

/*
 * Before the first run: takes hold of a target. 0, or -errno with a sentence; -EPERM: ptrace is not allowed
 * here.
 *
 * session_launch(): the child `pid`, which has not exec'd yet and is not recorded before.
 * session_attach(): the running process `pid` with all its threads, which go on until the first run. Other
 * errors are those of attach_check(); -ESRCH also where it ends in between. What was seized by then is let go
 * by session_free().
 */
int session_launch(struct session *session, pid_t pid);
int session_attach(struct session *session, pid_t pid);

enum session_end {
	SESSION_STOPPED, /* stop_wanted(): the targets are held, if a driver has them */
	SESSION_EXITED,	 /* the last target has ended */
};

/*
 * Runs the targets, held by an earlier run or not begun yet, until one of these. 0, or -errno with a
 * sentence: they are held, or gone.
 */
int session_run(struct session *session, enum session_end *ret_end);

/* After session_run(): appends the sideband since the last time, and forgets threads that have ended. */
int session_take(struct session *session, struct snapshot *snapshot);

/*
 * After session_run(), with wait_for_start: session_run() lets the targets run at full speed up to the next
 * start.
 */
void session_rest(struct session *session);

/*
 * For how long the targets have been held or driven so far, in nanoseconds: time in which some thread of
 * theirs could have run at full speed.
 */
uint64_t session_stalled_ns(const struct session *session);

/* Before the start nothing tells of new mappings: looks for them now. 0 or -errno with a sentence. */
int session_look_at_maps(struct session *session);

/* Nanoseconds of CLOCK_MONOTONIC, each time more than before: the time of the sideband. */
uint64_t session_now(struct session *session);

/* Lets the held targets go on at full speed, untraced; a signal that was about to be delivered is. */
void session_detach(struct session *session);

/*
 * After session_detach(): waits for the launched program to end, and takes in whatever is ours and ends
 * before: its wait status (waitpid(2)). All children of this process are taken for the program's.
 */
int session_wait_end(const struct session *session);

/* The wait status (waitpid(2)) of the first target after its end. */
int session_wait_status(const struct session *session);

/* Whether the driver has begun (see wait_for_start). */
bool session_started(const struct session *session);

void session_free(struct session *session); /* detaches first if need be */

DEFINE_CLEANUP(struct session *, session_free)
