/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hits tell which goroutine a thread runs, and so which goroutine its slices belong to: from one switch to
 * the next, all that is open on a goroutine's stack lies in one outermost slice.
 */
#pragma once

#include "model/timeline.h"

/* All 0 at first. */
struct goroutine_marks {
	struct goroutine_mark {
		size_t thread;	  /* of timeline.threads */
		size_t outermost; /* of the thread's slices: the one of depth 0 */
		size_t nth;	  /* the mark's; of several at one slice the last counts */
		uint16_t goroutine;
	} * items;
	size_t cnt, cap;
};

/* Marks the slice as that of the goroutine, if timeline.goroutines has room for it. 0 or -ENOMEM. */
int goroutine_marks_add(struct goroutine_marks *marks, struct timeline *timeline,
			const struct timeline_thread *thread, size_t outermost, uint64_t number);

/* The timeline's slices get their marks. 0 or -ENOMEM. */
int goroutine_marks_apply(struct goroutine_marks *marks, struct timeline *timeline);

void goroutine_marks_release(struct goroutine_marks *marks);
