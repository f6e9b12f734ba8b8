/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A driver decides how the targets run, for example single-stepped. A source may implement one. The session
 * waits for stops and ends and keeps the list of threads. It asks the driver what a stop means, and how a
 * thread continues. Signals, job control, births and execs must look to the target as if it were not traced;
 * the driver takes care of whatever the session cannot know.
 */
#pragma once

#include <signal.h>
#include <sys/ptrace.h>

#include "session/session.h"

/* A traced process. */
struct session_process {
	pid_t pid;
	struct maps maps; /* the latest ones */
	bool runs_itself; /* it executes the target's code: false for a launched child until its exec */
	bool leader_left; /* the leader has begun to exit; others may run on */
	bool is_left;	  /* ... and do, and are to be seized */
	bool exited;
	int wait_status;
	int end_fd; /* of an untraced process that is not our child: readable once it has ended; else -1 */
};

/* A traced thread. */
struct session_thread {
	struct session_process *process;
	pid_t tid;
	bool held;	 /* in a ptrace stop */
	bool driven;	 /* the driver resumed it, and may cause its next stop */
	bool is_stepped; /* ... by a step, of which the kernel has not taken back the trap flag */
	bool dead;
	bool let_go;	 /* detached from, or never traced */
	bool is_stuck;	 /* it does not stop; the kernel lets it go when this process ends */
	bool group_stop; /* stopped by job control */
	bool sleeps;	 /* it did when it was about to be stopped */
	bool announced;	 /* its first stop has been seen */
	unsigned int
		/*
		 * before the start: how many more stops at system calls are expected, because it may ask to
		 * be traced by its parent
		 */
		watched_calls;
	int held_signal; /* to be delivered when it continues */
	char comm[32];	 /* as it was announced last */
};

/* Where a held thread stands when the driver takes it over. */
enum session_place {
	SESSION_FRESH,	  /* newly created or exec'd, with nothing executed since */
	SESSION_HERE,	  /* its next instruction is certainly the one at its instruction pointer */
	SESSION_ANYWHERE, /* perhaps inside the kernel; the driver may hold it already */
	SESSION_GATHERED, /* the same, and all others are held; the mappings were just read */
};

/*
 * `self` is session_config.self; threads and processes are the driver's own structs, whose first member is
 * the session's. Each function may be NULL. Functions that return int return 0, or -errno with a sentence,
 * which ends the run.
 */
struct session_driver {
	/* Sizes of the driver's structs. The session allocates them, zeroed, and frees them. */
	size_t thread_size, process_size;
	bool pins; /* from the start on, the threads and this process share one processor */

	/* A new session. It outlives the driver's use of it. */
	int (*plug)(void *self, struct session *session);

	/* A new process; `former` is its parent if it was forked, else NULL. */
	int (*process_new)(void *self, struct session_process *process, const struct session_process *former);
	int (*thread_new)(void *self, struct session_thread *thread);
	void (*thread_free)(void *self, struct session_thread *thread);

	/*
	 * With wait_for_start, of a driver without begin(): a thread has reached the start. The driver may
	 * take over all threads from now on. take_over() of that one comes next.
	 */
	int (*reached)(void *self);

	/* After the start: the driver takes over the held thread. */
	int (*begin)(void *self, struct session_thread *thread, enum session_place place);

	/*
	 * Without a start: the thread is held in an event stop, or behind a system call for which resume()
	 * has asked, and stands where its program does. The driver may take it over.
	 */
	int (*take_over)(void *self, struct session_thread *thread);

	/*
	 * Returns the ptrace(2) request with which the thread continues, and may change *signal, which is
	 * delivered (0: none). `request` is the session's own choice; before the start the driver must return
	 * it, or PTRACE_SYSCALL for take_over(). To deliver a signal later, the driver puts it into
	 * thread->held_signal.
	 */
	enum __ptrace_request (*resume)(void *self, struct session_thread *thread,
					enum __ptrace_request request, int *signal);

