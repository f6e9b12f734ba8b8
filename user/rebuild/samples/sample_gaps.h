/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where samples of one processor are missing, so are those of threads that came there or left it unseen. This
 * finds such threads by what is there of them before and after.
 */
#pragma once

#include <stddef.h>

#include "base/containers/hash_index.h"
#include "model/snapshot.h"

/* All 0 at first. */
struct sample_gaps {
	const struct stack_sample **losses; /* of switches, of all threads or of a processor; borrowed */
	size_t loss_cnt, loss_cap;
	struct gaps_thread {
		int32_t pid, tid;
		int32_t cpu;	   /* where it ran last; -1: not known */
		uint32_t switches; /* when it stopped running; 0: not known, or it runs */
		bool is_off;
		uint64_t last_ns,
			woken_ns; /* when it was last seen, and woken since it stopped (0: was not) */
	} * threads;
	size_t thread_cnt, thread_cap;
	struct hash_index by_tid;
	struct stack_sample *found; /* SAMPLE_LOST of one thread each */
	size_t found_cnt, found_cap;
};

/* Whether samples that are missing may be those of a thread that was last seen there (-1: not known). */
static inline bool sample_gaps_concerns(const struct stack_sample *loss, int32_t cpu)
{
	return loss->cpu < 0 || cpu < 0 || loss->cpu == cpu;
}

/* Looks for losses: first, and of all samples. 0 or -ENOMEM. */
int sample_gaps_expect(struct sample_gaps *gaps, const struct snapshot *snapshot);

/*
 * The next sample in the order of time. If something of its thread is missing before it, `found` has one
 * more; not if the thread was last seen where something is lost by then. 0 or -ENOMEM.
 */
int sample_gaps_add(struct sample_gaps *gaps, const struct stack_sample *sample);

/* From when on until `until_ns` nothing is missing: `from_ns` if nothing is missing since then. */
uint64_t sample_gaps_end(const struct sample_gaps *gaps, uint64_t from_ns, uint64_t until_ns);

void sample_gaps_release(struct sample_gaps *gaps);
