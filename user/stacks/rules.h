/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the rules share: rules.c (inside of what is traced) and rules_outside.c. */
#pragma once

#include "stacks/stacks_internal.h"

static inline bool is_same(const struct stack_step *step, const struct frame *frame)
{
	return symbol_same_function(frame->symbol, step->to);
}

static inline bool enters(const struct stack_step *step)
{
	return begins(step->to, step->branch.to);
}

/* A call of step->to; return_address 0: it is not known. NULL: out of memory. */
struct frame *rules_push_call(struct stacks *stacks, const struct stack_step *step, uint64_t return_address);

/*
 * Control is in step->to: with nothing open it has been there since the beginning; a top that is another
 * function has ended.
 */
void rules_settle(struct stacks *stacks, const struct stack_step *step);

/* Control was in step->from. */
void rules_settle_from(struct stacks *stacks, const struct stack_step *step);

/* The unwinding rule (rules.c); true: it applied. */
bool rules_unwind(struct stacks *stacks, const struct stack_step *step);

/* Index of the innermost frame that returns there, or SIZE_MAX. */
size_t rules_find_callee(const struct segment *segment, uint64_t to);

/* One for each of the ways out and back (rules_outside.c). */
void rules_on_kernel_entry(struct stacks *stacks, const struct stack_step *step);
void rules_on_kernel_exit(struct stacks *stacks, const struct stack_step *step);
void rules_on_trace_end(struct stacks *stacks, const struct stack_step *step);
void rules_on_trace_start(struct stacks *stacks, const struct stack_step *step);
