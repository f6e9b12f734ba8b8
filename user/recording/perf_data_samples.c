/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples as perf writes them: an event for ticks, and one for each other kind of sample, of perf's type
 * "bpf-output". Each sample has the kernel's part of the call stack, the user registers and the copy of the
 * user stack, from which `perf script` and `perf report` unwind. Its raw data holds what perf has no field
 * for.
 */
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "model/sideband.h"
#include "recording/packer.h"
#include "recording/perf_sample.h"

#define SAMPLE_FIELDS                                                                          \
	(SIDEBAND_SAMPLE_TYPE | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | \
	 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

enum { STACK_MAX = 1 << 15, ABOUT_MAX = 4096 /* since a record is less than 64 KiB */ };

static const char *const moments[] = {
	[SAMPLE_SWITCH_OUT] = "switch-out",
	[SAMPLE_SWITCH_IN] = "switch-in",
	[SAMPLE_WAKE_UP] = "wake-up",
	[SAMPLE_SYSCALL_BEGIN] = "syscall-begin",
	[SAMPLE_SYSCALL_END] = "syscall-end",
	[SAMPLE_PAGE_FAULT] = "page-fault",
	[SAMPLE_LOST] = "lost",
	[SAMPLE_INTERRUPT] = "interrupt",
};

_Static_assert(ARRAY_SIZE(moments) == SAMPLE_KIND_CNT, "a name for each kind");

/* ---- events ---- */

size_t perf_samples_event_cnt(const struct snapshot *snapshot)
{
	return snapshot->sample_cnt ? snapshot->sample_event_cnt + SAMPLE_KIND_CNT - 1 : 0;
}

const char *perf_samples_event_name(const struct snapshot *snapshot, size_t event)
{
	return event < snapshot->sample_event_cnt ? snapshot->sample_events[event]
						  : moments[event - snapshot->sample_event_cnt + 1];
}

static size_t event_of(const struct snapshot *snapshot, const struct stack_sample *sample)
{
	return sample->kind == SAMPLE_EVENT ? sample->event
					    : snapshot->sample_event_cnt + (size_t)sample->kind - 1;
}

/* Perf knows the type of what its own events count; all else is called what it is. */
static void set_type(struct perf_event_attr *attr, const char *name)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_BPF_OUTPUT;
	if (!strcmp(name, "cpu-clock"))
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
	if (strcmp(name, "cycles") != 0)
		return;
	attr->type = PERF_TYPE_HARDWARE;
	attr->config = PERF_COUNT_HW_CPU_CYCLES;
}

void perf_samples_attr(const struct snapshot *snapshot, size_t event, struct perf_event_attr *ret_attr)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.sample_type = SAMPLE_FIELDS,
		.sample_period = 1,
		.sample_id_all = 1,
		.exclude_hv = 1,
		.exclude_callchain_user = 1,
		.sample_regs_user = ARCH_PERF_GENERAL,
		.sample_stack_user = STACK_MAX,
	};

	set_type(&attr, perf_samples_event_name(snapshot, event));
	*ret_attr = attr;
}

/* ---- records ---- */

static void put_u64(struct packer *packer, uint64_t value)
{
	packer_put(packer, &value, sizeof(value));
}

/* The kernel's part, then the user's; a mark before each. */
static size_t chain_words(const struct stack_sample *sample)
{
	bool has_kernel = sample->ip_cnt && arch_is_kernel(sample->ips[0]);
	bool has_user = sample->ip_cnt && !arch_is_kernel(sample->ips[sample->ip_cnt - 1]);

	return sample->ip_cnt + has_kernel + has_user;
}

static void put_chain(struct packer *packer, const struct stack_sample *sample)
{
	put_u64(packer, chain_words(sample));
	for (uint32_t i = 0; i < sample->ip_cnt; i++) {
		bool kernel = arch_is_kernel(sample->ips[i]);

		if (!i || kernel != arch_is_kernel(sample->ips[i - 1]))
			put_u64(packer, kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER);
		put_u64(packer, sample->ips[i]);
	}
}

/* What the call is about, with zeros at its end up to a multiple of 8. */
static size_t about_room(const struct stack_sample *sample)
{
	size_t len = sample->call.about ? strnlen(sample->call.about, ABOUT_MAX) : 0;

	return len ? (len + 8) & ~7ull : 0;
}