	/* After the start, a stop: before a signal is delivered ... */
	int (*signal)(void *self, struct session_thread *thread, int signal);
	/* ... or after a system call (PTRACE_SYSCALL) ... */
	int (*syscall_end)(void *self, struct session_thread *thread);
	/* ... or by job control: SIGCONT will continue it. */
	void (*group_stop)(void *self, struct session_thread *thread);
	/* Any event stop (PTRACE_EVENT_STOP); called first. */
	void (*event_stop)(void *self, struct session_thread *thread);

	/*
	 * Without a start: returns the signal to deliver in place of this one. May change the thread's
	 * registers.
	 */
	int (*pass)(void *self, struct session_thread *thread, int signal);

	/* Whether the mapping is the driver's, not the program's. */
	bool (*owns)(void *self, const struct session_process *process,
		     const struct sideband_mapping *mapping);

	/* Whether the driver has already reported the mapping, with the time when it was made. */
	bool (*has_told)(void *self, const struct session_process *process, const struct map *map);

	/* It has executed a new program; mapped() comes next. */
	void (*executed)(void *self, struct session_thread *thread);
	/* The code of its process has changed. */
	void (*code_changed)(void *self, struct session_process *process);
	/* It has ended, or is no longer a target. */
	void (*ended)(void *self, struct session_thread *thread);

	/* Whether the thread will soon stop without being asked to. */
	bool (*is_busy)(const struct session_thread *thread);
	/* Whether the driver caused the SIGTRAP with this `info`. */
	bool (*is_own_trap)(const struct session_thread *thread, const siginfo_t *info);

	/*
	 * Before detaching. leave(): the driver may let go threads of the process (NULL: of all), one by one;
	 * they run. Who is left is stopped then. run_on(): PTRACE_CONT resumes the thread, which will stop
	 * once more. let_go(): the thread runs without the driver from now on; if it is held, from this stop.
	 * process_let_go(): all threads of the process run without it. child_let_go(): a child of `parent`
	 * does, which is not a target, and is in its first stop.
	 */
	void (*leave)(void *self, const struct session_process *process);
	void (*run_on)(struct session_thread *thread);
	void (*let_go)(struct session_thread *thread);
	void (*process_let_go)(void *self, struct session_process *process);
	void (*child_let_go)(void *self, pid_t tid, pid_t parent);
};

/* ---- for drivers ---- */

/* The i-th thread, dead ones included; NULL: there are no more. */
struct session_thread *session_thread_at(const struct session *session, size_t i);
size_t session_thread_cnt(const struct session *session);

/* The living one with this id, or NULL. */
struct session_thread *session_find(const struct session *session, pid_t tid);
struct session_process *session_find_process(const struct session *session, pid_t pid);

/*
 * Reads the mappings. New ones go to the sideband, as made by `tid`, and to events->mapped(). `exec`: all are
 * new. 0, also if the process is gone; else -errno with a sentence.
 */
int session_read_maps(struct session *session, struct session_process *process, pid_t tid, bool exec);

/* Adds the thread's name to the sideband, if it has changed, or after an exec. */
void session_announce_comm(struct session *session, struct session_thread *thread, bool exec);

/* Reports a signal that is about to be delivered, if the capture wants it. */
void session_tell_signal(struct session *session, const struct session_thread *thread, int signal);

/* The driver calls this when it finds that the thread has ended. */
void session_on_end(struct session *session, struct session_thread *thread, int wait_status);

/*
 * Brings the thread to a stop in which no signal of ours is current or pending, so that it survives our
 * death. In most cases it executes nothing on the way.
 */
void session_bring_to_stop(struct session *session, struct session_thread *thread);

/*
 * While the process (NULL: all) is being let go: takes one stop or end of a thread of it, if there is any.
 * *ret_thread is held then, or NULL.
 */
bool session_next_last_stop(struct session *session, const struct session_process *process,
			    struct session_thread **ret_thread);

/* Detaches from the held thread, which runs on. While its process is being let go. */
void session_let_thread_go(struct session *session, struct session_thread *thread);

/*
 * Whether the signal that it stopped for is ours: the driver's SIGTRAP, or the SIGSTOP with which a probe
 * stops a thread.
 */
bool session_is_own_signal(const struct session *session, const struct session_thread *thread, int signal);

/* si_code of the signal that it stopped for; 0: it did not stop for a signal. */
int session_siginfo_code(const struct session_thread *thread);
