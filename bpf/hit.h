/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hit as the BPF program writes it to its ring. Only user/trigger knows this form; it converts it to a
 * struct caught_hit (user/model/hit.h).
 *
 *	struct hit_record | values to be printed | copy of the stack | return addresses by frame pointers
 *	                  | value_bytes          | copy_room         | HIT_FRAMES_FEW or HIT_STACK_MAX
 *
 * Most stacks are short. The size of a record must be known before it is filled in, and cannot change, so
 * there are two sizes.
 */
#pragma once

#include <linux/types.h>

#include "bpf/hit_action.h"
#include "user/arch/x86_64/registers.h"

enum { HIT_FRAMES_FEW = 16 };

struct hit_record {
	__u64 time_ns;	/* CLOCK_MONOTONIC */
	__u64 begin_ns; /* as in struct hit, like all members without a comment */
	__u64 top;	/* the word at the top of the stack; 0: unreadable */
	__u32 cpu;
	__u32 pid;
	__u32 tid;
	__u32 trigger;
	__u32 action;
	__u32 args_known;
	__u32 layout;	 /* struct firing's (bpf/rule.h) */
	__u32 frame_cnt; /* innermost first: [0] is the probed ip */
	__u32 value_bytes;
	__u32 copy_room;
	/* size of the copy of memory from regs[HIT_SP] up: less than copy_room near the end of the stack */
	__u32 copy_bytes;
	__u32 unused;
	__u64 regs[HIT_REG_CNT];
	__u64 args[HIT_ARG_CNT];
	char comm[HIT_COMM_BYTES];
	__u8 tail[];
};

_Static_assert(sizeof(struct hit_record) == 72 + 8 * HIT_REG_CNT + 8 * HIT_ARG_CNT + HIT_COMM_BYTES,
	       "struct hit_record is shared with BPF: no padding");
