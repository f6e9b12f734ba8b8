/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The samples source in the kernel: at a tick of the clock, and at switches, wake-ups, system calls and page
 * faults of the targets' threads, a record goes into this processor's ring (bpf/samples.h). Nothing is
 * unwound here.
 *
 * Each ring has memory of its own to copy stacks to, and of the programs that copy for one ring none can
 * interrupt another: ticks do not interrupt ticks, and at a switch interrupts are off.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/samples.h"

/* Maps whose size is 1 get theirs when they are loaded. */
enum { MMAPABLE = 1 << 10 /* BPF_F_MMAPABLE */, SIZE_AT_LOAD = 1 };

#include "bpf/samples_kernel.bpf.h"
#include "bpf/task_ids.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SAMPLES_TARGETS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u8);
} targets SEC(".maps");

const volatile __u16 calls[SAMPLES_CALLS]; /* enum samples_call */

bool recording;

/* Bit N: process N is SAMPLES_TARGET. Hooks that see all processes look here. */
__u64 marks[SAMPLES_PIDS / 64];
__u64 marks_changes; /* so often these have changed, or a target's thread has got another number */

static __always_inline bool is_target(__u32 pid)
{
	asm volatile("" : "+r"(pid)); /* a verifier sees only what is done to it from here on */
	return pid < SAMPLES_PIDS && marks[pid / 64] >> pid % 64 & 1;
}

/* The kernel runs 32-bit code in another segment. It has other system calls, and other stacks. */
static __always_inline bool is_64_bit(const struct pt_regs *user)
{
	return user->cs & 1 << 4;
}

/* The system call a thread is in: -1: none. */
static __always_inline __s32 syscall_of(const struct pt_regs *user)
{
	return (__s32)user->orig_ax;
}

/*
 * The same, if it is one of those that have names here. A worker of the kernel's in the process (io_uring)
 * has no code of the user's, and the number of the call that made it.
 */
static __always_inline __s32 named_syscall_of(const struct pt_regs *user)
{
	return is_64_bit(user) && user->ip ? syscall_of(user) : -1;
}

#include "bpf/samples_rings.bpf.h"

#include "bpf/samples_about.bpf.h"
#include "bpf/samples_threads.bpf.h"

#include "bpf/samples_code.bpf.h"
#include "bpf/samples_stack.bpf.h"

enum { ROOM = SAMPLES_RECORD_MAX & ~(SAMPLES_ALIGN - 1) };

SEC("perf_event")
int on_tick(struct bpf_perf_event_data *ctx)
{
	__u64 id = ids_here(), now;
	const struct pt_regs *user;
	struct samples_full *full;
	struct task_struct *task;
	struct place place;
	bool in_user = ctx->regs.cs & 3;
	__u32 size;

	if (!recording || !is_target(id >> 32))
		return 0;
	now = bpf_ktime_get_ns();
	full = reserve(SAMPLES_TICKS, ROOM, &place);
	if (!full)
		return 0;
	fill(&full->record, SAMPLES_TICK, id >> 32, (__u32)id, now);
	full->record.tick.period = ctx->sample_period;
	full->record.tick.event = 0;
	full->record.tick.kernel_ip = in_user ? 0 : ctx->regs.ip;
	task = bpf_get_current_task_btf();
	if (in_user) {
		full->record.tick.ip = ctx->regs.ip;
		take_registers(SAMPLES_TICKS, &ctx->regs);
	} else {
		user = (struct pt_regs *)bpf_task_pt_regs(task);
		full->record.tick.ip = user->ip;
		take_registers(SAMPLES_TICKS, user);
	}
	size = put_full(full, SAMPLES_TICKS, task);
	if (!in_user)
		size += put_kernel(full, ctx, 0);
	commit(&place, &full->record, size);
	return 0;
}

#include "bpf/samples_counters.bpf.h"
#include "bpf/samples_session.bpf.h"
#include "bpf/samples_switches.bpf.h"
#include "bpf/samples_wakes.bpf.h"

/* (struct task_struct *task, pid_t old_pid, struct linux_binprm *program) */
SEC("tp_btf/sched_process_exec")
int on_exec(__u64 *ctx)
{
	__u32 pid = ids_here() >> 32;
	__u8 *target = bpf_map_lookup_elem(&targets, &pid);
	const struct task_struct *task = (void *)ctx[0];

	if (!target)
		return 0;
	put_program(task->mm);
	if ((__u32)ctx[1] != (__u32)task->tgid)
		tell_life(task, SAMPLES_REPLACED, pid);
	if (*target & SAMPLES_AT_EXEC) {
		__sync_fetch_and_or(&marks[pid % SAMPLES_PIDS / 64], 1ull << pid % 64);
		read_all(ids_here(), 0, 0);
	}
	__sync_fetch_and_add(&marks_changes, 1);
	*target = SAMPLES_TARGET;
	return 0;
}

#include "bpf/samples_calls.bpf.h"
#include "bpf/samples_interrupts.bpf.h"
#include "bpf/samples_waiting.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
