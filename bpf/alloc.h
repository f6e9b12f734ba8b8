/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sampled allocation, or the end of one, as the BPF program records it and as recordings keep it: change it
 * only together with ALLOC_VERSION.
 */
#pragma once

#include <linux/types.h>

enum { ALLOC_VERSION = 1 };

enum alloc_kind {
	ALLOC_SAMPLED,
	ALLOC_FREED, /* of one that was sampled: size and samples are that one's */
};

struct alloc {
	__u64 time_ns; /* CLOCK_MONOTONIC: when the allocator returned, or was asked to free */
	__u64 address; /* of the memory */
	__u64 size;    /* bytes that were asked for */
	/* how many sampling points fell into it; each stands for the mean interval, in bytes */
	__u64 samples;
	__u64 began_ns; /* of ALLOC_FREED: when it was allocated; else time_ns */
	__u32 pid, tid; /* in the pid namespace of the recording trailcam */
	__u32 kind;	/* enum alloc_kind */
	__u32 function; /* of ALLOC_SAMPLED: which of the probed functions, an index */
};

_Static_assert(sizeof(struct alloc) == 56,
	       "struct alloc is shared with BPF and stored in recordings: no padding");
