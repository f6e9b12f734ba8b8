/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "history/history.h"
#include "model/sample.h"

/* All of the kernel where its names are not there, one frame. */
#define SAMPLE_KERNEL_IP (1ull << 63)

/*
 * A stack as struct sampled_item has it. `ips` and `cfas` are one block of memory, which begins with `ips`.
 */
struct sample_stack {
	uint64_t *ips, *cfas;
	size_t cnt;
	uint64_t reached;
	uint64_t leaf; /* with no stack: where it was; 0: not known */
};

/* With room for so many frames, all 0; its `ips` are the caller's to free. 0 or -ENOMEM. */
int sample_stack_new(struct sample_stack *ret_stack, size_t cnt);

/* Where the thread was in its own code; 0: not known. */
uint64_t sample_stack_leaf(const struct stack_sample *sample);

/* `ret_stack` is all 0 at first; its `ips`, where it has some, are the caller's to free. 0 or -ENOMEM. */
int sample_stack_read(struct history *history, const struct stack_sample *sample,
		      struct sample_stack *ret_stack);
