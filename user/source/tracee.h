/* SPDX-License-Identifier: BSD-2-Clause */
/* What ptrace(2) and /proc tell of one stopped thread. */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/hit.h"

/* A register, by its offset in struct user_regs_struct. */
uint64_t tracee_reg(pid_t tid, size_t offset);
uint64_t tracee_ip(pid_t tid);

/* si_code of the signal that it stopped for; 0 where there is none. */
int tracee_signal_code(pid_t tid);

/* Whether the signal that it stopped for is none of its own: a step's SIGTRAP, or a SIGSTOP that a hit sent (bpf/trigger.bpf.c). */
bool tracee_signal_is_ours(pid_t tid, int signal);

/* Whether such a signal is queued, but not reported yet: without a tracer the one would kill, the other stop for good. */
bool tracee_ours_is_queued(pid_t tid);

/* Takes SIGTRAP out of the signal mask; true if it was in there. */
bool tracee_unblock_trap(pid_t tid);
void tracee_block_trap(pid_t tid);

/* pushf has just shown the trap flag to the target: puts it right on its stack. */
void tracee_hide_trap_flag(pid_t tid);

/* The thread's name, without newline; "" where it cannot be read. */
void tracee_comm(pid_t pid, pid_t tid, char *comm, int size);

/* The thread group that tid is in; 0 where it is gone. */
pid_t tracee_group(pid_t tid);

pid_t tracee_parent(pid_t pid);

/* Who traces the process already; 0: nobody. */
pid_t tracee_tracer(pid_t pid);

/* The threads of a process, one after the other; 0: the end. NULL where the process is gone. */
DIR *tracee_open_tasks(pid_t pid);
pid_t tracee_next_task(DIR *tasks);

static inline void closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* Where the thread stands, as a BPF program records it at a probe (bpf/trigger.bpf.c): all but the trigger, the action and the processor. */
void tracee_describe(pid_t pid, pid_t tid, uint64_t time_ns, struct hit *ret_hit);
