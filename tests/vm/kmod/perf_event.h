/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stands between the kernel's intel_pt driver (arch/x86/events/intel/pt.c, which includes
 * "../perf_event.h" last) and the processor: here it drives the software processor of soft_pt.c instead.
 * Symbols that vmlinux exports get other names.
 */
#pragma once

#include <linux/perf_event.h>
#include <linux/smp.h>

#include "soft_pt.h"

enum { x86_lbr_exclusive_pt };

#undef rdmsrl
#undef wrmsrl
#undef rdmsrq
#undef wrmsrq
#undef boot_cpu_has
#undef arch_initcall
#undef perf_event_itrace_started

#define rdmsrl(msr, value)		   ((value) = soft_pt_rdmsr(msr))
#define wrmsrl(msr, value)		   soft_pt_wrmsr(msr, value)
#define rdmsrq(msr, value)		   rdmsrl(msr, value)
#define wrmsrq(msr, value)		   wrmsrl(msr, value)
#define rdmsrl_safe_on_cpu(cpu, msr, ret)  (-EIO)
#define rdmsrq_safe_on_cpu(cpu, msr, ret)  (-EIO)
#define cpuid(leaf, a, b, c, d)		   soft_pt_cpuid(leaf, 0, a, b, c, d)
#define cpuid_count(leaf, sub, a, b, c, d) soft_pt_cpuid(leaf, sub, a, b, c, d)
#define boot_cpu_has(feature)		   ((feature) == X86_FEATURE_INTEL_PT)
#define x86_del_exclusive(what)		   ((void)0)
static inline int x86_add_exclusive(unsigned int what)
{
	return 0;
}

/* Not exported; kernel/events/core.c has the same line. */
#define perf_event_itrace_started(event)	    ((event)->attach_state |= PERF_ATTACH_ITRACE)
/* Not exported; only AUX sampling needs it, which is not tested. */
#define perf_output_copy_aux(aux, handle, from, to) 0
#define arch_initcall(fn)                \
	int __init soft_pt_driver(void); \
	int __init soft_pt_driver(void)  \
	{                                \
		return fn();             \
	}

#define intel_pt_validate_cap	 soft_pt_validate_cap
#define intel_pt_validate_hw_cap soft_pt_validate_hw_cap
#define intel_pt_handle_vmx	 soft_pt_handle_vmx
#define intel_pt_interrupt	 soft_pt_interrupt
#define cpu_emergency_stop_pt	 soft_pt_emergency_stop
#define is_intel_pt_event	 soft_pt_is_event
