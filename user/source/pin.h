/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts tracer and target on one processor: a step is then a switch between two tasks instead of two wake-ups across
 * processors, three times as fast. The target's own affinity is put back at the end, by a watching child process even if this one is
 * killed.
 */
#pragma once

#include <sched.h>
#include <sys/types.h>

enum { PIN_MAX = 1023 };

struct pin {
	cpu_set_t before;
	struct pin_targets {
		int cnt;
		pid_t pids[PIN_MAX];
	} * targets; /* shared with the guard */
	pid_t guard;
	int guard_fd;
};

/* Pins the calling thread and the process `target` (one thread yet). Best effort: where it fails, stepping is just slower. */
void pin_init(struct pin *pin, pid_t target);

/* A child of a target, which has inherited its processor, is one, too. */
void pin_add(struct pin *pin, pid_t pid);

/* One thread or process gets the original affinity back. */
void pin_restore_task(const struct pin *pin, pid_t tid);

/* All threads of the targets, and the calling thread, get theirs back. */
void pin_release(struct pin *pin);
