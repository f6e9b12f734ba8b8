/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The targets' threads that wait at one moment: a thread that waits all the time leaves no
 * record. They are not disturbed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/samples.h"
#include "model/sample.h"

struct bpf_link;

/* All that wait at one time. */
struct waiting_list {
	struct samples_waiting *items;
	size_t cnt, cap;
};

struct waiting_threads {
	struct waiting_thread {
		struct stack_sample sample; /* SAMPLE_SWITCH_OUT with SAMPLE_IS_STILL */
		/* When it was seen to wait the time before, if it has not run since; else 0. */
		uint64_t seen_ns;
	} * items;
	size_t cnt, cap;
};

/*
 * All 0 at first, but for whom to ask: an iterator of the program on_task, or else
 * /proc about some processes.
 */
struct waiting {
	struct bpf_link *iterator; /* its own */
	pid_t *pids;
	size_t pid_cnt, pid_cap;
	struct waiting_threads threads;
	struct waiting_list now, before; /* as they are listed last, and the time before */
};

/* Without an iterator: the process is asked about, or no more. 0 or -ENOMEM. */
int waiting_add(struct waiting *waiting, pid_t pid);
void waiting_drop(struct waiting *waiting, pid_t pid);

/* Lists those that wait now. 0, -ENOMEM, or -errno of the iterator. */
int waiting_find(struct waiting *waiting);

/*
 * Replaces `threads` by those that were listed and have not run since, and, with `all`, those that have,
 * which have no stack then. Of each other stack SAMPLES_STACK bytes are copied, as far as they can be read.
 * The same errors.
 */
int waiting_describe(struct waiting *waiting, bool all);

/* Moves `threads` to *threads, in place of those there; they do not count as seen. */
void waiting_move(struct waiting *waiting, struct waiting_threads *threads);

void waiting_threads_release(struct waiting_threads *threads);

void waiting_release(struct waiting *waiting);
