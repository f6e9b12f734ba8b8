/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/timing.h"

#include <intel-pt.h>

enum {
	FRACTION = 8,		  /* bits, of the cycle length */
	MTC_BITS = 8,		  /* of an MTC's payload */
	TMA_CTC_MASK = 0xffff,	  /* of a TMA's */
	SKL168_CYCLES = 0xf00,	  /* a little less than the 4096 that a lost CYC stood for */
	SKL168_MTC_FREQ_MAX = 10, /* longer periods hide it */
};

static void cycle_forget(struct cycle_length *cycle)
{
	*cycle = (struct cycle_length){.min = UINT64_MAX};
}

static bool cycle_is_known(const struct cycle_length *cycle)
{
	return cycle->min <= cycle->max;
}

static void cycle_set(struct cycle_length *cycle, uint64_t value)
{
	cycle->value = value;
	if (value < cycle->min)
		cycle->min = value;
	if (value > cycle->max)
		cycle->max = value;
}

void timing_init(struct timing *timing, const struct pt_config *config)
{
	*timing = (struct timing){
		.ratio_n = config->cpuid_0x15_ebx,
		.ratio_d = config->cpuid_0x15_eax,
		.mtc_freq = config->mtc_freq,
		.nom_freq = config->nom_freq,
		.skl168 = config->errata.skl168,
	};
	cycle_forget(&timing->cycle);
	timing->cycle.after_psb = timing->skl168;
}

/* From one count of the crystal clock, as MTCs give it, to a later one: at most one wrap. */
static bool ctc_delta(const struct timing *timing, uint32_t from, uint32_t to, uint32_t *ret_delta)
{
	if (to < from)
		to += 1u << (timing->mtc_freq + MTC_BITS);
	*ret_delta = to - from;
	return to >= from;
}

static bool has_ratio(const struct timing *timing)
{
	return timing->ratio_n && timing->ratio_d;
}

static uint64_t ctc_to_ticks(const struct timing *timing, uint32_t ctc)
{
	return (uint64_t)ctc * timing->ratio_n / timing->ratio_d;
}

void timing_tsc(struct timing *timing, uint64_t tsc, bool in_header)
{
	struct cycle_length *cycle = &timing->cycle;
	uint64_t last = cycle->tsc, cycles = cycle->cycles_since_tsc;

	cycle->tsc = tsc;
	cycle->cycles_since_tsc = 0;
	/* Elsewhere it may stand behind a loss of time. A TSC counts 56 bits. */
	if (in_header && last && cycles && !cycle->has_mtc)
		cycle_set(cycle, ((tsc - last + (tsc < last ? 1ull << 56 : 0)) << FRACTION) / cycles);
	timing->has_tsc = true;
	timing->has_tma = timing->has_mtc = false;
	timing->tsc = timing->base = tsc;
	timing->ctc = 0;
	timing->fast = 0;
	timing->lost_cyc = 0;
}

bool timing_tma(struct timing *timing, uint32_t ctc, uint32_t fast)
{
	unsigned int bits = timing->mtc_freq + MTC_BITS;

	if (!timing->has_tsc || timing->has_tma || timing->has_mtc)
		return false;
	timing->has_tma = true;
	timing->base -= fast;
	timing->fast += fast;
	/* It has as much of the count as MTCs have, or their low bits only. */
	timing->has_mtc = bits <= 16;
	timing->ctc = timing->ctc_cyc = ctc & ((1u << bits) - 1);
	return true;
}

