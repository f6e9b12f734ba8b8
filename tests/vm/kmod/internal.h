/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A processor with Intel PT in software. The kernel's own driver writes its registers (registers.c) and gives
 * it tables of physical addresses, into which it writes packets (output.c); what it executes it learns by
 * single-stepping user code with EFLAGS.TF (engine.c). User mode and 64-bit code only.
 */
#pragma once

#include <linux/percpu.h>
#include <linux/sched.h>

#include "soft_pt.h"
#include "source/encoder.h"

enum { SOFT_RANGES = 2, SOFT_CRYSTAL_RATIO = 64 };

struct soft_cpu {
	u64 ctl, status, output_base, output_mask; /* IA32_RTIT_* */
	u64 range_begin[SOFT_RANGES], range_end[SOFT_RANGES];
	struct trace_params params; /* ctl, as the encoder takes it */
	struct encoder encoder;
	struct task_struct *running; /* in user mode, single-stepped */
	u64 ip;			     /* the instruction it executes next */
	long until_overflow;
	int losing; /* instructions still to be lost */
};

DECLARE_PER_CPU(struct soft_cpu, soft_cpu);

/* To be called before the driver is. */
void soft_pt_output_init(void);

/* IA32_RTIT_CTL.TraceEn changed; interrupts are off. */
void soft_pt_trace_on(struct soft_cpu *cpu);
void soft_pt_trace_off(struct soft_cpu *cpu);

/* A range that stops the trace was entered, or a region with STOP is full. */
void soft_pt_stopped(struct soft_cpu *cpu);

bool soft_pt_tracing(const struct soft_cpu *cpu);

/* What the ranges say about ip. */
bool soft_pt_in_filter(const struct soft_cpu *cpu, u64 ip);
bool soft_pt_in_stop_range(const struct soft_cpu *cpu, u64 ip);

enum soft_kind {
	SOFT_OTHER,
	SOFT_COND,
	SOFT_DIRECT,
	SOFT_CALL,
	SOFT_CALL_NEXT,
	SOFT_CALL_INDIRECT,
	SOFT_INDIRECT,
	SOFT_RETURN
};

/* An instruction, and zeros behind what can be read; no instruction is longer than 15 bytes. */
enum { SOFT_CODE_BYTES = 16, SOFT_MOV_SS_BYTES = 2 };
struct soft_code {
	u8 bytes[SOFT_CODE_BYTES + 8];
	size_t size;
};
void soft_pt_read_code(u64 ip, struct soft_code *ret_code);

/* After `mov %reg, %ss` the trap comes one instruction late. */
bool soft_pt_is_mov_ss(const struct soft_code *code);

/* The kind of the instruction at ip, and for SOFT_COND where it goes on if not taken. */
enum soft_kind soft_pt_classify(u64 ip, const struct soft_code *code, u64 *ret_next);

/* The log of instructions retired, in /sys/kernel/debug/soft_pt/log; a write empties it. */
int soft_pt_log_init(void);
void soft_pt_log(u64 ip, u64 sp, bool lost);
