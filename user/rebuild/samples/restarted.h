/* SPDX-License-Identifier: BSD-2-Clause */
/* Which system call goes on where the kernel restarted one. */
#pragma once

#include "history/history.h"
#include "model/sample.h"

/* All 0 at first. */
struct restarted {
	struct stack_sample **samples; /* they own nothing */
	size_t cnt, cap;
};

/*
 * The sample, or where the thread waits in a call that was restarted, and the call is known, one that says so
 * and lasts as long as the sample and `restarted`. NULL: out of memory.
 */
const struct stack_sample *restarted_sample(struct restarted *restarted, struct history *history,
					    const struct stack_sample *sample);

void restarted_release(struct restarted *restarted);
