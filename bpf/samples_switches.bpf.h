/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a target's thread stops running, with its stack, and where it runs again, with who had the processor
 * meanwhile. Only bpf/samples.bpf.c includes this.
 */
#pragma once

/* TASK_*: it waits for something, and not only for a signal that lets it go on. */
enum { STATE_UNINTERRUPTIBLE = 2 };

/* Of the user's registers, from the begin of a thread's kernel stack. Learned by learn_registers(). */
__u64 registers_at;

SEC("raw_tp")
int learn_registers(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	volatile __u64 *at = &registers_at; /* what is read from there is a number for a verifier */
	__u64 end;

	(void)ctx;
	*at = (__u64)task->stack;
	end = -*at;
	*at = (__u64)bpf_task_pt_regs(task);
	*at += end;
	return 0;
}

/* As bpf_task_pt_regs(), a call of which takes as long as a record. */
static __always_inline const struct pt_regs *registers_of(struct task_struct *task)
{
	if (!has_cast)
		return (const struct pt_regs *)bpf_task_pt_regs(task);
	return bpf_rdonly_cast(task->stack + (__u16)registers_at, bpf_core_type_id_kernel(struct pt_regs));
}

/* This program, and what the kernel calls it by. */
enum { OWN_FRAMES = 3 };

static __always_inline __u32 switches_of(const struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

static __always_inline void put_wait(struct samples_record *record, const struct pt_regs *user, __s32 nr,
				     __u8 flags, __u32 state)
{
	record->flags = flags;
	record->out.ip = user->ip;
	record->out.args[0] = user->di;
	record->out.args[1] = user->si;
	record->out.nr = nr;
	record->out.state = state;
}

const volatile __u64 switch_every_ns; /* stacks at switches of a thread, one in this time on the average */

/* So many stacks at switches may follow each other at once. */
enum { STACKS_AT_ONCE = 64, KERNEL_STACK_EVERY = 4 };

static __always_inline struct slot *switches_slot(__u32 tid)
{
	__u32 nth =
		place_of(bpf_get_smp_processor_id(), SAMPLES_MOMENTS) * SAMPLES_SLOTS + tid % SAMPLES_SLOTS;

	return bpf_map_lookup_elem(&slots, &nth);
}

/*
 * A stack for each switch would cost as much as the switch. A thread that waits seldom gets one each time;
 * one that waits often gets one now and then, which shows where it does.
 */
static __always_inline bool wants_stack(__u32 tid, __u64 now)
{
	struct slot *slot = switches_slot(tid);

	if (!slot)
		return 0;
	if (slot->next_ns < now || slot->tid != tid)
		slot->next_ns = now;
	if (slot->next_ns - now >= STACKS_AT_ONCE * switch_every_ns)
		return 0;
	slot->next_ns += switch_every_ns;
	return 1;
}

/*
 * The kernel's takes longer than the user's. Where stacks follow each other as fast as they may, one in
 * KERNEL_STACK_EVERY has it.
 */
static __always_inline bool wants_kernel_stack(__u32 tid, __u64 now)
{
	const struct slot *slot = switches_slot(tid);

	return slot &&
	       (slot->next_ns - now < STACKS_AT_ONCE * switch_every_ns || !(slot->nth % KERNEL_STACK_EVERY));
}

static __always_inline void switch_out(void *ctx, bool preempt, struct task_struct *task, __u32 state,
				       __u64 now)
{
	const struct pt_regs *user = registers_of(task);
	__u32 pid = pid_of(task), tid = tid_of(task);
	struct samples_record *record;
	struct samples_full *full;
	struct place place;
	__s32 nr = named_syscall_of(user);
	__u8 flags = preempt ? SAMPLES_PREEMPT : 0;
	__u32 size;

	state = state_seen(task, state);
	if (!preempt && state & (STATE_INTERRUPTIBLE | STATE_UNINTERRUPTIBLE))
		flags = put_about(task, user, nr, now, (__u64)pid << 32 | tid);
	if (preempt || !wants_stack(tid, now)) {
		record = reserve(SAMPLES_MOMENTS, sizeof(*record), &place);
		if (!record)
			return;
		fill(record, SAMPLES_OUT, pid, tid, now);
		record->switches = switches_of(task);
		put_wait(record, user, nr, flags, state);
		commit(&place, record, sizeof(*record));
		return;
	}
	full = reserve(SAMPLES_MOMENTS, ROOM, &place);
	if (!full)
		return;
	fill(&full->record, SAMPLES_OUT, pid, tid, now);
	full->record.switches = switches_of(task);
	put_wait(&full->record, user, nr, flags, state);
	take_registers(SAMPLES_MOMENTS, user);
	size = put_full(full, SAMPLES_MOMENTS, task);
	if (wants_kernel_stack(tid, now))
		size += put_kernel(full, ctx, OWN_FRAMES);
	commit(&place, &full->record, size);
}

/* ---- who had the processor meanwhile ---- */

struct run {
	__u32 pid, tid;
	char name[SAMPLES_NAME];
	__u64 begin_ns, end_ns;
};

/* The thread that called the kernel last on this processor, until that switches to another one. */
struct caller {
	__u64 user;  /* where its registers are: no other thread has them there; 0: not known */
	__u64 id;    /* 0: it is no target's */
	__u64 check; /* who is interrupted in between does not leave a mixture behind */
};

/* Who ran last on this processor. */
struct runs {
	struct run items[SAMPLES_RUNS];
	__u64 switched_ns; /* 0: not known */
	__u64 running;	   /* the task that it switched to; 0: not known */
	__u64 ran_before;  /* how long that one had run until then */
	struct caller caller;
	__u32 cnt;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct runs);
} runs SEC(".maps");

