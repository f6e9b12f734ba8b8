/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sample: what one thread did at one moment, as the samples source and perf record it. Most samples are
 * clock ticks with a call stack. The others are the moments when a thread stopped running, ran again, was
 * woken, or entered or left the kernel. Nothing is known between two samples of a thread except what both
 * say.
 *
 * Plain data. Comments name the kinds that have a field; for others it is 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "model/stack_pool.h"

enum sample_kind {
	/* a counter overflowed: a tick of the clock, or `period` of snapshot.sample_events[event] */
	SAMPLE_EVENT,
	SAMPLE_SWITCH_OUT,    /* the thread stopped running, or has not run since (SAMPLE_IS_STILL) */
	SAMPLE_SWITCH_IN,     /* ... and runs again */
	SAMPLE_WAKE_UP,	      /* it became runnable; the stack is its waker's */
	SAMPLE_SYSCALL_BEGIN, /* it entered the system call `call` */
	SAMPLE_SYSCALL_END,   /* ... and leaves it */
	SAMPLE_PAGE_FAULT,    /* it touched `address`, which was not mapped in */
	/*
	 * samples are missing from `since_ns` until now: of this thread; of all threads if tid is 0, or of
	 * those on `cpu` if that is not -1
	 */
	SAMPLE_LOST,
	SAMPLE_INTERRUPT, /* it was interrupted by `other.name` until `until_ns` */
	SAMPLE_KIND_CNT,
};

enum sample_flag {
	SAMPLE_HAS_REGS = 1u << 0,     /* `regs` are the user registers */
	SAMPLE_IS_CUT = 1u << 1,       /* the call stack continues beyond `stack` or `ips` */
	SAMPLE_PREEMPTED = 1u << 2,    /* SWITCH_OUT: it was runnable; else it waits */
	SAMPLE_FROM_IRQ = 1u << 3,     /* WAKE_UP: by an interrupt, not by the running thread */
	SAMPLE_LOST_TICKS = 1u << 4,   /* LOST: only EVENTs are missing */
	SAMPLE_LOST_MOMENTS = 1u << 5, /* LOST: all but EVENTs are missing */
	SAMPLE_FROM_TIMER = 1u << 6,   /* WAKE_UP: by a timer, not by the running thread */
	SAMPLE_IS_STILL = 1u << 7,     /* SWITCH_OUT: it waits still, and stopped running before */
	SAMPLE_LEFT_OUT = 1u << 8,     /* words of `stack` that are no addresses may be 0 */
};

/* Why a thread does not run: bits of the kernel's task state (include/linux/sched.h, TASK_*). */
enum sample_state {
	SAMPLE_INTERRUPTIBLE = 1,
	SAMPLE_UNINTERRUPTIBLE = 2, /* mostly a disk, or a lock in the kernel */
	SAMPLE_STOPPED = 4,
	SAMPLE_TRACED = 8,
	SAMPLE_ENDED = 128,
	SAMPLE_FROZEN = 0x8000, /* its cgroup is; since Linux 6.1 */
	SAMPLE_STATE_MASK = 143 | SAMPLE_FROZEN,
};

enum { SAMPLE_ARG_CNT = 6, SAMPLE_NO_SYSCALL = -1 };

/* The system call that begins or ends (SYSCALL_*), or that the thread is in (SWITCH_*, PAGE_FAULT). */
struct sample_call {
	int32_t nr;		       /* x86-64 number; SAMPLE_NO_SYSCALL: none or unknown */
	bool has_timeout;	       /* not of SYSCALL_END */
	int64_t result;		       /* SYSCALL_END: the kernel's result, -errno on failure */
	uint64_t args[SAMPLE_ARG_CNT]; /* not of SYSCALL_END */
	char *about; /* the file behind its descriptor: "socket 127.0.0.1:6379"; NULL: unknown; owned */
	int64_t timeout_ns; /* if it has one: how long it waits at most; below 0: forever */
};

enum { SAMPLE_NAME_BYTES = 16, SAMPLE_OUTSIDE = -1, SAMPLE_THROTTLED = -2 };

struct sample_thread {
	int32_t pid, tid;
	char name[SAMPLE_NAME_BYTES]; /* ends with a 0 */
};

struct stack_sample {
	uint64_t time_ns; /* of the recording's clock; a snapshot has samples in file order, not time order */
	uint64_t period;  /* EVENT: the number of events it stands for */
	int32_t pid, tid; /* whose track it is on */
	int32_t cpu;	  /* -1: not known */
	enum sample_kind kind;
	uint32_t flags; /* enum sample_flag */
	uint32_t event; /* EVENT: index into snapshot.sample_events */
	uint32_t state; /* SWITCH_OUT: enum sample_state; 0 with SAMPLE_PREEMPTED */
	/* SWITCH_*: so often its thread had stopped running by then, modulo 2^32; 0: not known */
	uint32_t switches;
	uint32_t ip_cnt; /* of `ips` */
	/*
	 * The call stack from the kernel, innermost first: the address, then return addresses. Kernel
	 * addresses (with the highest bit set) come first. User addresses are missing if `stack` is there to
	 * be unwound.
	 */
	uint64_t *ips;
	uint64_t *regs;	      /* SAMPLE_HAS_REGS: HIT_REG_CNT of them, by enum hit_reg */
	uint32_t stack_size;  /* of what stood at regs[HIT_SP] and above, for stack_sample_stack() */
	bool is_stack_owned;  /* else it is in snapshot.file */
	const uint8_t *stack; /* it is here; NULL: in the pool */
	const struct stack_pool *pool;
	size_t pool_first; /* its first number there */
	struct sample_call call;
	/*
	 * WAKE_UP: the waker; SWITCH_IN: the thread that had the processor longest while this one could have
	 * run. tid 0: unknown, or none; SAMPLE_OUTSIDE: it has no number in the recorder's pid namespace;
	 * SAMPLE_THROTTLED: its cgroup had no time left (cpu.max).
	 * INTERRUPT: its name, and pid 1 of a softirq
	 */
	struct sample_thread other;
	uint64_t address;  /* PAGE_FAULT */
	uint64_t since_ns; /* LOST; of SAMPLE_IS_STILL: from here on it would have been seen running */
	uint64_t until_ns; /* INTERRUPT */
	uint64_t lost_cnt; /* LOST: number of records, 0: unknown */
};

enum { SAMPLE_STACK_MAX = 1 << 16 /* more than a record of perf.data can have */ };

/*
 * Its stack: where it is, or copied to `room`, which holds SAMPLE_STACK_MAX bytes, as many as a pool has.
 */
const uint8_t *stack_sample_stack(const struct stack_sample *sample, uint8_t *room);

/* SAMPLE_HAS_REGS from now on: room for them, all 0. NULL: out of memory. */
uint64_t *stack_sample_add_regs(struct stack_sample *sample);

/* Frees what it owns. */
void stack_sample_release(const struct stack_sample *sample);
