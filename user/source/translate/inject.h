/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread of the program is made to do for us, held by ptrace(2). Where a function has *ret_injection,
 * that tells whether the thread has ended meanwhile; its registers, mask and pending signals are as before
 * otherwise, and so is a system call that it slept in. Errors are -errno with a sentence.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "process/inject.h"
#include "source/translate/arena.h"

#define GIVE_SECCOMP_REASON "it restricts its system calls (seccomp, prctl), which the code cache needs"
#define GIVE_TSC_REASON	    "it may not read the time stamp counter (prctl), which the runtime does"

/* What to map for probes. */
struct probe_mirror;

/* A thread's area of rseq(2). */
struct rseq_area {
	uint64_t addr; /* 0: there is none */
	uint32_t size, signature;
};

struct arena_config {
	const struct probe_mirror *mirror; /* NULL, or probe_cnt nops of it are mapped, too */
	size_t probe_cnt;
	uint64_t ring_size; /* bytes, a power of two; smaller where the process has little memory left */
};

/* Makes an arena that the thread's process has mapped, too, without a slot. 0, or -errno with a sentence. */
int inject(pid_t tid, const struct arena_config *config, struct arena **ret_arena,
	   struct injection *ret_injection);

/* The thread goes on in the runtime with the context of this slot. */
int inject_enter(pid_t tid, struct arena *arena, int slot);

/*
 * Removes all that is ours from the process's memory. No thread of it stands there. The thread goes on from
 * its stop with *signal (NULL or 0: none), which is 0 from then on.
 */
int inject_unmap(pid_t tid, int *signal, const struct arena *arena, struct injection *ret_injection);

/*
 * Limits that were raised for the arena are the program's own again, which its memory does not have any more.
 * It goes on from its stop only if need be.
 */
void inject_lower_limits(pid_t tid, const struct arena *arena, struct injection *ret_injection);

/* The thread has no such area any more. The arena is mapped in its process. */
int inject_leave_rseq(pid_t tid, const struct arena *arena, struct rseq_area *ret_area,
		      struct injection *ret_injection);

/* The thread has the area again. *signal is as above. */
int inject_return(pid_t tid, int *signal, const struct arena *arena, const struct rseq_area *area,
		  struct injection *ret_injection);
