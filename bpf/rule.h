/* SPDX-License-Identifier: BSD-2-Clause */
/* What turns a firing probe into a hit: shared by the BPF program and user/trigger, which fills it in before attaching. */
#pragma once

#include <linux/types.h>

#include "bpf/hit.h"

enum { RULE_MAX = 64, CALLS_MAX = 16384, TARGETS_MAX = 8192 };

/* Of the copy of the stack in a hit: a multiple of this; read piece by piece where not all of it is there. */
enum { HIT_COPY_STEP = 512 };

/* Of one trigger. A firing must pass everything, in this order; the program counts where it was turned away. */
struct rule {
	__u64 slower_than_ns; /* HIT_RETURN: the call took at least this long */
	__u64 skip;	      /* so many firings that passed the condition are let go first */
	__u64 every_ns;	      /* at most one hit in this time; 0: no limit */
	__u64 held;	      /* not 0: no firing counts for now; user space changes it at any time */
	/* written by the program */
	__u64 passed;	  /* firings for which the condition held */
	__u64 next_ns;	  /* `every_ns`: no hit before this time */
	__u64 limited;	  /* turned away by it */
	__u64 unreadable; /* the condition reads memory that could not be read */
	__u64 without_call; /* HIT_RETURN: returns of calls whose beginning was not seen, or was forgotten (CALLS_MAX) */
};

/* What is known of a firing beside its registers; the stub in trigger.bpf.c gets a pointer to it. */
struct firing {
	__u64 begin_ns; /* of the call that returns */
	__u64 end_ns;	/* of the call that returns; 0 at its beginning */
	__u64 args[HIT_ARG_CNT];
	__u32 args_known; /* as in struct hit */
	__u32 layout;	  /* which of the trigger's argument layouts (trigger/arg_layout.h) the probe has */
};

/* A probe's cookie: the trigger, the probe's argument layout, the action (enum hit_action). */
enum { COOKIE_LAYOUT_SHIFT = 8, COOKIE_ACTION_SHIFT = 32, LAYOUT_MAX = 1 << 20 };
