/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the samples of one thread say, put together: its ticks, and the times when it ran no code of its own,
 * with why and until when. From here on it is stacks/sampled/sampled.h's.
 */
#pragma once

#include "rebuild/samples/sample_stack.h"
#include "stacks/sampled/sampled.h"

struct sample_context {
	struct timeline *timeline; /* details and flows become its own */
	uint64_t base_ns;	   /* its time 0 */
	bool is_clock;		   /* the period of the tick at hand is nanoseconds */
	const char *(*thread_name)(void *ctx, int32_t tid); /* NULL: not known */
	/* The name of a variable of the process, which lasts until the next call; NULL: not known. */
	const char *(*variable_at)(void *ctx, int32_t pid, uint64_t addr);
	/* The function at that address and time; NULL: not known. */
	const struct symbol *(*symbol_at)(void *ctx, int32_t pid, uint64_t ip, uint64_t time_ns);
	void *ctx;
};

/* All 0 at first, but pid, tid, cpu and first_ns. */
struct sample_items {
	struct sampled_item *items; /* in the order of time; complete after sample_items_finish() */
	size_t cnt, cap;
	struct instant *instants; /* to be taken over by the thread */
	size_t instant_cnt, instant_cap;
	uint64_t last_ns; /* when something was last seen of it */
	int32_t pid, tid;
	uint64_t
		/* when recording began, or the thread: what is so at its first sample was so since then */
		first_ns;
	int32_t cpu;	      /* where it ran last; -1: not known */
	int32_t ran_on;	      /* the same, of samples that were added */
	uint64_t switches_ns; /* from here on none of its switches is missing */
	uint64_t still_ns;    /* when it was seen to wait */
	/* How far it is. */
	struct sampled_pause *pauses; /* of all items */
	size_t pause_cnt, pause_cap;
	uint64_t **blocks; /* of stacks */
	size_t block_cnt, block_cap;
	bool in_span;	  /* the last item goes on */
	size_t call, off; /* its pauses that go on: one more than their index; 0: there is none */
	size_t interrupt; /* the last that is within no other: the same */
	const struct stack_sample *began, *left, *woken; /* what began them, and who ended the wait */
};

/*
 * The next sample, in the order of time; it must last until the thread is finished. Takes over stack->ips,
 * which are NULL where it has none. 0 or -ENOMEM.
 */
int sample_items_add(struct sample_items *items, const struct sample_context *context,
		     const struct stack_sample *sample, const struct sample_stack *stack);

/* The thread ran here, with this stack; `is_begin`: its innermost call began. 0 or -ENOMEM. */
int sample_items_hit(struct sample_items *items, const struct sample_context *context, uint64_t time_ns,
		     const struct sample_stack *stack, bool is_begin);

/*
 * Nothing more comes; what it waits for it still waits for at `until`, the last moment of the recording. 0 or
 * -ENOMEM.
 */
int sample_items_finish(struct sample_items *items, const struct sample_context *context, uint64_t until);

void sample_items_release(struct sample_items *items);
