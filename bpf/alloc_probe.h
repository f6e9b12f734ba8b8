/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface of bpf/alloc.bpf.c and user/source/alloc/ besides the records: what a probed function does,
 * and the layout of a sample in the ring.
 */
#pragma once

#include <linux/types.h>

#include "bpf/alloc.h"
#include "bpf/usdt_arg.h"
#include "user/arch/x86_64/registers.h"

enum alloc_call {
	ALLOC_CALL_NEW,	   /* returns memory */
	ALLOC_CALL_NEW_AT, /* stores the address at the pointer argument, and returns 0 */
	/* frees the memory of the pointer argument and returns new memory; on failure neither */
	ALLOC_CALL_RESIZE,
	ALLOC_CALL_RESIZE_IN_PLACE, /* returns the new size of the memory of the pointer argument */
	ALLOC_CALL_FREE,
	/*
	 * mmap(2), mremap(2): as NEW and RESIZE, for anonymous readable or writable memory; failure is a
	 * negative number
	 */
	ALLOC_CALL_MAP,
	ALLOC_CALL_REMAP,
	/* USDT probes of an allocator that samples by itself (OpenTelemetry's otel_memory:alloc and :free) */
	ALLOC_USDT_ALLOC,     /* address, size, bytes that the sample stands for */
	ALLOC_USDT_FREE,      /* address */
	ALLOC_USDT_FORGOTTEN, /* address that will not be reported again (preload/probes.h) */
};

enum { ALLOC_USDT_MAX = 64, ALLOC_USDT_ARGS = 3 };

enum { ALLOC_NO_ARG = HIT_ORIG_RAX };

/* A probed function, as the probe's cookie. Arguments are registers (enum hit_reg, below 16) at the probe. */
struct alloc_role {
	__u16 function;	      /* its index */
	__u8 call;	      /* enum alloc_call */
	__u8 size_arg : 4;    /* bytes requested */
	__u8 count_arg : 4;   /* factor of size_arg, or ALLOC_NO_ARG */
	__u8 pointer_arg : 4; /* or ALLOC_NO_ARG */
	/* 1 + index of the range in alloc_ranges whose calls do not count; 0: all count */
	__u8 range : 3;
	__u8 nests : 1;			  /* calls of other probed functions within it do not count */
	__u8 prot_arg : 4, flags_arg : 4; /* of ALLOC_CALL_MAP */
	/* how far the stack pointer is lower than at the function's beginning, in bytes */
	__u16 pushed : 15;
	__u16 exits : 1; /* its end is probed at return instructions; an end by an exception is not seen */
};

_Static_assert(sizeof(struct alloc_role) == sizeof(__u64), "it is a cookie");

/* A range of code around a probe: bytes before and after it. */
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

/* A record of ALLOC_SAMPLED; one of ALLOC_FREED may be its struct alloc alone. */
struct alloc_sample {
	struct alloc alloc;
	__u64 regs[HIT_REG_CNT];   /* of the caller, after the return */
	__u32 ip_cnt, stack_bytes; /* one of them is 0 */
	__u8 tail[];		   /* return addresses, innermost first; or the stack from rsp */
};

/* A live sampled allocation, by its address. */
struct live {
	__u64 began_ns, size, samples;
};

/* The totals of one processor, padded to a cache line. */
struct alloc_totals {
	__u64 calls, bytes;
	__u64 unused[6];
};

enum { ALLOC_TOTALS_MAX = 256 };
