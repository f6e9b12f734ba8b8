// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Registers, and where packets go: SDM vol. 3, "Intel Processor Trace", sections "Trace Output" (tables of
 * physical addresses, single range) and "IA32_RTIT_* MSRs".
 */
#include <asm/msr-index.h>
#include <asm/tsc.h>
#include <linux/io.h>
#include <linux/irq_work.h>
#include <linux/mm.h>

#include "internal.h"

/* An entry of a table (SDM, "ToPA Table Entry Format"). */
#define ENTRY_END	  BIT_ULL(0)
#define ENTRY_INT	  BIT_ULL(2)
#define ENTRY_STOP	  BIT_ULL(4)
#define ENTRY_SIZE(entry) (4096ull << ((entry) >> 6 & 15))
#define ENTRY_BASE(entry) ((entry)&GENMASK_ULL(51, 12))

DEFINE_PER_CPU(struct soft_cpu, soft_cpu);

/* ---- the interrupt of a full region ---- */

static void interrupt(struct irq_work *work)
{
	soft_pt_interrupt();
}

static DEFINE_PER_CPU(struct irq_work, interrupts);

void soft_pt_output_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) init_irq_work(per_cpu_ptr(&interrupts, cpu), interrupt);
}

/* ---- packets ---- */

static u64 *entry_at(struct soft_cpu *cpu)
{
	u64 *table = phys_to_virt(cpu->output_base & PAGE_MASK);

	return &table[(u32)cpu->output_mask >> 7];
}

static void set_output(struct soft_cpu *cpu, u32 index, u32 offset)
{
	cpu->output_mask = (u64)offset << 32 | (u64)index << 7 | 0x7f;
}

/* The region is full: to the next one. The offset stays at its end where it stops. */
static void next_region(struct soft_cpu *cpu)
{
	u64 entry = *entry_at(cpu);

	if (entry & ENTRY_INT)
		irq_work_queue(this_cpu_ptr(&interrupts));
	if (entry & ENTRY_STOP) {
		cpu->status |= RTIT_STATUS_STOPPED;
		return;
	}
	set_output(cpu, ((u32)cpu->output_mask >> 7) + 1, 0);
	entry = *entry_at(cpu);
	if (entry & ENTRY_END) {
		cpu->output_base = ENTRY_BASE(entry);
		set_output(cpu, 0, 0);
	}
}

static void write_table(struct soft_cpu *cpu, const u8 *bytes, size_t size)
{
	while (size && !(cpu->status & RTIT_STATUS_STOPPED)) {
		u64 entry = *entry_at(cpu);
		u32 offset = cpu->output_mask >> 32;
		size_t chunk = min_t(size_t, size, ENTRY_SIZE(entry) - offset);

		memcpy(phys_to_virt(ENTRY_BASE(entry) + offset), bytes, chunk);
		bytes += chunk;
		size -= chunk;
		cpu->output_mask += (u64)chunk << 32;
		if (offset + chunk == ENTRY_SIZE(entry))
			next_region(cpu);
	}
}

static void write_range(struct soft_cpu *cpu, const u8 *bytes, size_t size)
{
	u32 mask = cpu->output_mask, offset = cpu->output_mask >> 32;

	while (size--) {
		*(u8 *)phys_to_virt(cpu->output_base + offset) = *bytes++;
		offset = (offset + 1) & mask;
	}
	cpu->output_mask = (u64)offset << 32 | mask;
}

/* The encoder's ring: only its head is used. */
void aux_ring_write(struct aux_ring *ring, const void *bytes, size_t size)
{
	struct soft_cpu *cpu = container_of(ring, struct soft_cpu, encoder.ring);

	ring->head += size;
	if (cpu->ctl & RTIT_CTL_TOPA)
		write_table(cpu, bytes, size);
	else
		write_range(cpu, bytes, size);
}

int aux_ring_init(struct aux_ring *ring, size_t size)
{
	return 0;
}

void aux_ring_release(struct aux_ring *ring)
{
}

/* ---- registers ---- */

bool soft_pt_tracing(const struct soft_cpu *cpu)
{
	return (cpu->ctl & RTIT_CTL_TRACEEN) && (cpu->ctl & RTIT_CTL_USR) &&
	       (cpu->ctl & RTIT_CTL_BRANCH_EN) && !(cpu->status & RTIT_STATUS_STOPPED);
}

static unsigned int range_config(const struct soft_cpu *cpu, int range)
{
	return cpu->ctl >> (RTIT_CTL_ADDR0_OFFSET + 4 * range) & 15;
}

