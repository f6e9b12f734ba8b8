/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The numbers of processes and threads as the user of these programs sees them. The kernel's own are those of
 * the initial pid namespace; in another one a thread has one more for each namespace that it is in, by level.
 * Our namespace is found out once, by a run of learn_namespace() in a process of it (BPF_PROG_TEST_RUN).
 *
 * struct task_struct is to be defined before.
 */
#pragma once

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Who is no member of our namespace, or just gone. */
enum { TASK_OUTSIDE = -1 };

struct pid_namespace;

struct upid {
	int nr;
	struct pid_namespace *ns;
} __attribute__((preserve_access_index));

struct pid {
	unsigned int level;
	struct upid numbers[1];
} __attribute__((preserve_access_index));

const volatile bool in_namespace; /* not in the initial one */

__u32 own_level;
__u64 own_namespace;

/* The process number at that level, with its namespace; 0 and NULL: it has none there. */
static __always_inline struct upid number_at(const struct pid *pid, __u32 level)
{
	struct upid number = {};
	__u32 deepest = 0;

	bpf_probe_read_kernel(&deepest, sizeof(deepest), &pid->level);
	if (level <= deepest)
		bpf_probe_read_kernel(&number, sizeof(number),
				      (const void *)pid + bpf_core_field_offset(pid->numbers) +
					      level * sizeof(number));
	return number;
}

static __always_inline __u32 own_number(const struct task_struct *task)
{
	const struct pid *pid = NULL;
	struct upid number;

	if (!task->pid)
		return 0;
	bpf_probe_read_kernel(&pid, sizeof(pid), &task->thread_pid);
	number = number_at(pid, own_level);
	return (__u64)number.ns == own_namespace ? (__u32)number.nr : TASK_OUTSIDE;
}

static __always_inline __u32 tid_of(const struct task_struct *task)
{
	return in_namespace ? own_number(task) : (__u32)task->pid;
}

/* In a namespace a thread loses its number before its last switch, and its process does not. */
static __always_inline bool has_lost(__u32 tid)
{
	return in_namespace && tid == (__u32)TASK_OUTSIDE;
}

static __always_inline __u32 pid_of(const struct task_struct *task)
{
	return in_namespace ? own_number(task->group_leader) : (__u32)task->tgid;
}

/* As bpf_get_current_pid_tgid(); 0: the thread has lost its number. */
static __always_inline __u64 ids_here(void)
{
	const struct task_struct *task;
	__u32 tid;

	if (!in_namespace)
		return bpf_get_current_pid_tgid();
	task = bpf_get_current_task_btf();
	tid = tid_of(task);
	return has_lost(tid) ? 0 : (__u64)pid_of(task) << 32 | tid;
}

SEC("raw_tp")
int learn_namespace(void *ctx)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	const struct pid *pid = NULL;

	(void)ctx;
	bpf_probe_read_kernel(&pid, sizeof(pid), &task->thread_pid);
	bpf_probe_read_kernel(&own_level, sizeof(own_level), &pid->level);
	own_namespace = (__u64)number_at(pid, own_level).ns;
	return 0;
}
