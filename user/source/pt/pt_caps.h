/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The abilities of this processor's Intel PT, as the kernel lists them in
 * /sys/bus/event_source/devices/intel_pt (arch/x86/events/intel/pt.c: type, caps/, max_nonturbo_ratio,
 * tsc_art_ratio; after CPUID leaf 0x14), and the configuration that follows from it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace_params.h"
#include "source/source.h"

#define PT_SYSFS "/sys/bus/event_source/devices/intel_pt"

struct pt_caps {
	uint32_t type;		   /* perf_event_attr.type */
	bool psb_cyc;		   /* cycle-accurate mode, and a choice of PSB periods */
	bool mtc;		   /* timing packets of the crystal clock */
	bool ptwrite;		   /* values that the program writes into the trace */
	uint32_t mtc_periods;	   /* bit N: mtc_period=N is supported; the same for the next two */
	uint32_t cycle_thresholds; /* ... cyc_thresh=N */
	uint32_t psb_periods;	   /* ... psb_period=N */
	uint32_t address_ranges;   /* how many filters */
	uint8_t max_nonturbo_ratio;
	uint32_t tsc_ctc_ratio_n, tsc_ctc_ratio_d; /* 0: unknown; MTC packets then carry no time */
};

bool pt_is_here(const char *dir);

/*
 * `dir` is PT_SYSFS. 0; -ENOTSUP with a sentence: this machine has no Intel PT. Fields that an older kernel
 * does not provide are 0.
 */
int pt_caps_read(struct pt_caps *ret_caps, const char *dir);

/*
 * "low", "normal", "high", or "custom:" with a list such as cyc=1,cyc_thresh=2,mtc_period=3 (keys as in the
 * kernel's format/ directory).
 * -EINVAL with a sentence.
 */
int pt_timing_parse(struct pt_timing *ret_timing, const char *text);

/*
 * perf_event_attr.config, for a ring of that size, which must hold several PSBs. -ENOTSUP: a requested value
 * is not supported, with a sentence that lists those that are.
 */
int pt_caps_config(const struct pt_caps *caps, const struct pt_timing *timing, size_t ring_size,
		   uint64_t *ret_config);

/* With the processor's family, model and stepping by CPUID; all 0 if it is not Intel's. */
struct trace_params pt_caps_params(const struct pt_caps *caps, uint64_t config);
