/* SPDX-License-Identifier: BSD-2-Clause */
/* Who wakes a target's thread: another one, an interrupt or a timer. Only bpf/samples.bpf.c includes this. */
#pragma once

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} timers SEC(".maps"); /* so many are at work on this processor: one interrupts another */

static __always_inline __u32 *timers_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&timers, &zero);
}

/* (struct hrtimer *timer, ktime_t *now), (struct timer_list *timer, unsigned long base) */
static __always_inline int timer_begins(void)
{
	__u32 *cnt = timers_here();

	if (cnt && recording)
		(*cnt)++;
	return 0;
}

static __always_inline int timer_ends(void)
{
	__u32 *cnt = timers_here();

	if (cnt && *cnt)
		(*cnt)--;
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int on_hrtimer(__u64 *ctx)
{
	(void)ctx;
	return timer_begins();
}

SEC("tp_btf/hrtimer_expire_exit")
int on_hrtimer_end(__u64 *ctx)
{
	(void)ctx;
	return timer_ends();
}

SEC("tp_btf/timer_expire_entry")
int on_timer(__u64 *ctx)
{
	(void)ctx;
	return timer_begins();
}

SEC("tp_btf/timer_expire_exit")
int on_timer_end(__u64 *ctx)
{
	(void)ctx;
	return timer_ends();
}

/*
 * A thread wakes another one in a system call, so where it ran user code it was an interrupt that did. What
 * arrives from the same machine by the loopback device is woken by its sender, in whose system call that is.
 */
static __always_inline bool is_interrupted(struct task_struct *task)
{
	return !task->pid || (task->mm && syscall_of(registers_of(task)) < 0);
}

/* (struct task_struct *woken) */
SEC("tp_btf/sched_waking")
int on_waking(__u64 *ctx)
{
	struct task_struct *woken = (void *)ctx[0], *here;
	struct samples_record *record;
	const struct ended *child;
	const __u32 *timer;
	struct place place;

	if (!recording || !is_target(pid_of(woken)))
		return 0;
	here = bpf_get_current_task_btf();
	record = reserve(SAMPLES_MOMENTS, sizeof(*record), &place);
	if (!record)
		return 0;
	fill(record, SAMPLES_WAKE, pid_of(woken), tid_of(woken), bpf_ktime_get_ns());
	note_ready(record->tid, record->time_ns, 0);
	timer = timers_here();
	record->flags = timer && *timer ? SAMPLES_TIMER : is_interrupted(here) ? SAMPLES_IRQ : 0;
	record->other.pid = pid_of(here);
	record->other.tid = tid_of(here);
	copy_name(record->other.name, here);
	child = ended_child(woken, here, record->other.pid);
	if (child) {
		record->other.pid = record->other.tid = child->pid;
		__builtin_memcpy(record->other.name, child->name, sizeof(child->name));
	}
	commit(&place, record, sizeof(*record));
	return 0;
}
