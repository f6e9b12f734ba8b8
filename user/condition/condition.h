/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions: a C-like expression over what a probe can see, compiled to BPF instructions that the kernel
 * runs at the probe.
 *
 *	arg0 > 4096 && *(int *)(arg1 + 8) == 3
 *	ret < 0 && elapsed > 5ms
 *	comm == "nginx" || str(arg0) == "GET *"
 *
 * Operators and their precedence are C's: || && | ^ & == != < <= > >= << >> + - * / % ! ~ - * (load) (TYPE)
 * []. Values are 64-bit and signed, unless a cast or the size of what is loaded says otherwise; / and % are
 * unsigned. Words:
 *
 *	len, req->conn->fd	parameters by their names, with their types, and constants of enums, by the
 *				debug information; the other words here come first
 *	point.x			a field of a struct that is passed by value
 *	arg0->conn->fd		what an argument points to, where the debug information tells its
 *				type: -> . and names of fields
 *	arg0 ... arg11		integer arguments, where the probe has them (probe/args/arg_layout.h); with
 *				ret or elapsed: as they were when the call began
 *	rax ... r15 rip rsp eflags	registers (%rax and $rax are the same); eax ... r15d are
 *					their low halves, signed
 *	ret elapsed		the call's return value and duration: the condition is then
 *				judged when the call returns
 *	pid tid cpu cgroup	of the thread; cgroup == "PATH" holds in that cgroup and below
 *	comm			the thread's name, for == and != with a string
 *	str(P)			the text at P, for == and != with a string
 *	4096 0x10 'x' 4k 5ms	numbers; k M G are powers of 1024; ns us ms s give nanoseconds
 *
 * A string that ends in * matches what begins like it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct arg_layout;
struct bpf_insn;
struct field_lookup;
struct condition;
struct prints;

/*
 * Parses a condition. -EINVAL: not a valid expression; two more lines of the sentence show the place.
 * -ENOENT: no such cgroup.
 */
int condition_parse(struct condition **ret_condition, const char *text);

/*
 * The same, looking up fields of arguments (condition/condition_fields.h) and returning the errors of that.
 * condition_parse() takes names and fields for numbers: it checks the text only.
 */
int condition_parse_with(struct condition **ret_condition, const char *text,
			 const struct field_lookup *fields);
void condition_free(struct condition *condition);

/* Whether it uses `ret` or `elapsed`, which are known only when the call returns. */
bool condition_asks_return(const struct condition *condition);

/* Whether it uses `ret`. */
bool condition_asks_result(const struct condition *condition);

/* Bit N: it uses argN. */
uint32_t condition_asks_args(const struct condition *condition);

/* Whether it uses `elapsed`. */
bool condition_asks_elapsed(const struct condition *condition);

/* Whether it reads the target's memory; the BPF program must then be allowed to sleep (BPF_F_SLEEPABLE). */
bool condition_reads_memory(const struct condition *condition);

/* The code for judge() in a copy of a BPF program. */
struct condition_code {
	const struct prints *prints;	   /* NULL: none */
	const struct condition *condition; /* NULL: always true */
	const struct arg_layout *const
		*layouts; /* indexed by firing.layout; ARGS_C: the arguments are read already */
	size_t layout_cnt;
	bool args_may_miss;
};

/*
 * Emits the body of judge() in bpf/trigger.bpf.c. r1 is struct pt_regs *, r2 is struct firing *, r3 is the
 * buffer for printed values or NULL. Returns 1 if the condition holds, 0 if not, -1 if memory or an argument
 * is missing. The caller frees *ret_insns. -EINVAL with a sentence: too large; -ENOMEM.
 */
int condition_emit(const struct condition_code *wanted, struct bpf_insn **ret_insns, size_t *ret_cnt);

DEFINE_CLEANUP(struct condition *, condition_free)
