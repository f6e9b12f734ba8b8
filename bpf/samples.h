/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rings of the samples source, as its BPF programs (bpf/samples.bpf.c) fill them and
 * user/source/samples/ring.c reads them. Each processor has two, so that many switches do not push out the
 * samples:
 *
 *	SAMPLES_TICKS	samples of a clock or a counter, with the stack
 *	SAMPLES_MOMENTS	switches, wake-ups, system calls, page faults, and before them what they are about
 *
 * A ring is `bytes` long, with room behind it for the end of a record that begins near its end. Records stand
 * one behind the other at multiples of SAMPLES_ALIGN of an endless position; position P is at byte P % bytes.
 * A record's `mark` is its position combined with a secret number, and is written last. So a reader finds
 * where a record begins by looking at every multiple of SAMPLES_ALIGN, and what was overwritten or not
 * finished has no mark.
 *
 * A copy of a stack is cut into chunks of SAMPLES_CHUNK bytes, by address, and so are the registers before
 * it. A slot keeps what the last records said of a thread: the registers, and at A % SAMPLES_STACK_MAX the
 * chunk of address A, or of another one that has this place. A record holds the halves of words that
 * differ from its slot, and that has them from then on. In every SAMPLES_KEY_EVERY-th record the slot is
 * all 0 at first.
 *
 * Words that cannot be addresses are 0 in a copy, and in one that BPF makes also those that lead neither
 * to code nor into the thread's stack (bpf/samples_stack.bpf.h); so are registers there. The instruction
 * pointer is in the record.
 *
 * A system call that returns while its SAMPLES_ENTER is still the last record of its processor gets its
 * end put in there; else there is a SAMPLES_LEAVE. Now and then a record describes in full what a thread's
 * descriptor stands for; in between, SAMPLES_KNOWN refers to that record.
 */
#pragma once

#include <linux/types.h>

#include "user/arch/x86_64/registers.h"

enum samples_ring { SAMPLES_TICKS, SAMPLES_MOMENTS, SAMPLES_RING_CNT };

enum {
	SAMPLES_ALIGN = 16,
	SAMPLES_CHUNK = 64,
	SAMPLES_STACK = 1 << 14,     /* bytes of a copy */
	SAMPLES_STACK_MAX = 1 << 15, /* the same of a JVM's thread */
	SAMPLES_CHUNK_MAX = SAMPLES_STACK_MAX / SAMPLES_CHUNK,
	SAMPLES_REGS_CHUNKS = 3,     /* before those of the stack */
	SAMPLES_REGS_WORDS = 1 << 5, /* room for them, a power of two */
	SAMPLES_HALVES = SAMPLES_CHUNK / 4,
	SAMPLES_FRESH_MAX = (SAMPLES_REGS_CHUNKS + SAMPLES_CHUNK_MAX + 15) / 16,
	SAMPLES_CODED_CHUNK = 1 + SAMPLES_HALVES / 2 * 3, /* at most */
	SAMPLES_CODED_MAX =
		SAMPLES_FRESH_MAX + (SAMPLES_REGS_CHUNKS + SAMPLES_CHUNK_MAX) * SAMPLES_CODED_CHUNK,
	SAMPLES_ADDRESS_BITS = 48, /* the upper half of an address is 0 from here on */
	SAMPLES_SLOTS = 8,	   /* threads of a ring whose last copy is kept */
	SAMPLES_KEY_EVERY = 128,
	SAMPLES_KERNEL_MAX = 16, /* frames */
	SAMPLES_TARGETS_MAX = 1 << 14,
	SAMPLES_PIDS = 1 << 22,	   /* PID_MAX_LIMIT of the kernel */
	SAMPLES_ARGS = 3,	   /* of a system call */
	SAMPLES_COUNTERS_MAX = 16, /* events beside the clock */
	SAMPLES_NAME = 16,
	SAMPLES_LIVES_BYTES = 1 << 20,
	SAMPLES_RUNS = 8,	       /* of a processor that are remembered */
	SAMPLES_THREADS_MAX = 1 << 14, /* of which it is known since when they are ready */
	SAMPLES_ENDED_MAX = 1 << 12,   /* processes of which it is known which child ended last */
	SAMPLES_TOLD = 1 << 12,	       /* threads and descriptors */
	SAMPLES_TELL_EVERY = 16,       /* parts of a ring */
	SAMPLES_CODE_UNIT = 1 << 12,   /* bytes; see samples_code_word() */
	SAMPLES_CODE_WORDS = 1 << 16,
	SAMPLES_CODE_PART = 64 * SAMPLES_CODE_UNIT, /* of one word */
};