static bool in_ranges(const struct soft_cpu *cpu, u64 ip, unsigned int config, bool otherwise)
{
	for (int i = 0; i < SOFT_RANGES; i++) {
		if (range_config(cpu, i) != config)
			continue;
		otherwise = false;
		if (ip >= cpu->range_begin[i] && ip <= cpu->range_end[i])
			return true;
	}
	return otherwise;
}

bool soft_pt_in_filter(const struct soft_cpu *cpu, u64 ip)
{
	return in_ranges(cpu, ip, 1, true);
}

bool soft_pt_in_stop_range(const struct soft_cpu *cpu, u64 ip)
{
	return in_ranges(cpu, ip, 2, false);
}

/* IA32_RTIT_STATUS.PacketByteCnt: 0 makes the next packet a PSB. */
static u64 byte_cnt(const struct soft_cpu *cpu)
{
	const struct encoder *encoder = &cpu->encoder;

	return encoder->psb_at == U64_MAX ? 0 : min(encoder->ring.head - encoder->psb_at, 0x1ffffull);
}

u64 soft_pt_rdmsr(u32 msr)
{
	struct soft_cpu *cpu = this_cpu_ptr(&soft_cpu);

	switch (msr) {
	case MSR_PLATFORM_INFO:
		return (tsc_khz / 100000) << 8;
	case MSR_IA32_RTIT_CTL:
		return cpu->ctl;
	case MSR_IA32_RTIT_STATUS:
		return cpu->status | byte_cnt(cpu) << RTIT_STATUS_BYTECNT_OFFSET;
	case MSR_IA32_RTIT_OUTPUT_BASE:
		return cpu->output_base;
	case MSR_IA32_RTIT_OUTPUT_MASK:
		return cpu->output_mask;
	}
	return 0;
}

static void write_ctl(struct soft_cpu *cpu, u64 ctl)
{
	bool was_on = cpu->ctl & RTIT_CTL_TRACEEN, on = ctl & RTIT_CTL_TRACEEN;

	if (was_on && !on)
		soft_pt_trace_off(cpu);
	cpu->ctl = ctl;
	cpu->params.config = ctl;
	cpu->encoder.psb_period = 2048ull << (ctl >> 24 & 15);
	if (!was_on && on)
		soft_pt_trace_on(cpu);
}

static void write_register(struct soft_cpu *cpu, u32 msr, u64 value)
{
	switch (msr) {
	case MSR_IA32_RTIT_CTL:
		write_ctl(cpu, value);
		break;
	case MSR_IA32_RTIT_STATUS:
		cpu->status = value & ~RTIT_STATUS_BYTECNT;
		if (!(value & RTIT_STATUS_BYTECNT))
			cpu->encoder.psb_at = U64_MAX;
		break;
	case MSR_IA32_RTIT_OUTPUT_BASE:
		cpu->output_base = value;
		break;
	case MSR_IA32_RTIT_OUTPUT_MASK:
		cpu->output_mask = value;
		break;
	case MSR_IA32_RTIT_ADDR0_A ... MSR_IA32_RTIT_ADDR1_B:
		if ((msr - MSR_IA32_RTIT_ADDR0_A) & 1)
			cpu->range_end[(msr - MSR_IA32_RTIT_ADDR0_A) / 2] = value;
		else
			cpu->range_begin[(msr - MSR_IA32_RTIT_ADDR0_A) / 2] = value;
		break;
	}
}

void soft_pt_wrmsr(u32 msr, u64 value)
{
	unsigned long flags;

	local_irq_save(flags);
	write_register(this_cpu_ptr(&soft_cpu), msr, value);
	local_irq_restore(flags);
}

/*
 * Leaf 0x14 (Intel PT): cycle-accurate mode, ranges, MTC; tables with many entries and a single range; MTC
 * every 2^3, 2^6 or 2^9 crystal ticks, PSB every 2K to 64K. Leaf 0x15: a crystal of 1/64 of the TSC.
 */
void soft_pt_cpuid(u32 leaf, u32 sub, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	*eax = *ebx = *ecx = *edx = 0;
	if (leaf == 0x15) {
		*eax = 1;
		*ebx = SOFT_CRYSTAL_RATIO;
	} else if (leaf == 0x14 && sub == 0) {
		*eax = 1;
		*ebx = BIT(1) | BIT(2) | BIT(3);
		*ecx = BIT(0) | BIT(1) | BIT(2);
	} else if (leaf == 0x14 && sub == 1) {
		*eax = SOFT_RANGES | BIT(16 + 3) | BIT(16 + 6) | BIT(16 + 9);
		*ebx = 0x3f << 16 | 0x7;
	}
}
