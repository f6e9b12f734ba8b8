/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

#include <linux/types.h>

/* The software processor, as the driver sees it: registers and CPUID. */
u64 soft_pt_rdmsr(u32 msr);
void soft_pt_wrmsr(u32 msr, u64 value);
void soft_pt_cpuid(u32 leaf, u32 sub, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx);

/* The driver, as the software processor sees it. */
int soft_pt_driver(void);
void soft_pt_interrupt(void);