/*
 * Of targets' threads that could run and do not: since when. The kernel gives out numbers of threads one
 * after the other, so it is seldom that two threads have the same place.
 */
struct ready {
	__u64 since_ns;
	__u32 tid; /* 0: nobody */
	__u32 is_throttled;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SAMPLES_THREADS_MAX);
	__type(key, __u32);
	__type(value, struct ready);
} ready SEC(".maps");

__u64 unready_cnt; /* so often there was no room for one more */

static __always_inline struct ready *ready_of(__u32 tid)
{
	__u32 nth = tid % SAMPLES_THREADS_MAX;

	return bpf_map_lookup_elem(&ready, &nth);
}

enum { PRIO_FAIR = 100 }; /* less: a real-time thread */

/* Its cgroup has used up the time that it may have (cpu.max). */
static __always_inline bool is_throttled(struct task_struct *task)
{
	if (bpf_core_field_exists(task->throttled))
		return task->throttled;
	if (!bpf_core_field_exists(task->se.cfs_rq) || !bpf_core_type_exists(struct cfs_rq) ||
	    !bpf_core_field_exists(((struct cfs_rq *)0)->throttle_count))
		return 0;
	return task->prio >= PRIO_FAIR && task->se.cfs_rq && task->se.cfs_rq->throttle_count;
}

static __always_inline void note_ready(__u32 tid, __u64 now, bool is_throttled)
{
	struct ready *one = ready_of(tid);

	if (!one)
		return;
	if (one->tid && one->tid != tid)
		__sync_fetch_and_add(&unready_cnt, 1);
	one->tid = 0; /* who reads it on another processor finds the time of that thread, or nobody */
	asm volatile("" ::: "memory");
	one->since_ns = now;
	one->is_throttled = is_throttled;
	asm volatile("" ::: "memory");
	one->tid = tid;
}

static __always_inline void note_waiting(__u32 tid)
{
	struct ready *one = ready_of(tid);

	if (one && one->tid == tid)
		one->tid = 0;
}

/* The thread begins to run: since when it could have; 0: not known. */
static __always_inline __u64 take_ready(__u32 tid, __u32 *ret_is_throttled)
{
	struct ready *one = ready_of(tid);
	__u64 since;

	if (!one || one->tid != tid)
		return 0;
	since = one->since_ns;
	*ret_is_throttled = one->is_throttled;
	one->tid = 0; /* its place is free for another one */
	return since;
}

static __always_inline struct runs *runs_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&runs, &zero);
}

static __always_inline void note_run(struct runs *here, const struct task_struct *task, __u64 now)
{
	struct run *run = &here->items[here->cnt++ % SAMPLES_RUNS];

	run->pid = pid_of(task);
	run->tid = tid_of(task);
	copy_name(run->name, task);
	run->begin_ns = here->switched_ns < now ? here->switched_ns : now;
	run->end_ns = here->switched_ns = now;
}

/* Of those that ran since then the one that did so for longest; NULL: none is known. */
static __always_inline const struct run *longest_run(const struct runs *here, __u64 since)
{
	const struct run *longest = NULL;
	__u64 most = 0;

	for (__u32 i = 1; i <= SAMPLES_RUNS; i++) {
		const struct run *run = &here->items[(here->cnt - i) % SAMPLES_RUNS];
		__u64 begin = run->begin_ns > since ? run->begin_ns : since;

		if (run->end_ns <= since)
			break;
		if (run->end_ns - begin > most) {
			most = run->end_ns - begin;
			longest = run;
		}
	}
	return longest;
}

