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
 *	arg0->conn->fd		what an argument points to, where the debug information tells its type: -> . and names of fields
 *	arg0 ... arg11		integer arguments, where the probe has them (probe/arg_layout.h); with ret or elapsed: as they were when the call began
 *	rax ... r15 rip rsp eflags	registers (%rax and $rax are the same); eax ... r15d are their low halves, signed
 *	ret elapsed		the call's return value and duration: the condition is then judged when the call returns
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
 * -EINVAL: the text is not an expression of this kind; the sentence ends in two more lines that show the
 * place. -ENOENT: no such cgroup.
 */
int condition_parse(struct condition **ret_condition, const char *text);

/*
 * The same with the fields of arguments looked up (condition/condition_fields.h), errors of which are errors
 * here. Without, they are taken for numbers, to check the text only.
 */
int condition_parse_with(struct condition **ret_condition, const char *text,
			 const struct field_lookup *fields);
void condition_free(struct condition *condition);

/* Whether it asks for `ret` or `elapsed`, which are known only when the call returns. */
bool condition_asks_return(const struct condition *condition);

/* Whether it asks for `ret`. */
bool condition_asks_result(const struct condition *condition);

/* Bit N: it asks for argN. */
uint32_t condition_asks_args(const struct condition *condition);

/* Whether it asks for `elapsed`. */
bool condition_asks_elapsed(const struct condition *condition);

/* Whether it reads the program's memory: the BPF program must then be allowed to sleep (BPF_F_SLEEPABLE). */
bool condition_reads_memory(const struct condition *condition);

/* How the program is to know pids: those of the pid namespace (dev, ino); ino 0 is the initial one. */
struct pid_namespace {
	uint64_t dev, ino;
};

/* What a copy of a BPF program is to do in judge(). */
struct condition_code {
	const struct prints *prints;	   /* NULL: none */
	const struct condition *condition; /* NULL: it always holds */
	const struct arg_layout *const
		*layouts; /* arguments are read as firing.layout says; ARGS_C: they have been */
	size_t layout_cnt;
	bool args_may_miss;
	const struct pid_namespace *ns;
};

/*
 * The body of judge() in bpf/trigger.bpf.c: r1 is struct pt_regs *, r2 is struct firing *, r3 is NULL or
 * where the values to be printed go. Gives 1 where the condition holds, 0 where not, -1 where memory or an
 * argument that it asks for is not there. *ret_insns is the caller's to free. -EINVAL: too deeply nested;
 * -ENOMEM.
 */
int condition_emit(const struct condition_code *wanted, struct bpf_insn **ret_insns, size_t *ret_cnt);

DEFINE_CLEANUP(struct condition *, condition_free)
