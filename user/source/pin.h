/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts tracer and target on one processor: a step is then a switch between two tasks instead of two wake-ups across
 * processors, three times as fast. The target's own affinity is put back at the end, by a watching child process even if this one is
 * killed.
 */
#pragma once

#include <sched.h>
#include <sys/types.h>

struct pin {
	cpu_set_t before;
	pid_t target;
	pid_t guard;
	int guard_fd;
};

/* Pins the calling thread and the process `target` (one thread yet). Best effort: where it fails, stepping is just slower. */
void pin_init(struct pin *pin, pid_t target);

/* One thread or process gets the original affinity back. */
void pin_restore_task(const struct pin *pin, pid_t tid);

/* All of target's threads, and the calling thread, get theirs back. */
void pin_release(struct pin *pin);
