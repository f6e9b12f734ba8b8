/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The translate source: a launched program runs from a code cache inside of itself, which records its
 * branches (user/translate). This side puts the runtime there, answers its requests, and converts the records
 * to Intel PT packets.
 *
 * The caller holds the targets by ptrace(2), and calls these functions for the events of their threads. A
 * "held" thread is in the ptrace stop of its event; the caller resumes it. Between these rare stops the
 * threads do not need this process: if it dies, they notice, and go on natively.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "model/snapshot.h"
#include "process/maps.h"

struct translate;

struct probe_map;
struct caught_hit;

struct translate_config {
	const struct probe_map *probes; /* complete when a program is executed; NULL: none */
	/*
	 * of each thread's packets, and ring at least: a power of two, a page at least. The newest are kept.
	 */
	size_t trace_size;
	bool times_calls; /* the clock is read at each call and return */
	/* A thread goes on natively; `why` is a sentence without a full stop. Or NULL. */
	void (*gave_back)(void *ctx, pid_t tid, const char *why);
	void *ctx;
};

/* Whether this machine can: -ENOTSUP with a sentence if not. */
int translate_check(void);

int translate_new(struct translate **ret_translate, const struct translate_config *config);

/*
 * The process has executed a program, and its only thread is held: it is translated from here on. *ret_ended:
 * it has been killed meanwhile, and this was its end, with *ret_status. 0, or -errno with a sentence; where
 * only the program cannot be translated, that is told by gave_back().
 */
int translate_executed(struct translate *translate, pid_t pid, bool *ret_ended, int *ret_status);

/* ---- of a process that runs already ---- */

/* The process is to be taken over, thread by thread. 0 or -ENOMEM. */
int translate_attach(struct translate *translate, pid_t pid);

/*
 * Whether a cgroup limits the memory of any program that is translated; whether one is so near to its limit
 * that what is ours has to go.
 */
bool translate_is_limited(const struct translate *translate);
bool translate_is_cramped(const struct translate *translate);

/* Whether the thread should stop, to be taken over; whether it should do so behind its next system call. */
bool translate_wants(const struct translate *translate, pid_t pid, pid_t tid);
bool translate_waits(const struct translate *translate, pid_t tid);

/*
 * The thread is held in an event stop or behind a system call: it is translated from here on, or from later
 * on. *ret_ended: it has been killed meanwhile, with *ret_status. 0, or -errno with a sentence.
 */
int translate_take_over(struct translate *translate, pid_t pid, pid_t tid, bool *ret_ended, int *ret_status);

/*
 * After translate_let_go(): whether the held thread stands in the program's own code. Else it has to run on
 * for a moment, and is there when it stops next.
 */
bool translate_is_out(const struct translate *translate, pid_t pid, pid_t tid);

/* A thread or process that nobody follows, in its first stop: goes on natively. */
void translate_child_let_go(struct translate *translate, pid_t tid);

/*
 * Unmaps all that is ours from the process. All its threads have left our code, and this one is held.
 * *signal is the signal that it is held for; it becomes 0 when delivered. True: the process has ended
 * meanwhile, with that status.
 */
bool translate_clean(const struct translate *translate, pid_t pid, pid_t tid, int *signal, int *ret_status);

/*
 * After translate_let_go(): the thread, which is out and held, gets back what translate_take_over() has taken
 * from it. *signal and the result are as above.
 */
bool translate_return(const struct translate *translate, pid_t tid, int *signal, int *ret_status);

/* ---- of all ---- */

/*
 * A thread or a process was born, and is held in its first stop. *ret_ended: it has ended meanwhile, with
 * that wait status. 0 or -ENOMEM.
 */
int translate_born(struct translate *translate, pid_t pid, pid_t tid, bool *ret_ended, int *ret_status);

/*
 * A signal is about to be delivered to the thread, which is held for that, and goes on by PTRACE_CONT with
 * the signal that this returns: 0, if it has to wait. A handler finds the state of the program as it would be
 * natively.
 */
int translate_signal(struct translate *translate, pid_t tid, int signal);

/* The thread is held in an event stop (PTRACE_EVENT_STOP). */
void translate_event_stop(struct translate *translate, pid_t tid);

/* The thread has ended. 0 or -ENOMEM. */
int translate_ended(struct translate *translate, pid_t tid);

/*
 * The process (0: each) is going to be let go. From now on its threads go on natively, each when it comes to
 * the runtime.
 */
void translate_leave(struct translate *translate, pid_t pid);

/* The thread, which is held for `signal` (0: none), goes on natively, and will be let go. */
void translate_let_go(struct translate *translate, pid_t pid, pid_t tid, int signal);

/* Where probes have to be, too. */
const struct probe_mirror *translate_mirror(const struct translate *translate);

/* A hit at one of these: it is told as that of the probe in the program's own code. */
void translate_settle_hit(const struct translate *translate, struct caught_hit *hit);

/* Whether the mapping at the address is the runtime's, not the program's. */
bool translate_owns(const struct translate *translate, pid_t pid, uint64_t addr);

/* Whether its own sideband already has the mapping. */
bool translate_has_told(const struct translate *translate, pid_t pid, const struct map *map);

/* After a snapshot, before the session lets its threads go on. */
void translate_resume(struct translate *translate);

/* What was recorded so far stays until translate_take(), whatever the program does. Takes no time. */
void translate_hold(struct translate *translate);

/* The same, and waits for what translate_take() has left to be done. 0 or -ENOMEM. */
int translate_stop(struct translate *translate);

/*
 * After translate_stop(): moves what was recorded since the last time to `snapshot`, whose AUX traces are not
 * to be looked at before the next translate_stop() or translate_describe(), and which must outlive this until
 * then. 0 or -ENOMEM, which may also come with one of those.
 */
int translate_take(struct translate *translate, struct snapshot *snapshot);

/*
 * After the last of them, and the session's sideband: fills in parameters and what code
 * came late. 0 or -ENOMEM.
 */
int translate_describe(struct translate *translate, struct snapshot *snapshot);

/* What is still there goes on natively. */
void translate_free(struct translate *translate);

DEFINE_CLEANUP(struct translate *, translate_free)
