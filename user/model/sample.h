/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sample: what one thread did at one moment, as the samples source records it and as perf does. Most are
 * ticks of a clock, with the call stack. The others are moments at which a thread stopped running, ran again,
 * was woken, or crossed into the kernel. Between two samples of a thread nothing is known but what both say.
 *
 * Plain data. Beside a field stands which kinds have it; elsewhere it is 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"

enum sample_kind {
	/* a counter came round: a tick of the clock, or so many of snapshot.sample_events[event] */
	SAMPLE_EVENT,
	SAMPLE_SWITCH_OUT,    /* the thread stopped running */
	SAMPLE_SWITCH_IN,     /* ... and runs again */
	SAMPLE_WAKE_UP,	      /* it was waiting, and may run from now on; the stack is its waker's */
	SAMPLE_SYSCALL_BEGIN, /* it entered the system call `call` */
	SAMPLE_SYSCALL_END,   /* ... and leaves it */
	SAMPLE_PAGE_FAULT,    /* it touched the address `address`, which was not there */
	/*
	 * What this thread did from `since_ns` until now is not known. tid 0: so for all threads, or where
	 * cpu is not -1 for those on that processor.
	 */
	SAMPLE_LOST,
	SAMPLE_KIND_CNT,
};

enum sample_flag {
	SAMPLE_HAS_REGS = 1u << 0,     /* `regs` are the user's where it left user code */
	SAMPLE_IS_CUT = 1u << 1,       /* the stack goes on beyond `stack`, or beyond the last of `ips` */
	SAMPLE_PREEMPTED = 1u << 2,    /* SWITCH_OUT: it could have run on; else it waits */
	SAMPLE_FROM_IRQ = 1u << 3,     /* WAKE_UP: an interrupt did it, and not who ran then */
	SAMPLE_LOST_TICKS = 1u << 4,   /* LOST: only EVENTs are; all else is known */
	SAMPLE_LOST_MOMENTS = 1u << 5, /* LOST: all but EVENTs are, and those are known */
	SAMPLE_FROM_TIMER = 1u << 6,   /* WAKE_UP: a timer did it, and not who ran then */
};

/* Why a thread does not run: bits of the kernel's task state (include/linux/sched.h, TASK_*). */
enum sample_state {
	SAMPLE_INTERRUPTIBLE = 1,
	SAMPLE_UNINTERRUPTIBLE = 2, /* mostly a disk, or a lock in the kernel */
	SAMPLE_STOPPED = 4,
	SAMPLE_TRACED = 8,
	SAMPLE_ENDED = 16,
	SAMPLE_STATE_MASK = 31,
};

enum { SAMPLE_ARG_CNT = 6, SAMPLE_NO_SYSCALL = -1 };

/* SYSCALL_BEGIN and _END: that one. SWITCH_OUT and _IN, PAGE_FAULT: the one that the thread is in. */
struct sample_call {
	int32_t nr;		       /* x86-64's number, SAMPLE_NO_SYSCALL: none, or not known */
	int64_t result;		       /* SYSCALL_END: as the kernel returns it, -errno on failure */
	uint64_t args[SAMPLE_ARG_CNT]; /* as given; not of SYSCALL_END */
	char *about;		       /* what the file descriptor in args[0] is; NULL: not known; owned */
};

enum { SAMPLE_NAME_BYTES = 16 };

struct sample_thread {
	int32_t pid, tid;
	char name[SAMPLE_NAME_BYTES]; /* ends with a 0 */
};

struct stack_sample {
	uint64_t time_ns; /* of the recording's clock; in a snapshot in the order of the file, not of time */
	uint64_t period;  /* EVENT: how many of the event it stands for */
	int32_t pid, tid; /* whose track it is on */
	int32_t cpu;	  /* -1: not known */
	enum sample_kind kind;
	uint32_t flags;	 /* enum sample_flag */
	uint32_t event;	 /* EVENT: index into snapshot.sample_events */
	uint32_t state;	 /* SWITCH_OUT: enum sample_state; 0 with SAMPLE_PREEMPTED */
	uint32_t ip_cnt; /* of `ips` */
	/*
	 * The call stack as the kernel walked it, innermost first: where it ran, then return addresses. The
	 * kernel's part, whose addresses have the highest bit, stands before the user's. The user's part is
	 * missing where there is a copy of the stack to be unwound instead.
	 */
	uint64_t *ips;
	uint64_t regs[HIT_REG_CNT]; /* SAMPLE_HAS_REGS: enum hit_reg */
	const uint8_t *stack;	    /* what stood at regs[HIT_SP] and above; NULL: none */
	size_t stack_size;
	bool is_stack_owned; /* else it stands in snapshot.file */
	struct sample_call call;
	/* WAKE_UP: who woke it; SWITCH_IN: who ran on the processor until then. tid 0: not known */
	struct sample_thread other;
	uint64_t address;  /* PAGE_FAULT */
	uint64_t since_ns; /* LOST */
	uint64_t lost_cnt; /* LOST: so many records, 0: not known how many */
};
