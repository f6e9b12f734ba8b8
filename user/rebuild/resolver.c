/* SPDX-License-Identifier: BSD-2-Clause */
#include "rebuild/resolver.h"

#include <stdio.h>

#include "arch/arch.h"
#include "base/bisect.h"

/* What stands for a function where no code is known. */
static const struct symbol nowhere = {
	.name = "[unknown]", .object = "[unknown]", .end = UINT64_MAX, .is_divided = true};

/* The version of the image in force at that TSC. */
static size_t version_at(const struct history_process *process, uint64_t tsc)
{
	return BISECT_LAST(process->version_cnt, i, process->versions[i].start_tsc <= tsc);
}

/* Most of what is asked for is of the last version, and was asked for before. */
static const struct symbol *process_symbol_at(const struct history_process *process, size_t version,
					      uint64_t ip)
{
	_Atomic(const struct symbol *) *recent = &process->recent[(ip >> 4 ^ ip >> 16) % HISTORY_RECENT];
	const struct symbol *symbol = NULL;

	if (version + 1 == process->version_cnt)
		symbol = atomic_load_explicit(recent, memory_order_acquire);
	if (symbol && symbol_owns(symbol, ip))
		return symbol;
	symbol = image_symbol_at(process->image, version, ip);
	if (symbol && version + 1 == process->version_cnt)
		atomic_store_explicit(recent, symbol, memory_order_release);
	return symbol;
}

const struct symbol *resolver_symbol_at(void *ctx, uint64_t ip, uint64_t tsc)
{
	const struct resolver *resolver = ctx;
	const struct symbol *symbol;

	if (arch_is_kernel(ip) && resolver->kernel) {
		symbol = image_symbol_at(resolver->kernel, 0, ip);
		return symbol ? symbol : &nowhere;
	}
	if (!resolver->process)
		return &nowhere;
	symbol = process_symbol_at(resolver->process, version_at(resolver->process, tsc), ip);
	return symbol ? symbol : &nowhere;
}

uint64_t resolver_time_ns(void *ctx, uint64_t tsc)
{
	const struct resolver *resolver = ctx;
	/* Times before the clock's beginning are negative. */
	int64_t ns = (int64_t)(trace_clock_ns(&resolver->snapshot->clock, tsc) - resolver->base_ns);

	return ns > 0 ? (uint64_t)ns : 0;
}

/* How many execs have been. */
uint64_t resolver_space_at(void *ctx, uint64_t tsc)
{
	const struct resolver *resolver = ctx;
	size_t cnt = 0;

	while (resolver->process && cnt < resolver->process->exec_cnt && resolver->process->execs[cnt] <= tsc)
		cnt++;
	return cnt;
}

enum landing resolver_landing(void *ctx, uint64_t call_ip, uint64_t handler, uint64_t tsc)
{
	const struct resolver *resolver = ctx;

	if (!resolver->process)
		return LANDING_UNKNOWN;
	return image_catches(resolver->process->image, version_at(resolver->process, tsc), call_ip, handler);
}

/* Packets tell the time of a loss behind it: the reason is that of the first one that is not earlier. */
char *resolver_gap_text(void *ctx, const struct branch *gap)
{
	const struct resolver *resolver = ctx;
	const struct snapshot *snapshot = resolver->snapshot;
	char *text;

	for (size_t i = 0; gap->gap == GAP_OVERFLOW && i < snapshot->gap_reason_cnt; i++) {
		const struct gap_reason *reason = &snapshot->gap_reasons[i];
		uint64_t ns = trace_clock_from_monotonic(&snapshot->clock, reason->time_ns);

		if (reason->tid == resolver->tid && trace_clock_tsc(&snapshot->clock, ns) >= gap->tsc)
			return asprintf(&text, "[gap: %s]", reason->text) < 0 ? NULL : text;
	}
	return branch_gap_text(gap);
}

const struct inline_chain *resolver_inlines_at(void *ctx, uint64_t ip, uint64_t tsc, uint64_t *ret_end)
{
	const struct resolver *resolver = ctx;

	if (!resolver->process)
		return NULL;
	return image_inlines_at(resolver->process->image, version_at(resolver->process, tsc), ip, ret_end);
}
