/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts tracer and targets on one processor: a step is then a switch between two tasks instead of two wake-ups
 * across processors, three times as fast. Each thread's own affinity is put back at the end, by a watching
 * child process even if this one is killed. All of it is best effort: where it fails, stepping is just
 * slower.
 */
#pragma once

#include <sched.h>
#include <sys/types.h>

struct pin_table;

struct pin {
	cpu_set_t own; /* the calling thread's affinity before */
	int cpu;       /* that all are on; -1: none was chosen yet */
	struct pin_table *table;
	int guard_fd;
};

/*
 * Nothing is pinned yet. To be released even if it fails to get what it needs. It must come before whatever
 * is to end with the descriptors that hold it, such as probes: the watching process has copies of those that
 * are open by then.
 */
void pin_init(struct pin *pin);

/* If this process is killed, the watching one sends SIGCONT to `pid` where a hit has stopped that. */
void pin_guard_process(struct pin *pin, pid_t pid);

/* Pins the thread `tid`, with the first of them also the calling thread. */
void pin_add(struct pin *pin, pid_t tid);

/* `tid` was created by the pinned thread `from`, and so is pinned itself. */
void pin_inherit(struct pin *pin, pid_t tid, pid_t from);

/* The same, but it gets back at once what `from` had. */
void pin_let_go(const struct pin *pin, pid_t tid, pid_t from);

/* It has ended. */
void pin_forget(struct pin *pin, pid_t tid);

/* All threads get theirs back, the calling one, too; more may be pinned later. */
void pin_rest(struct pin *pin);

/* The same, for good. */
void pin_release(struct pin *pin);
