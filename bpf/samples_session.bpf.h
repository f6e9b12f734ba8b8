/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ptrace(2) hides: our session holds the targets. So the kernel calls a thread traced that a signal has
 * stopped, and tells a parent of its child's end only when we have fetched that (wait4). Here is what would
 * be seen without us. Only bpf/samples.bpf.c includes this.
 */
#pragma once

const volatile __u32 own_pid; /* trailcam's */
const volatile __s32 wait4_nr;

enum { STATE_INTERRUPTIBLE = 1, STATE_STOPPED = 4, STATE_TRACED = 8, STATE_FROZEN = 0x8000 }; /* TASK_* */

/* A stop of all threads of a seized process: PTRACE_EVENT_STOP, and the signal that stops. */
enum { EVENT_STOP = 128, FIRST_STOP = 19 /* SIGSTOP */, LAST_STOP = 22 /* SIGTTOU */ };

/* What is frozen by cgroup.freeze sleeps as in a system call, and may be within one that it was in before. */
static __always_inline bool is_frozen(const struct task_struct *task, __u32 state)
{
	return state & STATE_INTERRUPTIBLE && bpf_core_field_exists(task->frozen) &&
	       BPF_CORE_READ_BITFIELD(task, frozen);
}

enum { ALL_STOPPED = 1 /* SIGNAL_STOP_STOPPED */ };

/* Some threads may not have stopped yet; what a stop is for is known until we have fetched it (wait4). */
static __always_inline bool is_stopped(const struct task_struct *task)
{
	__u32 code = (__u32)task->exit_code, signal = code & 0xff;

	return task->signal->flags & ALL_STOPPED ||
	       (code >> 8 == EVENT_STOP && signal >= FIRST_STOP && signal <= LAST_STOP);
}

static __always_inline __u32 state_seen(const struct task_struct *task, __u32 state)
{
	if (!(state & STATE_TRACED) || !is_stopped(task))
		return is_frozen(task, state) ? STATE_FROZEN : state;
	return (state & ~STATE_TRACED) | STATE_STOPPED;
}

/* ---- children that have ended ---- */

enum { ENDED_CHILDREN = 4, EXIT_TOLD = 48 /* EXIT_TRACE: its tracer is telling its parent */ };

struct ended {
	__u64 task;
	__u32 pid;
	char name[SAMPLES_NAME];
};

struct ended_children {
	struct ended items[ENDED_CHILDREN];
	__u32 cnt;
};

/* The last children of a target that ended, by the target's number. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SAMPLES_ENDED_MAX);
	__type(key, __u32);
	__type(value, struct ended_children);
} ended SEC(".maps");

/* (struct task_struct *task, ...) */
SEC("tp_btf/sched_process_exit")
int on_exit(__u64 *ctx)
{
	const struct task_struct *task = (void *)ctx[0];
	static const struct ended_children none;
	struct ended_children *children;
	struct ended *one;
	__u32 pid = pid_of(task), parent;

	if (!is_target(pid))
		return 0;
	if (task->pid != task->tgid)
		tell_life(task, SAMPLES_ENDED, pid);
	if (!recording || task->signal->live.counter)
		return 0;
	parent = pid_of(task->real_parent);
	if (!is_target(parent))
		return 0;
	bpf_map_update_elem(&ended, &parent, &none, BPF_NOEXIST);
	children = bpf_map_lookup_elem(&ended, &parent);
	if (!children)
		return 0;
	one = &children->items[__sync_fetch_and_add(&children->cnt, 1) % ENDED_CHILDREN];
	one->task = (__u64)task->group_leader;
	one->pid = pid;
	bpf_probe_read_kernel(one->name, sizeof(one->name), task->comm);
	return 0;
}

/* Whether its tracer fetches its end now. */
static __always_inline bool is_being_told(const struct ended *child)
{
	const struct task_struct *task = (const void *)child->task;
	int state = 0, pid = 0;

	bpf_probe_read_kernel(&state, sizeof(state), &task->exit_state);
	bpf_probe_read_kernel(&pid, sizeof(pid), &task->tgid);
	return state == EXIT_TOLD && (in_namespace || (__u32)pid == child->pid);
}

/* Who is woken by our fetching the end of a child: that child; NULL: it is not so. */
static __always_inline const struct ended *ended_child(const struct task_struct *woken,
						       struct task_struct *waker, __u32 waker_pid)
{
	const struct ended_children *children;
	__u32 pid = pid_of(woken);

	if (waker_pid != own_pid || woken->__state & STATE_TRACED ||
	    syscall_of((struct pt_regs *)bpf_task_pt_regs(waker)) != wait4_nr)
		return NULL;
	children = bpf_map_lookup_elem(&ended, &pid);
	for (__u32 i = 0; children && i < ENDED_CHILDREN; i++)
		if (is_being_told(&children->items[i]))
			return &children->items[i];
	return NULL;
}