/* A thread's birth or end, or new code, in a ring of the kernel's. */
enum samples_life_kind {
	SAMPLES_BORN,
	SAMPLES_ENDED,
	SAMPLES_REPLACED, /* another thread than the leader has exec'd, and is the leader now */
	SAMPLES_MAPPED,	  /* there is code where it was not, or may not have been */
};

struct samples_life {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u32 pid, tid, kind, unused;
	char name[SAMPLES_NAME];
};

_Static_assert(sizeof(struct samples_life) == 40, "shared between BPF and user space");

/* What a process is, in the map of targets. */
enum samples_target {
	SAMPLES_TARGET = 1u << 0,
	SAMPLES_AT_EXEC = 1u << 1,   /* it will be one once it has exec'd */
	SAMPLES_ALL_WORDS = 1u << 2, /* its stacks keep all that may be an address */
};

enum samples_kind {
	SAMPLES_NONE, /* not a record yet */
	SAMPLES_TICK,
	SAMPLES_OUT,
	SAMPLES_IN,
	SAMPLES_WAKE,
	SAMPLES_ENTER,
	SAMPLES_LEAVE,
	SAMPLES_FAULT,
	SAMPLES_GONE,	   /* what came before it, in the ring that it was taken from */
	SAMPLES_ABOUT,	   /* struct samples_about */
	SAMPLES_INTERRUPT, /* its time is when it began */
};

enum samples_flag {
	SAMPLES_WITH_STACK = 1u << 0, /* struct samples_full */
	SAMPLES_CUT = 1u << 1,	      /* the stack goes on, or could not be copied now */
	SAMPLES_PREEMPT = 1u << 2,    /* SAMPLES_OUT */
	SAMPLES_IRQ = 1u << 3,	      /* SAMPLES_WAKE */
	SAMPLES_ONLY_TICKS = 1u << 4, /* SAMPLES_GONE */
	SAMPLES_TIMER = 1u << 5,      /* SAMPLES_WAKE */
	/*
	 * SAMPLES_ABOUT: its inode and all behind it are those told last for that thread and descriptor, in
	 * this ring. SAMPLES_OUT, SAMPLES_ENTER: so is all of what it is about, and has no timeout; the
	 * descriptor is the first argument.
	 */
	SAMPLES_KNOWN = 1u << 6,
	SAMPLES_UNTIMED = 1u << 7, /* with SAMPLES_KNOWN: the timeout is SAMPLES_FOREVER */
};

/* SAMPLES_IN: no thread had its processor, but its cgroup no time left (cpu.max). */
#define SAMPLES_THROTTLED ((__u32)-2)

/* The call has not returned yet; or a record of its own says when, because this one had been read before. */
enum samples_took { SAMPLES_NOT_YET, SAMPLES_TAKEN };

enum samples_interrupt {
	SAMPLES_IRQ_DEVICE,
	SAMPLES_IRQ_SOFT, /* by its number in linux/interrupt.h */
	SAMPLES_IRQ_CLOCK,
	SAMPLES_IRQ_FORMS,
};

