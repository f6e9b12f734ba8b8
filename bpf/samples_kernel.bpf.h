/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of the kernel's own types that are read; where they are is found when the programs are loaded.
 * Only bpf/samples.bpf.c includes this.
 */
#pragma once

struct vdso_image {
	unsigned long size;
} __attribute__((preserve_access_index));

typedef struct {
	void *vdso;
	const struct vdso_image *vdso_image;
} __attribute__((preserve_access_index)) mm_context_t;

struct mm_struct {
	unsigned long start_code, end_code, start_stack;
	mm_context_t context;
} __attribute__((preserve_access_index));

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live; /* threads */
	unsigned int flags;
} __attribute__((preserve_access_index));

struct cfs_rq {
	int throttle_count; /* of the group, and of those that it is in */
} __attribute__((preserve_access_index));

struct sched_entity {
	__u64 sum_exec_runtime, prev_sum_exec_runtime; /* now, and when it began to run last */
	struct cfs_rq *cfs_rq;
} __attribute__((preserve_access_index));

struct thread_struct {
	unsigned long fsbase;
} __attribute__((preserve_access_index));

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
} __attribute__((preserve_access_index));

struct timens_offsets {
	struct timespec64 monotonic;
} __attribute__((preserve_access_index));

struct time_namespace {
	struct timens_offsets offsets; /* of its clocks to the kernel's */
} __attribute__((preserve_access_index));

struct nsproxy {
	struct time_namespace *time_ns;
} __attribute__((preserve_access_index));

struct task_struct {
	void *stack;
	int pid, tgid, exit_code, exit_state;
	struct task_struct *real_parent;
	struct signal_struct *signal;
	struct pid *thread_pid;
	struct task_struct *group_leader;
	struct mm_struct *mm;
	struct files_struct *files;
	struct nsproxy *nsproxy;
	unsigned long sas_ss_sp, sas_ss_size; /* where handlers of signals run (sigaltstack(2)) */
	unsigned int __state, personality;
	int on_cpu, on_rq, prio;
	struct sched_entity se;
	struct thread_struct thread;
	unsigned int frozen : 1;     /* by cgroup.freeze */
	bool throttled;		     /* since Linux 6.18 */
	unsigned long nvcsw, nivcsw; /* its switches */
	char comm[SAMPLES_NAME];
} __attribute__((preserve_access_index));

/* linux/bpf.h */
struct bpf_perf_event_value {
	__u64 counter, enabled, running;
};

/* linux/bpf_perf_event.h */
struct bpf_perf_event_data {
	struct pt_regs regs;
	__u64 sample_period, addr;
};
