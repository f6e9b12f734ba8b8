/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The targets' threads that wait at one moment: a thread that waits all the time leaves no record. They are not
 * disturbed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bpf/samples.h"
#include "model/sample.h"

struct bpf_link;

/* What the iterator of the program on_task says at one time. */
struct waiting_list {
	struct samples_waiting *items;
	size_t cnt, cap;
};

/* All 0 at first. */
struct waiting {
	struct waiting_thread {
		struct stack_sample sample; /* SAMPLE_SWITCH_OUT with SAMPLE_IS_STILL */
		/* When it was seen to wait the time before, if it has not run since; else 0. */
		uint64_t seen_ns;
	} * threads;
	size_t cnt, cap;
	struct waiting_list now, before; /* as they are listed last, and the time before */
};

/* Lists those that wait now. 0, -ENOMEM, or -errno of the iterator. */
int waiting_find(struct waiting *waiting, const struct bpf_link *iterator);

/*
 * Replaces `threads` by those that were listed and have not run since. Of each stack `stack_bytes` are copied, as far
 * as they can be read. The same errors.
 */
int waiting_describe(struct waiting *waiting, const struct bpf_link *iterator, size_t stack_bytes);

void waiting_release(struct waiting *waiting);
