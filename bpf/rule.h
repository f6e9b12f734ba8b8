/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules that turn a firing into a hit: shared by the BPF program and user/trigger, which fills them in
 * before attaching.
 */
#pragma once

#include <linux/types.h>

#include "bpf/hit_action.h"

enum { RULE_MAX = 64, CALLS_MAX = 16384, TARGETS_MAX = 8192 };

/*
 * Granularity of the copy of the stack: its size is a multiple of this, and it is read in such pieces if a
 * part is missing.
 */
enum { HIT_COPY_STEP = 512 };

/* The rule of one trigger. A firing must pass all tests, in this order; the program counts where it fails. */
struct rule {
	__u64 slower_than_ns; /* minimum duration of a call, or of the way between two places */
	__u64 skip;	      /* number of firings, after the condition, to ignore first */
	__u64 every_ns;	      /* at most one hit in this time; 0: no limit */
	__u64 held;	      /* not 0: ignore firings; user space changes it at any time */
	__u64 asks_result;    /* the condition uses the return value */
	/* written by the BPF program */
	__u64 passed;	      /* firings for which the condition held */
	__u64 next_ns;	      /* `every_ns`: no hit before this time */
	__u64 limited;	      /* firings dropped by `every_ns` */
	__u64 unreadable;     /* firings whose condition reads unreadable memory */
	__u64 without_call;   /* ends of calls whose beginning was not seen or is forgotten (CALLS_MAX) */
	__u64 without_result; /* `asks_result`: calls that ended in a jump to a function without probes */
};

/* A firing, beside its registers; the stub in trigger.bpf.c gets a pointer to it. */
struct firing {
	__u64 id; /* process << 32 | thread, as the user sees them; 0: they are of another pid namespace */
	__u64 begin_ns; /* of the call that returns */
	__u64 end_ns;	/* of the call that returns; 0 at its beginning */
	__u64 stack;	/* the address of what is above the return address, at the call's beginning */
	__u64 args[HIT_ARG_CNT];
	__u32 args_known; /* as in struct hit */
	__u32 layout; /* which of the trigger's argument layouts (probe/args/arg_layout.h) the probe has */
};

/*
 * A probe's cookie: the trigger, the argument layout, the action (enum hit_action), and the place's role in
 * calls (PLACE_*).
 */
enum {
	COOKIE_LAYOUT_SHIFT = 8,
	COOKIE_ACTION_SHIFT = 32,
	COOKIE_PLACE_SHIFT = 48,
	COOKIE_ACTION_MAX = 1 << 16,
};

/* The role of a probe's place, for triggers that measure calls. */
enum {
	/*
	 * in a function whose calls are not measured, except those that go on there; or
	 * the second of two places
	 */
	PLACE_OTHER = 1u << 0,
	/*
	 * a jump: the call goes on in another function that is probed, too; of a beginning:
	 * the same instruction jumps
	 */
	PLACE_JUMP = 1u << 1,
	/* ... or in one that is not probed: the call counts as over */
	PLACE_LEAVES = 1u << 2,
	/* ... if the condition in four bits from PLACE_CONDITION_SHIFT holds */
	PLACE_CONDITIONAL = 1u << 3,
	PLACE_CONDITION_SHIFT = 4,
	PLACE_GO = 1u << 8,   /* in a function of Go, whose stacks move */
	PLACE_SPAN = 1u << 9, /* one of two places, whose stack pointers have nothing to do with each other */
};
