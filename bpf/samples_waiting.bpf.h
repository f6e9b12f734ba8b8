/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The targets' threads that wait now, for whoever reads the iterator: a thread that waits all the time is in
 * no ring. Only bpf/samples.bpf.c includes this.
 */
#pragma once

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

enum { STATE_DEAD = 0x80 /* TASK_DEAD */ };

/* Too large for the programs' stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct samples_waiting);
} waiting SEC(".maps");

/* What is in the thread's memory cannot be read from here. */
static __always_inline void put_waiting_about(struct samples_waiting *to, const struct task_struct *task,
					      const struct pt_regs *user, __u64 now)
{
	__u32 nth = (__u32)to->nr, call;
	struct identity identity;
	struct file *file;

	if (nth >= SAMPLES_CALLS)
		return;
	asm volatile("" : "+r"(nth)); /* as in call_of() */
	call = calls[nth & (SAMPLES_CALLS - 1)];
	to->about.record.about.timeout_ns =
		call & SAMPLES_CALL_MS ? timeout_of(task, call, user, now) : SAMPLES_NO_TIMEOUT;
	to->about.record.about.fd = call & SAMPLES_CALL_FD ? (__s32)user->di : -1;
	file = file_of(task, to->about.record.about.fd);
	if (!file)
		return;
	identity = identity_of(0, file);
	to->about.record.about.mode = identity.mode;
	to->about.record.about.inode = identity.inode;
	put_file(&to->about, file);
}

SEC("iter/task")
int on_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 zero = 0, pid;
	struct samples_waiting *to = bpf_map_lookup_elem(&waiting, &zero);
	struct pt_regs *user;

	if (!task || !to || !task->__state || task->__state & STATE_DEAD || task->on_cpu || task->on_rq)
		return 0;
	pid = pid_of(task);
	if (!is_target(pid))
		return 0;
	__builtin_memset(to, 0, sizeof(*to));
	user = (struct pt_regs *)bpf_task_pt_regs(task);
	/* In this order: who runs in between is seen to have. */
	to->switches = *(volatile unsigned long *)&task->nvcsw + *(volatile unsigned long *)&task->nivcsw;
	to->time_ns = bpf_ktime_get_ns();
	copy_registers(to->regs, user);
	to->about.record.pid = pid;
	to->about.record.tid = tid_of(task);
	to->nr = named_syscall_of(user);
	to->state = state_seen(task, task->__state);
	put_waiting_about(to, task, user, to->time_ns);
	bpf_seq_write(ctx->meta->seq, to, sizeof(*to));
	return 0;
}
