/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts tracer and targets on one processor. A step is then a switch between two tasks instead of two wake-ups
 * across processors, and three times as fast. Each thread's affinity is restored at the end, by a child
 * process if this one is killed. All of it is best effort: if it fails, stepping is slower.
 */
#pragma once

#include <sched.h>
#include <sys/types.h>

struct pin_table;

struct pin {
	cpu_set_t own; /* the calling thread's affinity before */
	int cpu;       /* the one that all are on; -1: none is chosen yet */
	struct pin_table *table;
	int guard_fd;
};

/*
 * Nothing is pinned yet. Call pin_release() in any case. Call this before opening descriptors whose closing
 * must take effect, such as those of probes: the child process holds copies of those that are open by then.
 */
void pin_init(struct pin *pin);

/* If this process is killed, the child sends SIGCONT to `pid` if a hit has stopped it. */
void pin_guard_process(struct pin *pin, pid_t pid);

/* Pins the thread `tid`. The first call also pins the calling thread. */
void pin_add(struct pin *pin, pid_t tid);

/* The pinned thread `from` created `tid`, which is therefore pinned, too. */
void pin_inherit(struct pin *pin, pid_t tid, pid_t from);

/* The same, but `tid` gets the original affinity of `from` at once. */
void pin_let_go(const struct pin *pin, pid_t tid, pid_t from);

/* The thread has ended. */
void pin_forget(struct pin *pin, pid_t tid);

/* Restores the thread's affinity. */
void pin_end(struct pin *pin, pid_t tid);

/* Restores all affinities, including the calling thread's; more threads may be pinned later. */
void pin_rest(struct pin *pin);

/* The same, and frees what the pin holds. */
void pin_release(struct pin *pin);
