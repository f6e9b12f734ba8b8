/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Births and ends of the targets' threads, where the session does not hold them for that, and when they map
 * code. They go into a ring of their own, which loses nothing as long as it is read in time.
 * Only bpf/samples.bpf.c includes this.
 */
#pragma once

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, SAMPLES_LIVES_BYTES);
} lives SEC(".maps");

const volatile bool tells_lives;
__u64 untold_cnt; /* for which there was no room */

/*
 * Who reads is woken when there is much to read; at once where a process has lost the thread that was traced,
 * and where code is new, which may not be there for long.
 */
static __always_inline __u64 wake_flags(enum samples_life_kind kind)
{
	if (kind == SAMPLES_REPLACED || kind == SAMPLES_MAPPED)
		return BPF_RB_FORCE_WAKEUP;
	return bpf_ringbuf_query(&lives, BPF_RB_AVAIL_DATA) >= SAMPLES_LIVES_BYTES / 8 ? BPF_RB_FORCE_WAKEUP
										       : BPF_RB_NO_WAKEUP;
}

static __always_inline void tell_life(const struct task_struct *task, enum samples_life_kind kind, __u32 pid)
{
	struct samples_life *life;

	if (!tells_lives && kind != SAMPLES_MAPPED)
		return;
	life = bpf_ringbuf_reserve(&lives, sizeof(*life), 0);
	if (!life) {
		__sync_fetch_and_add(&untold_cnt, 1);
		return;
	}
	life->time_ns = bpf_ktime_get_ns();
	life->pid = pid;
	life->tid = tid_of(task);
	life->kind = kind;
	bpf_probe_read_kernel(life->name, sizeof(life->name), task->comm);
	bpf_ringbuf_submit(life, wake_flags(kind));
}

/* (struct task_struct *parent, struct task_struct *child), which has not run yet */
SEC("tp_btf/sched_process_fork")
int on_fork(__u64 *ctx)
{
	const struct task_struct *child = (void *)ctx[1];
	__u32 pid = pid_of(child);

	if (child->pid != child->tgid && is_target(pid))
		tell_life(child, SAMPLES_BORN, pid);
	return 0;
}
