/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sampled allocation or its end, as the BPF program records it and recordings store it. A change needs a
 * new ALLOC_VERSION.
 */
#pragma once

#include <linux/types.h>

enum { ALLOC_VERSION = 1 };

enum alloc_kind {
	ALLOC_SAMPLED,
	ALLOC_FREED, /* the end of a sampled one, with its size and samples */
};

struct alloc {
	__u64 time_ns; /* CLOCK_MONOTONIC: return of the allocator, or call of free */
	__u64 address; /* of the memory */
	__u64 size;    /* requested bytes */
	/* number of sampling points in it; each stands for the mean interval in bytes */
	__u64 samples;
	__u64 began_ns; /* ALLOC_FREED: time of the allocation; else time_ns */
	__u32 pid, tid; /* in the pid namespace of the recording trailcam */
	__u32 kind;	/* enum alloc_kind */
	__u32 function; /* ALLOC_SAMPLED: index of the probed function */
};

_Static_assert(sizeof(struct alloc) == 56,
	       "struct alloc is shared with BPF and stored in recordings: no padding");
