/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The packet generator of a software processor: told what a program does, it writes the Intel PT packets that
 * a processor would (SDM vol. 3, chapter "Intel Processor Trace", section "Trace Packets"), into an AUX ring.
 *
 * The caller reports, in program order, every instruction that can change the control flow. Times are TSC
 * values of the software processor and never run back. An ip is always that of the next instruction to
 * execute, unless said otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/trace_params.h"
#include "source/aux_ring.h"

enum { ENCODER_RETURN_STACK = 64 };

struct encoder {
	struct aux_ring ring;
	const struct trace_params *params;
	uint64_t psb_period; /* bytes between PSBs */
	uint64_t psb_at;     /* ring.head at the last PSB; UINT64_MAX: none yet */
	bool psb_wanted;     /* write a PSB at the next chance, whatever the period */
	bool enabled;
	bool mode_known;  /* MODE.Exec stands in the stream since the last PSB */
	uint64_t last_ip; /* what the next ip is compressed against ... */
	bool full_ip;	  /* ... unless it must be written in full */
	uint32_t tnt_bits;
	uint8_t tnt_cnt;
	uint64_t tnt_tsc; /* when the newest bit was added */
	uint64_t led_to;  /* where the newest packet says that control is; 0: it does not say */
	bool led_by_branch;
	uint64_t cyc_tsc; /* what the packets so far say the time is */
	uint64_t mtc;	  /* MTC count at the last MTC or TMA */
	uint64_t returns[ENCODER_RETURN_STACK];
	uint32_t return_top; /* index of the next push */
	uint32_t return_cnt;
};

/* A TSC at 1 GHz counting CLOCK_MONOTONIC's nanoseconds: what the step source's processor looks like. */
struct trace_params encoder_default_params(void);
struct trace_clock encoder_default_clock(void);

/* `params` must outlive the encoder; `ring_size` as aux_ring_init(). 0 or -ENOMEM. */
int encoder_init(struct encoder *encoder, const struct trace_params *params, size_t ring_size);
void encoder_release(struct encoder *encoder);

/* Tracing starts or goes on at ip. */
void encoder_enable(struct encoder *encoder, uint64_t tsc, uint64_t ip);
/* Tracing ends with the far transfer just reported by nothing else (syscall). */
void encoder_disable(struct encoder *encoder, uint64_t tsc);
/* Tracing ends before the instruction at ip: signal, fault, the tracer stops. */
void encoder_disable_async(struct encoder *encoder, uint64_t tsc, uint64_t ip);
/*
 * Tracing ends with the branch to ip, reported by nothing else: it is outside of the ranges that are traced.
 */
void encoder_disable_at(struct encoder *encoder, uint64_t tsc, uint64_t ip);

void encoder_conditional(struct encoder *encoder, uint64_t tsc, bool taken);
/* So many of them, at most 64; a bit of each, the newest one lowest. */
void encoder_conditionals(struct encoder *encoder, uint64_t tsc, uint64_t taken, unsigned int cnt);
void encoder_indirect(struct encoder *encoder, uint64_t tsc, uint64_t to);
/* A near call, direct or indirect: its return address may be compressed later. No packet. */
void encoder_push_return(struct encoder *encoder, uint64_t return_address);
void encoder_return(struct encoder *encoder, uint64_t tsc, uint64_t to);

/*
 * Control is at ip, where direct branches have led that have no packets, and the time is `tsc`: as a
 * processor says of a place that it is not in a transaction (SDM, "MODE.TSX").
 */
void encoder_position(struct encoder *encoder, uint64_t tsc, uint64_t ip);

/* At an instruction boundary: writes PSB+ if one is due. */
void encoder_boundary(struct encoder *encoder, uint64_t tsc, uint64_t ip);

/* Writes buffered TNT bits now. */
void encoder_flush(struct encoder *encoder);

/* Writes what tells the time, behind buffered TNT bits. */
void encoder_time(struct encoder *encoder, uint64_t tsc);

/* Packets were lost; tracing goes on at ip (if it is enabled). */
void encoder_overflow(struct encoder *encoder, uint64_t tsc, uint64_t ip);
