/* SPDX-License-Identifier: BSD-2-Clause */
/* The call stacks of sampled allocations, while the process runs. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "source/alloc/recorder.h"
#include "source/process_image.h"

enum { ALLOC_FRAMES_MAX = 1024 };

struct alloc_unwind {
	struct process_image *process;
	const struct alloc_recorder *recorder;
	uint64_t ips[ALLOC_FRAMES_MAX];
};

/* A stack, until the next one is asked for. */
struct alloc_frames {
	size_t version;	     /* of the process's image */
	const uint64_t *ips; /* of the caller of the allocation function, then return addresses, outwards */
	size_t cnt;
};

/* `recorder` stays the caller's and has to outlive it. Errors as process_image_new(). */
int alloc_unwind_init(struct alloc_unwind *unwind, const struct alloc_recorder *recorder,
		      const struct alloc_recorder_config *config);
void alloc_unwind_release(struct alloc_unwind *unwind);

/*
 * The recorded stack of an allocation, without the functions of an allocator whose own probe reported it.
 * To be called after process_image_update(). 0 or -ENOMEM.
 */
int alloc_unwind_find(struct alloc_unwind *unwind, const struct alloc *alloc, const struct alloc_stack *stack,
		      struct alloc_frames *ret_frames);