/*
 * It could have run since then, but for its cgroup's limit; 0: not known. Of one that has run before this
 * switch the kernel has counted more since.
 */
static __always_inline void switch_in(const struct runs *here, const struct task_struct *task, __u64 since,
				      __u32 is_throttled, __u64 now)
{
	const struct run *run = since && !is_throttled ? longest_run(here, since) : NULL;
	struct samples_record *record;
	struct place place;

	record = reserve(SAMPLES_MOMENTS, sizeof(*record), &place);
	if (!record)
		return;
	fill(record, SAMPLES_IN, pid_of(task), tid_of(task), now);
	if (here->running == (__u64)task)
		record->switches = switches_of(task);
	record->other.pid = 0;
	record->other.tid = is_throttled ? SAMPLES_THROTTLED : 0;
	if (run) {
		record->other.pid = run->pid;
		record->other.tid = run->tid;
		__builtin_memcpy(record->other.name, run->name, sizeof(run->name));
	}
	commit(&place, record, sizeof(*record));
}

/*
 * Some kernels hide a process: while one of its threads runs, no program is called. So a switch away from it
 * is not seen, only the next one, from a task that nothing is known to have switched to. The kernel knows how
 * long that one has run; of a real-time thread it is taken that it has since the last switch that was seen,
 * or not at all where nothing says when that was.
 */
static __always_inline void find_unseen(struct runs *here, const struct task_struct *prev, __u64 now)
{
	__u64 ran = prev->se.sum_exec_runtime - prev->se.prev_sum_exec_runtime, since;
	__u32 was_throttled = 0;

	if (!here->running || here->running == (__u64)prev)
		return;
	if (!here->switched_ns && prev->prio < PRIO_FAIR)
		ran = 0;
	if (ran < now - here->switched_ns)
		here->switched_ns = now - ran;
	if (!is_target(pid_of(prev)) || has_lost(tid_of(prev)))
		return;
	since = take_ready(tid_of(prev), &was_throttled);
	switch_in(here, prev, since, was_throttled, here->switched_ns);
}

static __always_inline void note_next(struct runs *here, const struct task_struct *next)
{
	here->running = (__u64)next;
	here->ran_before = next->se.sum_exec_runtime;
}

/*
 * A switch between other threads, which are to notice little of this. To read the clock takes longer than
 * all else, and the kernel has counted how long the thread ran, mostly to some us. It may leave out
 * interrupts, so the clock is read now and then. Where nobody runs, nobody waits for the processor.
 * False: the clock is to be read.
 */
static __always_inline bool pass_by(struct runs *here, const struct task_struct *prev,
				    const struct task_struct *next)
{
	__u64 ran = prev->se.sum_exec_runtime - here->ran_before;

	if (!prev->pid || !next->pid)
		here->switched_ns = 0;
	else if (here->running != (__u64)prev || !here->switched_ns || !(here->cnt % SAMPLES_RUNS))
		return 0;
	else
		note_run(here, prev, here->switched_ns + ran);
	note_next(here, next);
	return 1;
}

/* (bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state) */
SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	struct runs *here = runs_here();
	__u32 tid = tid_of(prev), was_throttled = 0;
	bool wants_prev = !has_lost(tid) && is_target(pid_of(prev)), wants_next = is_target(pid_of(next));
	__u64 now, since;

	if (!here)
		return 0;
	here->caller.user = 0;
	if (!recording) {
		here->running = 0;
		return 0;
	}
	if (!wants_prev && !wants_next && pass_by(here, prev, next))
		return 0;
	now = bpf_ktime_get_ns();
	find_unseen(here, prev, now);
	note_run(here, prev, now);
	note_next(here, next);
	since = wants_next ? take_ready(tid_of(next), &was_throttled)
			   : 0; /* first: both may have the same place */
	if (wants_prev) {
		read_all((__u64)pid_of(prev) << 32 | tid, now, 1);
		switch_out(ctx, ctx[0], prev, ctx[3], now);
		if (ctx[0] || !ctx[3])
			note_ready(tid, now, is_throttled(prev));
		else
			note_waiting(tid);
	}
	/* Asked again: else a verifier follows both answers through all that is between. */
	if (is_target(pid_of(next))) {
		read_all((__u64)pid_of(next) << 32 | tid_of(next), now, 0);
		switch_in(here, next, since, was_throttled, now);
	}
	return 0;
}
