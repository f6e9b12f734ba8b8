/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A snapshot: one frozen, linear copy of every AUX ring, with the sideband, the clocks and the hits. It is the
 * hand-off from capture to decode: a source fills it, recording/ saves and loads it, the pipeline decodes it.
 * Plain data; everything it points to is its own.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/hit.h"

/*
 * What a decoder must know of the processor that wrote the packets. The step source describes a software
 * processor here. Fields as CPUID leaf 0x15 (SDM vol. 2) and perf's intel_pt PMU give them.
 */
struct trace_params {
	uint32_t pmu_type; /* perf_event_attr.type of intel_pt; any number for the step source */
	uint64_t
		config; /* perf_event_attr.config as the intel_pt format files lay it out (RTIT_CTL's bits) */
	uint16_t family; /* 0/0/0: no processor known, no errata apply */
	uint8_t model;
	uint8_t stepping;
	uint8_t max_nonturbo_ratio; /* nominal frequency in units of 100 MHz; what CBR is relative to */
	uint32_t tsc_ctc_ratio_n;   /* CPUID 0x15 EBX: TSC = crystal clock * n / d */
	uint32_t tsc_ctc_ratio_d;   /* CPUID 0x15 EAX */
};

/* Bits of trace_params.config (arch/x86/include/asm/intel_pt.h, /sys/bus/event_source/devices/intel_pt/format). */
#define TRACE_CONFIG_PT	       (1ull << 0)
#define TRACE_CONFIG_CYC       (1ull << 1)
#define TRACE_CONFIG_MTC       (1ull << 9)
#define TRACE_CONFIG_TSC       (1ull << 10)
#define TRACE_CONFIG_NORETCOMP (1ull << 11)
#define TRACE_CONFIG_BRANCH    (1ull << 13)
#define TRACE_CONFIG_MTC_SHIFT 14
#define TRACE_CONFIG_MTC_MASK  0x3c000ull
#define TRACE_CONFIG_CYC_SHIFT 19
#define TRACE_CONFIG_PSB_SHIFT 24
#define TRACE_CONFIG_PSB_MASK  0xf000000ull

/*
 * TSC to nanoseconds of the recording's clock, as perf_event_mmap_page defines it:
 *	ns = zero + (tsc >> shift) * mult + (((tsc & ((1 << shift) - 1)) * mult) >> shift)
 */
struct trace_clock {
	uint32_t mult;
	uint16_t shift;
	uint64_t zero;
	/* One moment on both clocks, to give trace times in wall-clock time and hits on the trace's clock. */
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC ... */
	uint64_t trace_ns;     /* ... on the recording's clock ... */
	uint64_t realtime_ns;  /* ... and CLOCK_REALTIME */
};

uint64_t trace_clock_ns(const struct trace_clock *clock, uint64_t tsc);

/* The first TSC whose time is at least `ns`. */
uint64_t trace_clock_tsc(const struct trace_clock *clock, uint64_t ns);

/* CLOCK_MONOTONIC to the recording's clock. */
uint64_t trace_clock_from_monotonic(const struct trace_clock *clock, uint64_t monotonic_ns);

/* One AUX ring, oldest byte first. cpu is -1 for a ring that belongs to one thread; tid is -1 for a CPU's ring. */
struct aux_trace {
	int32_t pid, tid, cpu;
	uint64_t offset;  /* of bytes[0] in the endless stream: what came before was overwritten */
	uint64_t ref_tsc; /* a TSC near the first timing packet: never 0 (perf crashes on 0) */
	uint8_t *bytes;
	size_t size;
};

/*
 * Code bytes that files on disk do not give: the vDSO, JIT code, patched pages. In a snapshot that was loaded,
 * `path` names the file that holds them (offset 0); in one to be saved, `bytes` holds them and path is NULL.
 */
struct code_copy {
	int32_t pid;
	uint64_t addr;
	uint64_t size;
	char *name; /* what the mapping was called: "[vdso]", "//anon", or a file's path */
	uint8_t *bytes;
	char *path;
};

struct snapshot {
	struct trace_params params;
	struct trace_clock clock;
	char *source;	  /* "step" or "intel_pt" */
	char *stopped_by; /* what keeps the trace from being overwritten after a hit; "" where there is none */
	char *command;	  /* the target's command line, for people; never NULL in a saved snapshot */
	struct aux_trace *aux;
	size_t aux_cnt, aux_cap;
	/* perf records (PERF_RECORD_MMAP2, COMM, EXIT, ...), each with the sample_id trailer of SIDEBAND_ID_BYTES,
	 * in time order (source/sideband.h) */
	uint8_t *sideband;
	size_t sideband_size, sideband_cap;
	struct hit *hits; /* in time order */
	size_t hit_cnt, hit_cap;
	char **triggers; /* trigger names; hit.trigger is an index */
	size_t trigger_cnt, trigger_cap;
	struct code_copy *copies;
	size_t copy_cnt, copy_cap;
};

int snapshot_new(struct snapshot **ret_snapshot);
void snapshot_free(struct snapshot *snapshot);

/* Appends an empty aux_trace or code_copy, or NULL when out of memory. The pointer is good until the next append. */
struct aux_trace *snapshot_add_aux(struct snapshot *snapshot);
struct code_copy *snapshot_add_copy(struct snapshot *snapshot);

DEFINE_CLEANUP(struct snapshot *, snapshot_free)
