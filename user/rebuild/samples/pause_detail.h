/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts about system calls, waits, interrupts and losses. */
#pragma once

#include <stdbool.h>

#include "model/sample.h"
#include "model/timeline.h"

struct pause_about {
	enum slice_kind kind;		  /* SLICE_SYSCALL, SLICE_OFF_CPU or SLICE_RUN_QUEUE */
	const struct sample_call *call;	  /* the one that it is or happens in; NULL: none known */
	const struct stack_sample *left;  /* OFF_CPU: how it began; NULL: not known */
	const struct stack_sample *woken; /* OFF_CPU: how it ended; NULL: not known */
	const char *waker; /* that thread's name, as the recording ends; NULL: as it was called then */
	const struct stack_sample *in;	/* RUN_QUEUE: how it ended, with who ran meanwhile; NULL: not known */
	const struct stack_sample *end; /* SYSCALL: its end; NULL: not known */
	uint64_t length_ns;
	bool began_before; /* it is longer */
};

struct sample_context;

/* Makes a detail of a process's pause that the timeline keeps. 0 or -ENOMEM. */
int pause_detail(const struct sample_context *context, int32_t pid, const struct pause_about *about,
		 const struct slice_detail **ret_detail);

/* The detail of a SAMPLE_INTERRUPT: "[irq] virtio0", "[softirq] net_rx". 0 or -ENOMEM. */
int pause_interrupt_detail(struct timeline *timeline, const struct stack_sample *sample,
			   const struct slice_detail **ret_detail);

/* The text of a SAMPLE_LOST: "[gap: lost samples: 12]"; the caller frees it. NULL: no memory. */
char *pause_loss_text(const struct stack_sample *sample);

/*
 * A thread goes on at another processor: the text, which the caller frees (NULL: no memory), and the name and
 * arguments of the instant (0 or -ENOMEM).
 */
char *pause_migration_text(int32_t from, int32_t to);
int pause_set_migration(struct instant *instant, int32_t from, int32_t to);