struct samples_record {
	__u64 mark;    /* its position ^ samples_secret; 0: not finished */
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u16 size;    /* a multiple of SAMPLES_ALIGN */
	__u8 kind, flags;
	union {
		__u32 took_ns;	/* SAMPLES_ENTER: until it returned; or enum samples_took */
		__u32 switches; /* SAMPLES_OUT, SAMPLES_IN: of the thread so far; 0: not known */
	};
	__u32 pid, tid; /* as trailcam sees them: of its pid namespace */
	union {
		struct {
			__u64 period, kernel_ip; /* 0: it ran user code */
			__u64 ip;		 /* the user's, of one with a stack */
			__u32 event;
		} tick;
		/* SAMPLES_OUT, without a stack also SAMPLES_FAULT: why it waits */
		struct {
			__u64 ip; /* the user's */
			__u64 args[2];
			__s32 nr; /* system call; -1: none */
			__u32 state;
		} out;
		/*
		 * SAMPLES_WAKE: who did it; SAMPLES_IN: who had the processor longest
		 * meanwhile. tid 0: nobody;
		 * -1: a process outside of our pid namespace; SAMPLES_THROTTLED, and no name
		 */
		struct {
			__u32 pid, tid;
			char name[SAMPLES_NAME];
		} other;
		struct {
			__u64 args[SAMPLES_ARGS];
			__s32 nr;
			__s32 result; /* with took_ns */
		} enter;
		struct {
			__s64 result;
			__s32 nr;
		} leave;
		struct {
			__u64 address, ip;
		} fault;
		struct {
			__u64 cnt;	/* 0: not known */
			__u64 since_ns; /* 0: since the record before it */
		} gone;
		struct {
			__s64 timeout_ns; /* or enum samples_timeout */
			__u64 inode;	  /* its number; 0: no file is known */
			__s32 fd;
			__u16 mode; /* of the inode */
			__u8 form;  /* enum samples_form */
			__u8 state; /* of a socket, as struct sock_common has it */
			__u16 family, own_port, peer_port, type;
		} about;
		struct {
			__u64 end_ns;
			__u32 number, form;	 /* enum samples_interrupt */
			char name[SAMPLES_NAME]; /* of SAMPLES_IRQ_DEVICE */
		} interrupt;
	};
};

_Static_assert(sizeof(struct samples_record) == 64, "shared between BPF and user space");

/*
 * What the thread's next SAMPLES_OUT or SAMPLES_ENTER is about: the file behind its descriptor, and how long
 * it waits at most. No longer than it needs to be: `more` is there of those whose form says so.
 */
enum {
	SAMPLES_COMPONENT = 64,
	SAMPLES_COMPONENTS = 2,
	SAMPLES_ABOUT_MORE = SAMPLES_COMPONENTS * SAMPLES_COMPONENT
};

enum samples_form {
	SAMPLES_FORM_NONE, /* the inode is all there is */
	SAMPLES_FORM_IPV4, /* `more`: own address, the peer's */
	SAMPLES_FORM_IPV6, /* the same */
	SAMPLES_FORM_UNIX, /* `more`: its name, or its peer's; may begin with a 0, and has 0 at its end */
	SAMPLES_FORM_ANONYMOUS, /* `more`: "[eventfd]" */
	SAMPLES_FORM_PATH,	/* `more`: its name, then that of its directory, which is empty at the root */
};

enum samples_timeout { SAMPLES_FOREVER = -1, SAMPLES_NO_TIMEOUT = -2 /* or none that is known */ };

struct samples_about {
	struct samples_record record;
	__u8 more[SAMPLES_ABOUT_MORE];
};

_Static_assert(sizeof(struct samples_about) == 192, "shared between BPF and user space");

/* A thread that waits, as it is now. Who reads it twice sees whether the thread has run in between. */
struct samples_waiting {
	__u64 time_ns;	/* CLOCK_MONOTONIC */
	__u64 switches; /* of the thread so far */
	__u64 regs[ARCH_SAMPLED_CNT];
	__s32 nr; /* system call; -1: none */
	__u32 state;
	struct samples_about about; /* its pid and tid are the thread's */
};

/* What the arguments of a system call are, by its number. */
enum { SAMPLES_CALLS = 512 };

