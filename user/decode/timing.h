/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time from timing packets (SDM vol. 3, "Intel Processor Trace", Trace Packets and Data Types: TSC, TMA, MTC,
 * CYC, CBR). TSC gives the time. MTC counts the crystal clock, and TMA gives its value at the TSC. CYC counts
 * core cycles; their length follows from the number between two MTCs or TSCs, or at first from the
 * core-to-bus ratio and the nominal frequency.
 *
 * The arithmetic is that of libipt's decoders, with its rounding, so that both give the same times.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pt_config;

/* TSC ticks per core cycle, in 1/256. */
struct cycle_length {
	uint64_t value, min, max; /* min > max: unknown */
	uint64_t tsc;		  /* the last TSC; 0: none */
	uint64_t cycles_since_tsc, cycles_since_mtc;
	uint32_t ctc;
	bool has_mtc;
	bool after_psb; /* cycles may have been lost before it (erratum SKL168) */
};

struct timing {
	uint64_t tsc; /* valid with has_tsc */
	bool has_tsc;

	/* parameters of the processor */
	uint32_t ratio_n, ratio_d; /* TSC ticks per tick of the crystal clock */
	uint8_t mtc_freq, nom_freq;
	bool skl168;

	bool has_tma, has_mtc;
	uint64_t base; /* TSC at the last MTC (or TSC, or TMA) */
	uint64_t fast; /* ticks since then, by CYC */
	uint32_t ctc;  /* at the last MTC */
	uint32_t ctc_cyc;
	uint32_t lost_cyc;
	struct cycle_length cycle;
};

/* Restarts at a PSB. */
void timing_init(struct timing *timing, const struct pt_config *config);

/* Process one packet; `in_header`: it is between PSB and PSBEND. False: the packet is invalid here. */
void timing_tsc(struct timing *timing, uint64_t tsc, bool in_header);
bool timing_tma(struct timing *timing, uint32_t ctc, uint32_t fast);
bool timing_mtc(struct timing *timing, uint8_t payload);
bool timing_cyc(struct timing *timing, uint64_t cycles);
bool timing_cbr(struct timing *timing, uint8_t ratio, bool in_header);

/* Packets were lost: forgets the measured cycle length. */
void timing_overflow(struct timing *timing);
