/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What turns a firing probe into a hit: shared by the BPF program and user/trigger, which fills it in before
 * attaching.
 */
#pragma once

#include <linux/types.h>

#include "bpf/hit_action.h"

enum { RULE_MAX = 64, CALLS_MAX = 16384, TARGETS_MAX = 8192 };

/* Of the copy of the stack in a hit: a multiple of this; read piece by piece where not all of it is there. */
enum { HIT_COPY_STEP = 512 };

/*
 * Of one trigger. A firing must pass everything, in this order; the program counts where it was turned away.
 */
struct rule {
	__u64 slower_than_ns; /* of a call, or from one place to another: it took at least this long */
	__u64 skip;	      /* so many firings that passed the condition are let go first */
	__u64 every_ns;	      /* at most one hit in this time; 0: no limit */
	__u64 held;	      /* not 0: no firing counts for now; user space changes it at any time */
	__u64 asks_result;    /* the condition asks for what the call returned */
	/* written by the program */
	__u64 passed;	      /* firings for which the condition held */
	__u64 next_ns;	      /* `every_ns`: no hit before this time */
	__u64 limited;	      /* turned away by it */
	__u64 unreadable;     /* the condition reads memory that could not be read */
	__u64 without_call;   /* ends of calls whose beginning was not seen, or was forgotten (CALLS_MAX) */
	__u64 without_result; /* `asks_result`: calls that ended in a jump to a function that is not probed */
};

/* What is known of a firing beside its registers; the stub in trigger.bpf.c gets a pointer to it. */
struct firing {
	__u64 begin_ns; /* of the call that returns */
	__u64 end_ns;	/* of the call that returns; 0 at its beginning */
	__u64 args[HIT_ARG_CNT];
	__u32 args_known; /* as in struct hit */
	__u32 layout;	  /* which of the trigger's argument layouts (probe/arg_layout.h) the probe has */
};

/*
 * A probe's cookie: the trigger, the probe's argument layout, the action (enum hit_action), what the place is
 * to a call (PLACE_*).
 */
enum {
	COOKIE_LAYOUT_SHIFT = 8,
	COOKIE_ACTION_SHIFT = 32,
	COOKIE_PLACE_SHIFT = 48,
	COOKIE_ACTION_MAX = 1 << 16,
	LAYOUT_MAX = 1 << 20,
};

/* What a probe's place is to the calls of a trigger that judges them by their end. */
enum {
	PLACE_OTHER =
		1u
		<< 0, /* in a function whose calls it does not judge, but those that go on there; the second of two places */
	PLACE_JUMP =
		1u
		<< 1, /* a jump: the call goes on in another function that is probed, too; a beginning: the same instruction jumps */
	PLACE_LEAVES = 1u << 2, /* ... or in one that is not: it counts as ended */
	PLACE_CONDITIONAL =
		1u << 3, /* ... if the condition in four bits from PLACE_CONDITION_SHIFT on holds */
	PLACE_CONDITION_SHIFT = 4,
	PLACE_GO = 1u << 8,   /* in a function of Go, whose stacks move */
	PLACE_SPAN = 1u << 9, /* one of two places, whose stack pointers have nothing to do with each other */
};
