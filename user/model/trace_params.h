/* SPDX-License-Identifier: BSD-2-Clause */
/* How PT packets were written, and what their times mean. This header needs no other. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * What a decoder needs to know about the processor that wrote the packets. The step source describes a
 * software processor. Fields are as in CPUID leaf 0x15 (SDM vol. 2) and perf's intel_pt PMU.
 */
struct trace_params {
	uint32_t pmu_type; /* perf_event_attr.type of intel_pt; any number for the step source */
	/* perf_event_attr.config as the intel_pt format files lay it out (RTIT_CTL's bits) */
	uint64_t config;
	uint16_t family; /* 0/0/0: unknown processor, no errata apply */
	uint8_t model;
	uint8_t stepping;
	uint8_t max_nonturbo_ratio; /* nominal frequency in units of 100 MHz; CBR is relative to it */
	uint32_t tsc_ctc_ratio_n;   /* CPUID 0x15 EBX: TSC = crystal clock * n / d */
	uint32_t tsc_ctc_ratio_d;   /* CPUID 0x15 EAX */
};

/*
 * Bits of trace_params.config (arch/x86/include/asm/intel_pt.h,
 * /sys/bus/event_source/devices/intel_pt/format).
 */
#define TRACE_CONFIG_PT		(1ull << 0)
#define TRACE_CONFIG_CYC	(1ull << 1)
#define TRACE_CONFIG_FUP_ON_PTW (1ull << 5)
#define TRACE_CONFIG_MTC	(1ull << 9)
#define TRACE_CONFIG_TSC	(1ull << 10)
#define TRACE_CONFIG_NORETCOMP	(1ull << 11)
#define TRACE_CONFIG_PTW	(1ull << 12)
#define TRACE_CONFIG_BRANCH	(1ull << 13)
#define TRACE_CONFIG_MTC_SHIFT	14
#define TRACE_CONFIG_MTC_MASK	0x3c000ull
#define TRACE_CONFIG_CYC_SHIFT	19
#define TRACE_CONFIG_PSB_SHIFT	24

/*
 * TSC to nanoseconds of the recording's clock, as perf_event_mmap_page defines it:
 *	ns = zero + (tsc >> shift) * mult + (((tsc & ((1 << shift) - 1)) * mult) >> shift)
 */
struct trace_clock {
	uint32_t mult;
	uint16_t shift;
	uint64_t zero;
	/*
	 * The same moment on three clocks, to convert hits to the trace's clock and trace times to wall-clock
	 * time.
	 */
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC */
	uint64_t trace_ns;     /* the recording's clock */
	uint64_t realtime_ns;  /* CLOCK_REALTIME */
};

uint64_t trace_clock_ns(const struct trace_clock *clock, uint64_t tsc);

/* The first TSC whose time is at least `ns`. */
uint64_t trace_clock_tsc(const struct trace_clock *clock, uint64_t ns);

/* CLOCK_MONOTONIC to the recording's clock. */
uint64_t trace_clock_from_monotonic(const struct trace_clock *clock, uint64_t monotonic_ns);

/* A TSC near the first timing packet in `bytes`; `otherwise` if there is none. Never 0. */
uint64_t trace_first_tsc(const uint8_t *bytes, size_t size, uint64_t otherwise);
