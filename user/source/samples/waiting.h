/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The targets' threads that wait at one moment: a thread that waits all the time leaves no record. They are not
 * disturbed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/sample.h"

struct bpf_link;

/* All 0 at first. Each is a SAMPLE_SWITCH_OUT with SAMPLE_IS_STILL. */
struct waiting {
	struct stack_sample *items;
	size_t cnt, cap;
};

/*
 * Replaces what is there by those that wait now. `iterator` is of the program on_task; of each stack `stack_bytes` are
 * copied. What could not be read or has changed meanwhile is left out. 0, -ENOMEM, or -errno of the iterator.
 */
int waiting_find(struct waiting *waiting, const struct bpf_link *iterator, size_t stack_bytes);

/* Frees the items, but for those that were taken over (`cnt` is 0 then). */
void waiting_release(struct waiting *waiting);