enum samples_call {
	SAMPLES_CALL_FD = 1u << 0,    /* the first is a file descriptor */
	SAMPLES_CALL_POLL = 1u << 1,  /* ... or leads to one */
	SAMPLES_CALL_FUTEX = 1u << 2, /* the fourth leads to its timeout, if it is a wait */
	SAMPLES_CALL_SLEEP = 1u << 3, /* the second says whether its time is absolute */
	/* What says how long it waits. */
	SAMPLES_CALL_MS = 1u << 4,
	SAMPLES_CALL_TIMESPEC = 1u << 5,
	SAMPLES_CALL_TIMEVAL = 1u << 6,
	SAMPLES_CALL_ARG = 7, /* this argument does, from this bit on */
};

/* With SAMPLES_WITH_STACK. Behind `coded`, at a multiple of 8, stands the kernel's stack. */
struct samples_full {
	struct samples_record record;
	__u16 chunk_cnt; /* of the copy, from the stack pointer rounded down on */
	__u16 coded_cnt;
	__u16 kernel_cnt;
	__u8 slot;
	__u8 nth; /* 0: all chunks are new; else the one after nth - 1 of this slot */
	/*
	 * Bits of the chunks that differ, those of the registers first, 16 in each; then of each of these a
	 * mask of the halves that differ (bit N: half N), and these, the lower 16 bits of each first. Of a
	 * word's upper half (odd N) those are all.
	 */
	__u16 coded[];
};

/* Where among `coded` the kernel's stack begins. */
static inline __attribute__((always_inline)) __u32 samples_kernel_at(const struct samples_full *full)
{
	return (full->coded_cnt + 3u) & ~3u;
}

/* How many of `coded` say which chunks differ. */
static inline __attribute__((always_inline)) __u32 samples_fresh_cnt(const struct samples_full *full)
{
	return (SAMPLES_REGS_CHUNKS + full->chunk_cnt + 15u) / 16;
}

_Static_assert(sizeof(struct samples_full) == 72, "shared between BPF and user space");

_Static_assert((int)SAMPLES_REGS_WORDS * 8 >= (int)SAMPLES_REGS_CHUNKS * SAMPLES_CHUNK &&
		       (int)SAMPLES_REGS_CHUNKS * SAMPLES_CHUNK >= (int)ARCH_SAMPLED_CNT * 8,
	       "all registers");

enum {
	SAMPLES_RECORD_MAX =
		sizeof(struct samples_full) + 2 * SAMPLES_CODED_MAX + 8 * SAMPLES_KERNEL_MAX + SAMPLES_ALIGN,
};

_Static_assert(SAMPLES_RECORD_MAX < 1 << 16, "a record's size has 16 bits");

/*
 * Which memory of the targets may hold code is kept for all of them together, a bit for each unit, in words
 * of 64. Units that are SAMPLES_CODE_WORDS words apart, 16 GiB, share a bit. A bit that is set stays.
 */
static inline __attribute__((always_inline)) __u32 samples_code_word(__u64 address)
{
	return address / SAMPLES_CODE_PART % SAMPLES_CODE_WORDS;
}

static inline __attribute__((always_inline)) __u32 samples_code_nth(__u64 address)
{
	return address / SAMPLES_CODE_UNIT % 64;
}

/* Of the word of `at`, those of the units between it and `end`. */
static inline __attribute__((always_inline)) __u64 samples_code_bits(__u64 at, __u64 end)
{
	__u64 last = at | (SAMPLES_CODE_PART - 1);

	if (last >= end)
		last = end - 1;
	return (~0ull << samples_code_nth(at)) & (~0ull >> (63 - samples_code_nth(last)));
}

/* One ring's, on a line of the cache of its own. */
struct samples_head {
	__u64 head;    /* the position of the next record */
	__u64 entered; /* that of the last SAMPLES_ENTER */
	__u64 unused[6];
};

_Static_assert(sizeof(struct samples_head) == 64, "shared between BPF and user space");
