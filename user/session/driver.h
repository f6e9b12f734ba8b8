/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a source implements to decide how the targets run: single-stepped, say. The session waits for stops
 * and ends and keeps the threads; it calls the driver for what each stop means under it, and for how a thread
 * goes on. Signals and job control, births and execs look to the target as without us: where that takes more
 * than the session does, it is the driver's to see to.
 */
#pragma once

#include <signal.h>
#include <sys/ptrace.h>

#include "session/session.h"

/* A traced process. */
struct session_process {
	pid_t pid;
	struct maps maps; /* as they were read last */
	bool runs_itself; /* what it executes is the target's: false for a launched child until its exec */
	bool exited;
	int wait_status;
	int end_fd; /* untraced, and no child of ours: readable once it has ended; else -1 */
};

/* A traced thread. */
struct session_thread {
	struct session_process *process;
	pid_t tid;
	bool held;   /* in a ptrace stop */
	bool driven; /* went on by the driver's doing: a stop by that may come */
	bool dead;
	bool let_go;	 /* detached from */
	bool group_stop; /* stopped by job control */
	bool announced;	 /* its first stop has been seen */
	unsigned int
		/*
		 * before the start: stops at system calls that are still to come, in which it may ask to be
		 * traced by its parent
		 */
		watched_calls;
	int held_signal; /* to be delivered when it goes on */
};

/* Where a held thread is when the driver gets it. */
enum session_place {
	SESSION_FRESH,	  /* it was born, or has exec'd, and has executed nothing since */
	SESSION_HERE,	  /* it is certain to execute the instruction there next */
	SESSION_ANYWHERE, /* perhaps inside the kernel; the driver may have it already */
};

/*
 * `self` is session_config.self; threads and processes are the driver's own structs, which begin with the
 * session's. Each function may be NULL. Those that return int: 0, or -errno with a sentence, which ends the
 * run.
 */
struct session_driver {
	/* Bytes of the driver's structs, which the session allocates (zeroed) and frees. */
	size_t thread_size, process_size;
	bool pins; /* from the start on, the threads and this process share one processor */

	/* The session is new, and outlives what the driver does with it. */
	int (*plug)(void *self, struct session *session);

	/* A process is new; `former`: which it was forked from, or NULL. */
	int (*process_new)(void *self, struct session_process *process, const struct session_process *former);
	int (*thread_new)(void *self, struct session_thread *thread);
	void (*thread_free)(void *self, struct session_thread *thread);

	/* After the start: the thread, which is held, is the driver's from here on. */
	int (*begin)(void *self, struct session_thread *thread, enum session_place place);

	/*
	 * The thread goes on with *signal (0: none), which the driver may change: by which request of
	 * ptrace(2)? `request` is what the session alone would take; before the start nothing else may be
	 * returned. What is to be kept in thread->held_signal is put there.
	 */
	enum __ptrace_request (*resume)(void *self, struct session_thread *thread,
					enum __ptrace_request request, int *signal);

	/* After the start: it stops, for a signal is about to be delivered ... */
	int (*signal)(void *self, struct session_thread *thread, int signal);
	/* ... or behind a system call (PTRACE_SYSCALL). */
	int (*syscall_end)(void *self, struct session_thread *thread);
	/* ... or for job control: it goes on by itself. */
	void (*group_stop)(void *self, struct session_thread *thread);
	/* Any event stop (PTRACE_EVENT_STOP), before what else it means. */
	void (*event_stop)(void *self, struct session_thread *thread);

	/*
	 * Without a start: a signal is about to be delivered; returns which one is, when it goes on. Its
	 * registers may become others.
	 */
	int (*pass)(void *self, struct session_thread *thread, int signal);

	/* Whether the mapping is the driver's, and none of the program's. */
	bool (*owns)(void *self, const struct session_process *process,
		     const struct sideband_mapping *mapping);

	/* Whether the driver itself has told of the mapping, with the time when it was made. */
	bool (*has_told)(void *self, const struct session_process *process, const struct map *map);

	/* It has executed a program, which is mapped() next. */
	void (*executed)(void *self, struct session_thread *thread);
	/* Its process has other code than before. */
	void (*code_changed)(void *self, struct session_process *process);
	/* It has ended, or is no target any more. */
	void (*ended)(void *self, struct session_thread *thread);

	/* Whether the thread will stop by itself in a moment. */
	bool (*is_busy)(const struct session_thread *thread);
	/* Whether the SIGTRAP with this `info` is the driver's doing, and none of the program's. */
	bool (*is_own_trap)(const struct session_thread *thread, const siginfo_t *info);

	/*
	 * On the way to being let go. run_on(): it goes on by PTRACE_CONT, on its way to another stop.
	 * let_go(): it will go on without the driver, from the stop in which it is, if it is held.
	 * process_let_go(): so will all threads of the process. child_let_go(): so will a child of `parent`
	 * that is no target, and is in its first stop.
	 */
	void (*run_on)(struct session_thread *thread);
	void (*let_go)(struct session_thread *thread);
	void (*process_let_go)(void *self, struct session_process *process);
	void (*child_let_go)(void *self, pid_t tid, pid_t parent);
};

/* ---- for drivers ---- */

/* The i-th thread or process, dead ones, too; NULL: there are no more. */
struct session_thread *session_thread_at(const struct session *session, size_t i);
struct session_process *session_process_at(const struct session *session, size_t i);

/* The one that lives under this id, or NULL. */
struct session_thread *session_find(struct session *session, pid_t tid);
struct session_process *session_find_process(const struct session *session, pid_t pid);

/*
 * Reads the mappings; new ones go to the sideband, as of `tid`, and to events->mapped(). `exec`: all are new.
 * 0 where the process is gone; else -errno with a sentence.
 */
int session_read_maps(struct session *session, struct session_process *process, pid_t tid, bool exec);

/* The thread's name to the sideband. */
void session_announce_comm(struct session *session, const struct session_thread *thread, bool exec);

/* Tells of a signal that is about to be delivered, if it is wanted. */
void session_tell_signal(struct session *session, const struct session_thread *thread, int signal);

/* The driver has found that the thread has ended. */
void session_on_end(struct session *session, struct session_thread *thread, int wait_status);

/*
 * Takes it to a stop with no signal of ours in it or behind it, in which our death would do no harm; mostly
 * it runs nothing for that.
 */
void session_bring_to_stop(struct session *session, struct session_thread *thread);

/*
 * Whether the signal that it stopped for is none of the target's: the driver's SIGTRAP, or the SIGSTOP with
 * which a probe stops a thread.
 */
bool session_is_own_signal(const struct session *session, const struct session_thread *thread, int signal);

/* si_code of the signal that it stopped for; 0 where there is none. */
int session_siginfo_code(const struct session_thread *thread);
