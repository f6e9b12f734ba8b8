/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hit: one firing of a trigger, as the BPF program records it and as everything above hands it on. The layout
 * is part of the recording (recording/recording.h): change it only together with HIT_VERSION.
 */
#pragma once

#include <linux/types.h>

/* As many arguments as a USDT probe has at most (sys/sdt.h). */
enum { HIT_VERSION = 4, HIT_STACK_MAX = 64, HIT_COMM_BYTES = 16, HIT_ARG_CNT = 12 };

/* Index into hit.regs: the order of struct pt_regs (arch/x86/include/uapi/asm/ptrace.h), which is user ABI. */
enum hit_reg {
	HIT_R15,
	HIT_R14,
	HIT_R13,
	HIT_R12,
	HIT_RBP,
	HIT_RBX,
	HIT_R11,
	HIT_R10,
	HIT_R9,
	HIT_R8,
	HIT_RAX,
	HIT_RCX,
	HIT_RDX,
	HIT_RSI,
	HIT_RDI,
	HIT_ORIG_RAX, /* no meaning in a uprobe */
	HIT_RIP,
	HIT_CS,
	HIT_EFLAGS,
	HIT_RSP,
	HIT_SS,
	HIT_REG_CNT,
};

/* What the program does with a hit; chosen per probe, carried in the link's cookie. */
enum hit_action {
	HIT_RECORD = 0,	     /* note it, the recording goes on */
	HIT_STOP = 1u << 0,  /* ends the recording: user space is woken */
	HIT_START = 1u << 1, /* the thread is stopped (SIGSTOP) where it is, for a source that starts here */
	/* at a return instruction: `begin_ns` and `args` are those of the call's beginning, the registers and the stack what its caller has next */
	HIT_RETURN = 1u << 2,
	/* arg0 may be when something began, in ns (user/trailcam.h): if it can be, it is `begin_ns` */
	HIT_MARK = 1u << 3,
};

struct hit {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u32 cpu;
	__u32 pid; /* thread group id; both in the pid namespace of the recording trailcam, 0 for a process outside of it */
	__u32 tid;
	__u32 trigger;	 /* which trigger: index into the snapshot's trigger names */
	__u32 action;	 /* enum hit_action */
	__u32 stack_cnt; /* entries of `stack` */
	__u64 begin_ns; /* when the call that ends here, what a mark is about, or the way between two places began; else time_ns */
	__u32 args_known; /* bit N: args[N] is an argument; the others are 0 */
	__u32 unused;
	__u64 args
		[HIT_ARG_CNT]; /* when the call began: as the ABI or the note of a USDT probe says (probe/arg_layout.h) */
	__u64 stopped_ns; /* HIT_STOP: from when on the trace that led here could no longer be overwritten; user space fills it in */
	__u64 goroutine; /* its number, where a Go program was hit and it is known, else 0; user space fills it in */
	__u64 return_address; /* of the function at rip, 0 where it is not known; of a return: rip */
	__u64 regs[HIT_REG_CNT];
	__u64 stack
		[HIT_STACK_MAX]; /* user call stack, innermost first: [0] is the probed ip, the others are return addresses */
	char comm[HIT_COMM_BYTES];
};

_Static_assert(sizeof(struct hit) ==
		       72 + 8 * HIT_ARG_CNT + 8 * HIT_REG_CNT + 8 * HIT_STACK_MAX + HIT_COMM_BYTES,
	       "struct hit is shared with BPF and stored in recordings: no padding");

/* How a hit comes from the BPF program: its stack is that by frame pointers, its return_address the word at the top of the stack, whatever that is. */
struct hit_record {
	struct hit hit;
	__u32 copy_bytes; /* of `copy`: less than was asked for near the end of the stack */
	__u32 layout;	  /* struct firing's (bpf/rule.h) */
	__u32 value_bytes;
	__u32 unused;
	__u8 tail
		[]; /* the values to be printed (condition/prints.h); then the copy: what stood at regs[HIT_RSP] and above */
};
