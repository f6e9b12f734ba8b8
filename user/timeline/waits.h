/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What threads waited for. Pauses and page faults are summed by their name, the file that they were about,
 * the function that waited, the thread that ended them and the thread that had the processor meanwhile.
 * Connections that differ only in a port that was chosen by chance are one.
 */
#pragma once

#include <stddef.h>

#include "base/containers/hash_index.h"
#include "model/timeline.h"

struct wait {
	const char *name;     /* "[off-cpu] futex_wait", "[run-queue]", "[page fault]" */
	char *file;	      /* what a descriptor stood for; "": nothing, or not known */
	const char *function; /* that waited; "": not known */
	const char *woken_by; /* who ended it; "": not known, or nobody did */
	const char *behind;   /* who had the processor; "": not known, or it did not wait for that */
	uint64_t cnt;
	uint64_t total_ns, longest_ns; /* 0 of page faults, which are moments */
};

/* All 0 at first. */
struct waits {
	struct wait *items;
	size_t cnt, cap;
	struct hash_index index; /* of its items, until they are sorted */
};

/* Adds the waits of the thread. The timeline owns their texts. 0 or -ENOMEM. */
int waits_add(struct waits *waits, const struct timeline_thread *thread);

/* By total time, then by count; the largest first. */
void waits_sort(struct waits *waits);

void waits_release(struct waits *waits);
