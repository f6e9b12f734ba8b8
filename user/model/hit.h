/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hit: one firing of a trigger. A recording may have a million hits, so they are stored compactly:
 * registers and arguments without leading zeros, equal call stacks once.
 *
 *	struct caught_hit	one hit in full, to fill in
 *	struct hit		one hit of a list
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/cleanup.h"
#include "bpf/hit_action.h"

enum { HIT_STATE_CNT = HIT_REG_CNT + HIT_ARG_CNT };

/* What the text of a printed value shows. Recordings have these numbers; 0 stands for no text there. */
enum value_kind {
	VALUE_TEXT = 1,
	VALUE_NUMBER,  /* decimal, of 64 bits, signed */
	VALUE_POINTER, /* hexadecimal, with 0x */
};

struct hit {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	/* when the call, the marked operation or the way between two places began; else time_ns */
	uint64_t begin_ns;
	/* HIT_STOP: from this time on the trace before the hit could not be overwritten */
	uint64_t stopped_ns;
	uint64_t goroutine; /* the goroutine's number if known, else 0 */
	/* the return address of the function that was hit, 0 if unknown; of a return: the hit's place */
	uint64_t return_address;
	uint32_t cpu;
	/* thread group id. pid and tid are of trailcam's pid namespace, 0 for a process outside of it */
	uint32_t pid;
	uint32_t tid;
	uint32_t trigger;    /* index into the snapshot's trigger names */
	uint16_t action;     /* enum hit_action */
	uint16_t args_known; /* bit N: argument N is known; the others are 0 */
	uint16_t stack_cnt;  /* in a snapshot at least 1 */
	char comm[HIT_COMM_BYTES];
	/*
	 * registers and arguments, packed (base/containers/packed.h): see hit_reg(), hit_arg(); owned by the
	 * list
	 */
	const uint8_t *state;
	/*
	 * the call stack, innermost first: [0] is the hit's place, the others are return addresses; owned by
	 * the list
	 */
	const uint64_t *stack;
};

struct caught_hit {
	struct hit hit; /* without `state` and `stack` */
	union {
		struct {
			uint64_t regs[HIT_REG_CNT];
			/*
			 * at the beginning of the call, by the ABI or the note of the USDT probe
			 * (probe/args/arg_layout.h)
			 */
			uint64_t args[HIT_ARG_CNT];
		};
		uint64_t state[HIT_STATE_CNT];
	};
	uint64_t stack[HIT_STACK_MAX]; /* hit.stack_cnt of them */
};

/* Registers and arguments of a hit in a list. */
uint64_t hit_reg(const struct hit *hit, enum hit_reg reg);
uint64_t hit_arg(const struct hit *hit, unsigned int nth);
void hit_unpack(const struct hit *hit, struct caught_hit *ret_caught);

/* False: the program had ended, so that there were no registers, no stack and no processor. */
bool hit_has_registers(const struct hit *hit);

/* Whether a call's return was recorded: the hit's place is then the return address. */
bool hit_is_return(const struct hit *hit);

/* "rdi"; NULL for a register that hits do not have. */
const char *hit_reg_name(enum hit_reg reg);

/* A list of hits, reference-counted. The hits do not move while the list lives. */
struct hit_list {
	struct hit **hits;
	size_t cnt, cap;
	struct hit_words *words;
	unsigned int owner_cnt;
};

int hit_list_new(struct hit_list **ret_list);

/* Adds an owner and returns the list. */
struct hit_list *hit_list_share(struct hit_list *list);

/* Removes an owner; the last one frees the list. */
void hit_list_free(struct hit_list *list);

/* Appends a hit. 0 or -ENOMEM. */
int hit_list_add(struct hit_list *list, const struct caught_hit *caught);

/* Replaces the list's `hit` by `caught`. 0 or -ENOMEM. */
int hit_list_change(struct hit_list *list, struct hit *hit, const struct caught_hit *caught);

/* Memory that the list uses, in bytes. */
size_t hit_list_bytes(const struct hit_list *list);

DEFINE_CLEANUP(struct hit_list *, hit_list_free)