static bool calibrate_by_mtc(struct timing *timing, uint32_t ctc)
{
	struct cycle_length *cycle = &timing->cycle;
	uint64_t cycles = cycle->cycles_since_mtc, ticks, length;
	bool after_psb = cycle->after_psb;
	uint32_t last = cycle->ctc, delta;

	cycle->after_psb = false;
	if (!cycle->has_mtc) {
		cycle->cycles_since_mtc = 0;
		cycle->ctc = ctc;
		cycle->has_mtc = true;
		return true;
	}
	if (!cycles)
		return true;
	cycle->cycles_since_mtc = 0;
	cycle->ctc = ctc;
	if (!ctc_delta(timing, last, ctc, &delta))
		return false;
	if (!has_ratio(timing))
		return true;
	ticks = ctc_to_ticks(timing, delta);
	length = (ticks << FRACTION) / cycles;
	if (after_psb) {
		if (1u << timing->mtc_freq < delta)
			return true;
		if (timing->mtc_freq < SKL168_MTC_FREQ_MAX && cycle_is_known(cycle) &&
		    cycle->value * (cycles + SKL168_CYCLES) >> FRACTION < ticks)
			return true;
	}
	cycle_set(cycle, length);
	return true;
}

bool timing_mtc(struct timing *timing, uint8_t payload)
{
	uint32_t ctc = (uint32_t)payload << timing->mtc_freq, last = timing->ctc, delta;
	bool has_mtc = timing->has_mtc;

	if (!calibrate_by_mtc(timing, ctc))
		return false;
	if (timing->has_tsc && !timing->has_tma)
		return true;
	if (timing->fast || timing->lost_cyc || !has_mtc)
		timing->ctc_cyc = ctc;
	timing->has_mtc = true;
	timing->fast = 0;
	timing->ctc = ctc;
	timing->lost_cyc = 0;
	if (!has_mtc) {
		uint32_t low = ctc & TMA_CTC_MASK, high = ctc & ~(uint32_t)TMA_CTC_MASK;

		if (!timing->has_tma)
			return true;
		/* The TMA told the low bits; the high ones are this MTC's, or those before. */
		if (low < last) {
			high -= TMA_CTC_MASK + 1;
			high &= 0xffu << timing->mtc_freq;
		}
		last |= high;
	}
	if (!ctc_delta(timing, last, ctc, &delta))
		return false;
	if (has_ratio(timing))
		timing->tsc = timing->base += ctc_to_ticks(timing, delta);
	return true;
}

/* A CYC behind several MTCs counts cycles of the periods before, too. False: it makes no sense. */
static bool without_earlier(const struct timing *timing, uint64_t *cycles)
{
	uint64_t earlier;
	uint32_t delta;

	if (timing->ctc == timing->ctc_cyc)
		return true;
	if (!ctc_delta(timing, timing->ctc_cyc, timing->ctc, &delta))
		return false;
	if (!has_ratio(timing))
		return true;
	earlier = (ctc_to_ticks(timing, delta) << FRACTION) / timing->cycle.value;
	*cycles -= *cycles < earlier ? *cycles : earlier;
	return true;
}

bool timing_cyc(struct timing *timing, uint64_t cycles)
{
	struct cycle_length *cycle = &timing->cycle;
	bool was_known = cycle_is_known(cycle) && cycle->value;

	cycle->cycles_since_mtc += cycles;
	cycle->cycles_since_tsc += cycles;
	if (!was_known) {
		timing->lost_cyc++;
		return true;
	}
	if (!timing->fast) {
		if (!has_ratio(timing) && timing->ctc != timing->ctc_cyc)
			return true;
		if (!without_earlier(timing, &cycles))
			return false;
	}
	timing->fast += cycles * cycle->value >> FRACTION;
	timing->tsc = timing->base + timing->fast;
	return true;
}

bool timing_cbr(struct timing *timing, uint8_t ratio, bool in_header)
{
	/* Elsewhere it tells that the frequency changes: what was measured is worth nothing. */
	if (!in_header)
		cycle_forget(&timing->cycle);
	if (!ratio)
		return false;
	if (timing->nom_freq)
		cycle_set(&timing->cycle, ((uint64_t)timing->nom_freq << FRACTION) / ratio);
	return true;
}

void timing_overflow(struct timing *timing)
{
	cycle_forget(&timing->cycle);
}