static void put_raw(struct packer *packer, const struct stack_sample *sample)
{
	size_t room = about_room(sample), len = room ? strnlen(sample->call.about, ABOUT_MAX) : 0;
	struct perf_sample_more more = {
		.size = (uint32_t)(sizeof(more) - sizeof(more.size) + room),
		.magic = PERF_SAMPLE_MORE_MAGIC,
		.kind = sample->kind,
		.flags = sample->flags,
		.state = sample->state,
		.nr = sample->call.nr,
		.result = sample->call.result,
		.address = sample->address,
		.other_ns = sample->kind == SAMPLE_INTERRUPT ? sample->until_ns : sample->since_ns,
		.lost_cnt = sample->lost_cnt,
		.has_timeout = sample->call.has_timeout,
		.timeout_ns = sample->call.timeout_ns,
		.args = {sample->call.args[0], sample->call.args[1], sample->call.args[2],
			 sample->call.args[3], sample->call.args[4], sample->call.args[5]},
	};

	if (perf_sample_has_other(sample->kind))
		more.other = sample->other;
	if (perf_sample_has_switches(sample->kind))
		more.switches = sample->switches;
	packer_put(packer, &more, sizeof(more));
	packer_put(packer, sample->call.about, len);
	packer_put(packer, (uint8_t[8]){0}, room - len);
}

static bool has_registers(const struct stack_sample *sample)
{
	return sample->flags & SAMPLE_HAS_REGS;
}

static void put_registers(struct packer *packer, const struct stack_sample *sample)
{
	put_u64(packer, has_registers(sample) ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
	for (size_t i = 0; has_registers(sample) && i < ARCH_PERF_CNT; i++)
		if (ARCH_PERF_GENERAL >> i & 1)
			put_u64(packer, sample->regs[arch_perf_registers[i]]);
}

/* Filled up to a multiple of 8; how much of it is the stack's stands behind it. */
static size_t stack_room(const struct stack_sample *sample)
{
	size_t size = sample->stack_size < STACK_MAX ? sample->stack_size : STACK_MAX;

	return (size + 7) & ~7ull;
}

static void put_stack(struct packer *packer, const struct stack_sample *sample)
{
	size_t room = stack_room(sample);
	size_t size = sample->stack_size < room ? sample->stack_size : room;
	uint8_t bytes[SAMPLE_STACK_MAX];

	put_u64(packer, room);
	if (!room)
		return;
	packer_put(packer, stack_sample_stack(sample, bytes), size);
	packer_put(packer, (uint8_t[8]){0}, room - size);
	put_u64(packer, size);
}

static uint64_t where(const struct stack_sample *sample)
{
	return sample->ip_cnt ? sample->ips[0] : has_registers(sample) ? sample->regs[HIT_IP] : 0;
}

static size_t record_bytes(const struct stack_sample *sample)
{
	size_t words = 1 /* header */ + 6 /* the fields up to the period */ + 1 + chain_words(sample) + 1 +
		       (has_registers(sample) ? (size_t)__builtin_popcountll(ARCH_PERF_GENERAL) : 0) + 1;
	size_t room = stack_room(sample);

	return 8 * words + sizeof(struct perf_sample_more) + about_room(sample) + room + (room ? 8 : 0);
}

static void put_sample(struct packer *packer, const struct snapshot *snapshot,
		       const struct stack_sample *sample)
{
	struct perf_event_header header = {
		.type = PERF_RECORD_SAMPLE,
		.misc = arch_is_kernel(where(sample)) ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
		.size = (uint16_t)record_bytes(sample),
	};

	packer_put(packer, &header, sizeof(header));
	put_u64(packer, SIDEBAND_EVENT_ID + 1 + event_of(snapshot, sample));
	put_u64(packer, where(sample));
	put_u64(packer, (uint32_t)sample->pid | (uint64_t)(uint32_t)sample->tid << 32);
	put_u64(packer, sample->time_ns);
	put_u64(packer, (uint32_t)sample->cpu);
	put_u64(packer, sample->period);
	put_chain(packer, sample);
	put_raw(packer, sample);
	put_registers(packer, sample);
	put_stack(packer, sample);
}

int perf_samples_write(const struct snapshot *snapshot, FILE *file)
{
	CLEANUP(packer_freep) struct packer *packer = NULL;
	int err = snapshot->sample_cnt ? packer_new(&packer, file) : 0;

	if (err || !packer)
		return err;
	for (size_t i = 0; i < snapshot->sample_cnt; i++)
		put_sample(packer, snapshot, &snapshot->samples[i]);
	return packer_finish(packer);
}
