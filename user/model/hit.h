/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hit: one firing of a trigger. There may be a million of them, so what they hold is kept small: registers
 * and arguments without their leading zeros, each call stack once, however many hits have it.
 *
 *	struct caught_hit	one hit with all its numbers, for whoever fills it in
 *	struct hit		one of a list
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/cleanup.h"
#include "bpf/hit_action.h"

enum { HIT_STATE_CNT = HIT_REG_CNT + HIT_ARG_CNT };

struct hit {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t
		/*
		 * when the call that ends here, what a mark is about, or the way between two places began;
		 * else time_ns
		 */
		begin_ns;
	uint64_t
		/* HIT_STOP: from when on the trace that led here could no longer be overwritten */
		stopped_ns;
	uint64_t goroutine; /* its number, where a Go program was hit and it is known, else 0 */
	uint64_t
		/* of the function at the hit's place, 0 where it is not known; of a return: that place */
		return_address;
	uint32_t cpu;
	uint32_t
		/*
		 * thread group id; both in the pid namespace of the recording trailcam, 0 for a process
		 * outside of it
		 */
		pid;
	uint32_t tid;
	uint32_t trigger;    /* index into the snapshot's trigger names */
	uint16_t action;     /* enum hit_action */
	uint16_t args_known; /* bit N: argument N is one; the others are 0 */
	uint16_t stack_cnt;  /* in a snapshot at least 1 */
	char comm[HIT_COMM_BYTES];
	const uint8_t *
		/* the list's: registers and arguments, packed (base/packed.h); see hit_reg(), hit_arg() */
		state;
	const uint64_t *
		/*
		 * the list's: the call stack, innermost first: [0] is the hit's place, the others are return
		 * addresses
		 */
		stack;
};

struct caught_hit {
	struct hit hit; /* without `state` and `stack` */
	union {
		struct {
			uint64_t regs[HIT_REG_CNT];
			uint64_t args
				[HIT_ARG_CNT]; /* when the call began: as the ABI or the note of a USDT probe says (probe/arg_layout.h) */
		};
		uint64_t state[HIT_STATE_CNT];
	};
	uint64_t stack[HIT_STACK_MAX]; /* hit.stack_cnt of them */
};

/* Of a hit in a list. */
uint64_t hit_reg(const struct hit *hit, enum hit_reg reg);
uint64_t hit_arg(const struct hit *hit, unsigned int nth);
void hit_unpack(const struct hit *hit, struct caught_hit *ret_caught);

/* Whether it was recorded when a call returned: it then stands where that led. */
bool hit_is_return(const struct hit *hit);

/* "rdi"; NULL for what has no meaning in a hit. */
const char *hit_reg_name(enum hit_reg reg);

/* Hits, which stay where they are as long as the list lives. It may have several owners. */
struct hit_list {
	struct hit **hits;
	size_t cnt, cap;
	struct hit_words *words;
	unsigned int owner_cnt;
};

int hit_list_new(struct hit_list **ret_list);

/* One more owner; returns the list. */
struct hit_list *hit_list_share(struct hit_list *list);

/* One owner less; the last one frees it. */
void hit_list_free(struct hit_list *list);

/* Appends a hit. 0 or -ENOMEM. */
int hit_list_add(struct hit_list *list, const struct caught_hit *caught);

/* Puts `caught` in place of the list's `hit`. 0 or -ENOMEM. */
int hit_list_change(struct hit_list *list, struct hit *hit, const struct caught_hit *caught);

/* Bytes of memory that the list takes. */
size_t hit_list_bytes(const struct hit_list *list);

DEFINE_CLEANUP(struct hit_list *, hit_list_free)
