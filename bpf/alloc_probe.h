/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What bpf/alloc.bpf.c and user/source/alloc/ tell each other beside the records: what a probed function
 * does, and how a sample lies in the ring.
 */
#pragma once

#include <linux/types.h>

#include "bpf/alloc.h"
#include "bpf/usdt_arg.h"
#include "user/arch/x86_64/registers.h"

enum alloc_call {
	ALLOC_CALL_NEW,	   /* returns memory */
	ALLOC_CALL_NEW_AT, /* stores its address where the pointer argument says, and returns 0 */
	/* ends the memory of the pointer argument, and returns other; on failure does neither */
	ALLOC_CALL_RESIZE,
	ALLOC_CALL_RESIZE_IN_PLACE, /* returns the size that the memory of the pointer argument has now */
	ALLOC_CALL_FREE,
	/*
	 * mmap(2), mremap(2): as the two above, for memory that no file gives, and of which something can be
	 * read or written; they fail with a negative number
	 */
	ALLOC_CALL_MAP,
	ALLOC_CALL_REMAP,
	/*
	 * USDT probes of an allocator that samples for itself (OpenTelemetry's otel_memory:alloc and :free)
	 */
	ALLOC_USDT_ALLOC,     /* address, size, bytes that it stands for */
	ALLOC_USDT_FREE,      /* address */
	ALLOC_USDT_FORGOTTEN, /* address, of which nothing more will be told (preload/probes.h) */
};

enum { ALLOC_USDT_MAX = 64, ALLOC_USDT_ARGS = 3 };

enum { ALLOC_NO_ARG = HIT_ORIG_RAX };

/*
 * One probed function; travels as the probe's cookie. Arguments are the registers (enum hit_reg, below 16)
 * that hold them at the probe.
 */
struct alloc_role {
	__u16 function;	      /* its index */
	__u8 call;	      /* enum alloc_call */
	__u8 size_arg : 4;    /* bytes ... */
	__u8 count_arg : 4;   /* ... times this one, or ALLOC_NO_ARG */
	__u8 pointer_arg : 4; /* or ALLOC_NO_ARG */
	/* calls from here do not count: one more than an index of alloc_ranges; 0: all count */
	__u8 range : 3;
	__u8 nests : 1;			  /* it may call other probed functions, which do not count then */
	__u8 prot_arg : 4, flags_arg : 4; /* of ALLOC_CALL_MAP */
	/* so many bytes the stack pointer is lower at the probe than at the function's beginning */
	__u16 pushed : 15;
	__u16 exits : 1; /* its end is seen at return instructions; it may also end by an exception, unseen */
};

_Static_assert(sizeof(struct alloc_role) == sizeof(__u64), "it is a cookie");

/* A piece of code around a probe: so many bytes before and behind it. */
struct alloc_range {
	__u64 before, behind;
};

enum { ALLOC_RANGES_MAX = 4 }; /* role.range holds 7 */

enum {
	ALLOC_IPS_MAX = 127,
	ALLOC_STACK_MAX = 64 << 10,
	ALLOC_STACK_STEP = 512,
	ALLOC_INTERVAL_MAX = 1 << 30
};

/* A record of ALLOC_SAMPLED; one of ALLOC_FREED is its struct alloc alone. */
struct alloc_sample {
	struct alloc alloc;
	__u64 regs[HIT_REG_CNT];   /* the caller's, when the function has returned */
	__u32 ip_cnt, stack_bytes; /* one of them is 0 */
	__u8 tail[];		   /* return addresses, innermost first; or the stack from rsp on */
};

/* What is known of a sampled allocation that is alive, by its address. */
struct live {
	__u64 began_ns, size, samples;
};

/* Of one processor, padded to a cache line. */
struct alloc_totals {
	__u64 calls, bytes;
	__u64 unused[6];
};

enum { ALLOC_TOTALS_MAX = 256 };
