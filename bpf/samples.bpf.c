/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The samples source in the kernel: at a tick of the clock, and at switches, wake-ups, system calls and page
 * faults of the targets' threads, a record goes into this processor's ring (bpf/samples.h). Nothing is
 * unwound here.
 *
 * A program can be interrupted by another one on its processor. So room in a ring is taken in one step, and
 * no less than may be needed; when the record is done, what it did not need is given back, unless another
 * record has followed by then. Each ring has memory of its own to copy stacks to, and of the programs that
 * copy for one ring none can interrupt another: ticks do not interrupt ticks, and at a switch interrupts are
 * off.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/samples.h"

enum { MMAPABLE = 1 << 10 /* BPF_F_MMAPABLE */, SIZE_AT_LOAD = 1 };

/*
 * The fields of the kernel's own types that are read here; where they are is found when the programs are
 * loaded.
 */
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
} __attribute__((preserve_access_index));

struct cfs_rq {
	int throttle_count; /* of the group, and of those that it is in */
} __attribute__((preserve_access_index));

struct sched_entity {
	__u64 sum_exec_runtime, prev_sum_exec_runtime; /* now, and when it began to run last */
	struct cfs_rq *cfs_rq;
} __attribute__((preserve_access_index));

struct task_struct {
	int pid, tgid, exit_code, exit_state;
	struct task_struct *real_parent;
	struct signal_struct *signal;
	struct pid *thread_pid;
	struct task_struct *group_leader;
	struct mm_struct *mm;
	struct files_struct *files;
	unsigned long sas_ss_sp, sas_ss_size; /* where handlers of signals run (sigaltstack(2)) */
	unsigned int __state, personality;
	int on_cpu, on_rq, prio;
	struct sched_entity se;
	bool throttled;		     /* since Linux 6.18 */
	unsigned long nvcsw, nivcsw; /* its switches */
	char comm[SAMPLES_NAME];
} __attribute__((preserve_access_index));

#include "bpf/task_ids.bpf.h"

/* linux/bpf.h */
struct bpf_perf_event_value {
	__u64 counter, enabled, running;
};

/* linux/bpf_perf_event.h */
struct bpf_perf_event_data {
	struct pt_regs regs;
	__u64 sample_period, addr;
};

/* ---- maps: those whose size is 1 get theirs when they are loaded ---- */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, MMAPABLE);
	__uint(max_entries, SIZE_AT_LOAD); /* processors */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 2 * SAMPLES_RECORD_MAX); /* it gets its size when it is loaded, too */
} ticks SEC(".maps"), moments SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, MMAPABLE);
	__uint(max_entries, SIZE_AT_LOAD); /* rings of processors */
	__type(key, __u32);
	__type(value, struct samples_head);
} heads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SAMPLES_TARGETS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u8);
} targets SEC(".maps");

struct run {
	__u32 pid, tid;
	char name[SAMPLES_NAME];
	__u64 begin_ns, end_ns;
};

/* Who ran last on this processor. */
struct runs {
	struct run items[SAMPLES_RUNS];
	__u64 switched_ns;
	__u64 running; /* the task that it switched to; 0: not known */
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

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} timers SEC(".maps"); /* so many are at work on this processor: one interrupts another */

const volatile __u64 ring_bytes[SAMPLES_RING_CNT] = {SAMPLES_RECORD_MAX, SAMPLES_RECORD_MAX};
const volatile __u64 secret;
const volatile __u32 stack_bytes;     /* of a copy, a multiple of SAMPLES_CHUNK; 0: none */
const volatile __u64 switch_every_ns; /* stacks at switches of a thread, one in this time on the average */
const volatile bool kernel_stacks;
const volatile __u16 calls[SAMPLES_CALLS]; /* enum samples_call */

bool recording;
__u64 unready_cnt; /* so often there was no room for one more in `ready` */

/* Bit N: process N is SAMPLES_TARGET. Hooks that see all processes look here. */
__u64 marks[SAMPLES_PIDS / 64];

/* ---- records ---- */

/* Room that was taken in a ring. */
struct place {
	struct samples_head *head;
	__u64 at;
	__u32 room;
};

static __always_inline bool is_target(__u32 pid)
{
	asm volatile("" : "+r"(pid)); /* a verifier sees only what is done to it from here on */
	return pid < SAMPLES_PIDS && marks[pid / 64] >> pid % 64 & 1;
}

/* Among what there is one of for each ring of each processor. */
static __always_inline __u32 place_of(__u32 cpu, enum samples_ring ring)
{
	return cpu * SAMPLES_RING_CNT + ring;
}

/* This processor's; NULL: never. `size` is its length, 0: never. */
struct own_ring {
	struct samples_head *head;
	__u8 *bytes;
	__u64 size;
};

static __always_inline struct own_ring own_ring(enum samples_ring ring)
{
	__u32 cpu = bpf_get_smp_processor_id(), nth = place_of(cpu, ring);

	return (struct own_ring){.head = bpf_map_lookup_elem(&heads, &nth),
				 .bytes = ring == SAMPLES_TICKS ? bpf_map_lookup_elem(&ticks, &cpu)
								: bpf_map_lookup_elem(&moments, &cpu),
				 .size = ring_bytes[ring]};
}

/* Room for `room` bytes in a ring; NULL: never. */
static __always_inline void *reserve(enum samples_ring ring, __u32 room, struct place *ret_place)
{
	struct own_ring here = own_ring(ring);
	__u64 at, offset;

	if (!here.head || !here.bytes || !here.size)
		return NULL;
	at = __sync_fetch_and_add(&here.head->head, room);
	offset = at % here.size;
	if (offset > here.size - SAMPLES_ALIGN)
		return NULL;
	ret_place->head = here.head;
	ret_place->at = at;
	ret_place->room = room;
	return here.bytes + offset;
}

/* Whether all but `size` bytes of the room could be given back. */
static __always_inline bool give_back(const struct place *place, __u32 size)
{
	__u64 after = place->at + place->room;

	return __sync_val_compare_and_swap(&place->head->head, after, place->at + size) == after;
}

/* The record is there from now on; `size` bytes of it were needed. */
static __always_inline void commit(const struct place *place, struct samples_record *record, __u32 size)
{
	size = (size + SAMPLES_ALIGN - 1) & ~(SAMPLES_ALIGN - 1u);
	if (size != place->room && !give_back(place, size))
		size = place->room;
	record->size = size;
	asm volatile("" ::: "memory");
	*(volatile __u64 *)&record->mark = place->at ^ secret;
}

static __always_inline void fill(struct samples_record *record, enum samples_kind kind, __u32 pid, __u32 tid,
				 __u64 now)
{
	record->mark = 0;
	asm volatile("" ::: "memory");
	record->time_ns = now;
	record->kind = kind;
	record->flags = 0;
	record->took_ns = SAMPLES_NOT_YET;
	record->pid = pid;
	record->tid = tid;
}

/* In whole words: there is no need of a helper. */
static __always_inline void copy_name(char *to, const struct task_struct *task)
{
	const __u64 *name = (const __u64 *)task->comm;

	_Static_assert(SAMPLES_NAME == 2 * sizeof(*name), "all of it");
	((__u64 *)to)[0] = name[0];
	((__u64 *)to)[1] = name[1];
}

/* The system call a thread is in: -1: none. */
static __always_inline __s32 syscall_of(const struct pt_regs *user)
{
	return (__s32)user->orig_ax;
}

#include "bpf/samples_about.bpf.h"
#include "bpf/samples_threads.bpf.h"

#include "bpf/samples_code.bpf.h"
#include "bpf/samples_stack.bpf.h"

enum { ROOM = SAMPLES_RECORD_MAX & ~(SAMPLES_ALIGN - 1) };

/* ---- ticks ---- */

static __always_inline int tick(struct bpf_perf_event_data *ctx)
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
	if (!in_user && kernel_stacks)
		size += put_kernel(full, ctx, 0);
	commit(&place, &full->record, size);
	return 0;
}

SEC("perf_event")
int on_tick(struct bpf_perf_event_data *ctx)
{
	return tick(ctx);
}

/*
 * A processor's counter counts on for whoever runs. So it is read where a target's thread begins to run,
 * where it stops, and between where the counter has come round: the differences are the thread's.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, SIZE_AT_LOAD); /* of each processor SAMPLES_COUNTERS_MAX */
	__type(key, __u32);
	__type(value, __u32);
} counters SEC(".maps");

struct counted {
	struct {
		__u64 value;
		__u32 tid; /* which thread ran then, and has run since if it runs now */
	} last[SAMPLES_COUNTERS_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counted);
} counted SEC(".maps");

const volatile __u32 read_counters; /* bit N: event N + 1 is read; else it comes round each time */

static __always_inline void put_count(__u32 event, __u64 cnt, __u64 id, __u64 now)
{
	struct samples_record *record;
	struct place place;

	record = reserve(SAMPLES_MOMENTS, sizeof(*record), &place);
	if (!record)
		return;
	fill(record, SAMPLES_TICK, id >> 32, (__u32)id, now);
	record->tick.period = cnt;
	record->tick.event = event;
	record->tick.kernel_ip = 0;
	commit(&place, record, sizeof(*record));
}

/* What the counter has counted of the running thread since it was read last; it is read now. */
static __always_inline __u64 count_since(__u32 nth, __u64 value, __u32 tid)
{
	__u32 zero = 0;
	struct counted *here = bpf_map_lookup_elem(&counted, &zero);
	__u64 since;

	if (!here)
		return 0;
	nth %= SAMPLES_COUNTERS_MAX;
	since = here->last[nth].tid == tid ? value - here->last[nth].value : 0;
	here->last[nth].value = value;
	here->last[nth].tid = tid;
	return since;
}

/* A thread begins to run, or stops (`is_end`). */
static __always_inline void read_all(__u64 id, __u64 now, bool is_end)
{
	struct bpf_perf_event_value value;
	__u32 first;
	__u64 cnt;

	if (!read_counters)
		return;
	first = bpf_get_smp_processor_id() * SAMPLES_COUNTERS_MAX;
	for (__u32 nth = 0; nth < SAMPLES_COUNTERS_MAX; nth++) {
		if (!(read_counters >> nth & 1) ||
		    bpf_perf_event_read_value(&counters, first + nth, &value, sizeof(value)))
			continue;
		cnt = count_since(nth, value.counter, (__u32)id);
		if (is_end && cnt)
			put_count(nth + 1, cnt, id, now);
	}
}

/* A counter has come round; which one it is says the cookie. */
SEC("perf_event")
int on_event(struct bpf_perf_event_data *ctx)
{
	__u64 id = ids_here(), cnt = ctx->sample_period;
	__u32 event = (__u32)bpf_get_attach_cookie(ctx), nth = (event - 1) % SAMPLES_COUNTERS_MAX;
	struct bpf_perf_event_value value;

	if (!recording || !is_target(id >> 32))
		return 0;
	if (read_counters >> nth & 1) {
		if (bpf_perf_prog_read_value(ctx, &value, sizeof(value)))
			return 0;
		cnt = count_since(nth, value.counter, (__u32)id);
	}
	if (cnt)
		put_count(event, cnt, id, bpf_ktime_get_ns());
	return 0;
}

/* ---- switches ---- */

/* TASK_*: it waits for something, and not only for a signal that lets it go on. */
enum { STATE_INTERRUPTIBLE = 1, STATE_UNINTERRUPTIBLE = 2 };

/* This program, and what the kernel calls it by. */
enum { OWN_FRAMES = 3 };

#include "bpf/samples_session.bpf.h"

static __always_inline void put_wait(struct samples_record *record, const struct pt_regs *user, __u8 flags,
				     __u32 state)
{
	record->flags = flags;
	record->out.ip = user->ip;
	record->out.args[0] = user->di;
	record->out.args[1] = user->si;
	record->out.nr = syscall_of(user);
	record->out.state = state;
}

/* So many stacks at switches may follow each other at once. */
enum { STACKS_AT_ONCE = 64 };

/*
 * A stack for each switch would cost as much as the switch. A thread that waits seldom gets one each time;
 * one that waits often gets one now and then, which shows where it does.
 */
static __always_inline bool wants_stack(__u32 tid, __u64 now)
{
	__u32 place = bpf_get_smp_processor_id() * SAMPLES_RING_CNT + SAMPLES_MOMENTS,
	      nth = place * SAMPLES_SLOTS + tid % SAMPLES_SLOTS;
	struct slot *slot = bpf_map_lookup_elem(&slots, &nth);

	if (!stack_bytes || !slot)
		return 0;
	if (slot->next_ns < now || slot->tid != tid)
		slot->next_ns = now;
	if (slot->next_ns - now >= STACKS_AT_ONCE * switch_every_ns)
		return 0;
	slot->next_ns += switch_every_ns;
	return 1;
}

static __always_inline void switch_out(void *ctx, bool preempt, struct task_struct *task, __u32 state,
				       __u64 now)
{
	struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(task);
	__u32 pid = pid_of(task), tid = tid_of(task);
	bool with_stack = !preempt && wants_stack(tid, now);
	struct samples_record *record;
	struct samples_full *full;
	struct place place;
	__u8 flags = preempt ? SAMPLES_PREEMPT : 0;
	__u32 size;

	state = state_seen(task, state);
	if (!preempt && state & (STATE_INTERRUPTIBLE | STATE_UNINTERRUPTIBLE))
		flags = put_about(task, user, syscall_of(user), now, (__u64)pid << 32 | tid);
	if (!with_stack) {
		record = reserve(SAMPLES_MOMENTS, sizeof(*record), &place);
		if (!record)
			return;
		fill(record, SAMPLES_OUT, pid, tid, now);
		put_wait(record, user, flags, state);
		commit(&place, record, sizeof(*record));
		return;
	}
	full = reserve(SAMPLES_MOMENTS, ROOM, &place);
	if (!full)
		return;
	fill(&full->record, SAMPLES_OUT, pid, tid, now);
	put_wait(&full->record, user, flags, state);
	take_registers(SAMPLES_MOMENTS, user);
	size = put_full(full, SAMPLES_MOMENTS, task);
	if (kernel_stacks)
		size += put_kernel(full, ctx, OWN_FRAMES);
	commit(&place, &full->record, size);
}

/* ---- who had the processor meanwhile ---- */

static __always_inline struct ready *ready_of(__u32 tid)
{
	__u32 nth = tid % SAMPLES_THREADS_MAX;

	return bpf_map_lookup_elem(&ready, &nth);
}

/* Its cgroup has used up the time that it may have (cpu.max). */
static __always_inline bool is_throttled(struct task_struct *task)
{
	enum { PRIO_FAIR = 100 };

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
	run->begin_ns = here->switched_ns;
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

/* It could have run since then, but for its cgroup's limit; 0: not known. */
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
 * long that one has run; of a real-time thread it is taken that it has since the last switch that was seen.
 */
static __always_inline void find_unseen(struct runs *here, const struct task_struct *prev, __u64 now)
{
	__u64 ran = prev->se.sum_exec_runtime - prev->se.prev_sum_exec_runtime, since;
	__u32 was_throttled = 0;

	if (!here->running || here->running == (__u64)prev)
		return;
	if (ran < now - here->switched_ns)
		here->switched_ns = now - ran;
	if (!is_target(pid_of(prev)))
		return;
	since = take_ready(tid_of(prev), &was_throttled);
	switch_in(here, prev, since, was_throttled, here->switched_ns);
}

/* (bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state) */
SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	struct runs *here = runs_here();
	__u32 tid = tid_of(prev), was_throttled = 0;
	__u64 now, since;
	bool wants_next;

	if (!here)
		return 0;
	if (!recording) {
		here->running = 0;
		return 0;
	}
	now = bpf_ktime_get_ns();
	find_unseen(here, prev, now);
	here->running = (__u64)next;
	note_run(here, prev, now);
	wants_next = is_target(pid_of(next));
	since = wants_next ? take_ready(tid_of(next), &was_throttled)
			   : 0; /* first: both may have the same place */
	if (is_target(pid_of(prev))) {
		read_all((__u64)pid_of(prev) << 32 | tid, now, 1);
		switch_out(ctx, ctx[0], prev, ctx[3], now);
		if (ctx[0] || !ctx[3])
			note_ready(tid, now, is_throttled(prev));
		else
			note_waiting(tid);
	}
	if (wants_next) {
		read_all((__u64)pid_of(next) << 32 | tid_of(next), now, 0);
		switch_in(here, next, since, was_throttled, now);
	}
	return 0;
}

/* ---- wake-ups ---- */

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
	return !task->pid || (task->mm && syscall_of((struct pt_regs *)bpf_task_pt_regs(task)) < 0);
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
	*target = SAMPLES_TARGET;
	return 0;
}

/* ---- system calls and page faults ---- */

/* (struct pt_regs *regs, long nr) */
SEC("tp_btf/sys_enter")
int on_enter(__u64 *ctx)
{
	struct pt_regs *user = (void *)ctx[0];
	__u64 id = ids_here(), now;
	struct samples_record *record;
	struct place place;
	__u8 flags;

	if (!recording || !is_target(id >> 32))
		return 0;
	now = bpf_ktime_get_ns();
	flags = call_of((__s32)ctx[1]) ? put_about(bpf_get_current_task_btf(), user, (__s32)ctx[1], now, id)
				       : 0;
	record = reserve(SAMPLES_MOMENTS, sizeof(*record), &place);
	if (!record)
		return 0;
	fill(record, SAMPLES_ENTER, id >> 32, (__u32)id, now);
	record->flags = flags;
	record->enter.nr = (__s32)ctx[1];
	record->enter.args[0] = user->di;
	record->enter.args[1] = user->si;
	record->enter.args[2] = user->dx;
	commit(&place, record, sizeof(*record));
	place.head->entered = place.at;
	return 0;
}

/* Puts the call's end into the record of its begin. False: that is not the last one here any more. */
static __always_inline bool end_entered(__u64 id, __s64 result, __u64 now)
{
	struct own_ring here = own_ring(SAMPLES_MOMENTS);
	struct samples_record *record;
	__u64 at, offset, took;

	if (!here.head || !here.bytes || !here.size)
		return 0;
	at = here.head->entered;
	offset = at % here.size & ~(SAMPLES_ALIGN - 1ull); /* as it is; a verifier wants to see it */
	if (here.head->head != at + sizeof(*record) || offset > here.size - SAMPLES_ALIGN)
		return 0;
	record = (struct samples_record *)(here.bytes + offset);
	took = now - record->time_ns;
	if (record->mark != (at ^ secret) || record->kind != SAMPLES_ENTER || record->tid != (__u32)id ||
	    took <= SAMPLES_TAKEN || took >> 32 || result != (__s32)result)
		return 0;
	record->enter.result = (__s32)result;
	return __sync_val_compare_and_swap(&record->took_ns, SAMPLES_NOT_YET, (__u32)took) == SAMPLES_NOT_YET;
}

/* (struct pt_regs *regs, long result) */
SEC("tp_btf/sys_exit")
int on_leave(__u64 *ctx)
{
	struct pt_regs *user = (void *)ctx[0];
	__u64 id = ids_here(), now;
	struct samples_record *record;
	struct place place;

	if (!recording || !is_target(id >> 32))
		return 0;
	now = bpf_ktime_get_ns();
	if (end_entered(id, (__s64)ctx[1], now))
		return 0;
	record = reserve(SAMPLES_MOMENTS, sizeof(*record), &place);
	if (!record)
		return 0;
	fill(record, SAMPLES_LEAVE, id >> 32, (__u32)id, now);
	record->leave.result = (__s64)ctx[1];
	record->leave.nr = syscall_of(user);
	commit(&place, record, sizeof(*record));
	return 0;
}

/* (unsigned long address, struct pt_regs *regs, unsigned long error_code) */
SEC("tp_btf/page_fault_user")
int on_fault(__u64 *ctx)
{
	struct pt_regs *user = (void *)ctx[1];
	__u64 id = ids_here();
	struct samples_record *record;
	struct place place;

	if (!recording || !is_target(id >> 32))
		return 0;
	record = reserve(SAMPLES_MOMENTS, sizeof(*record), &place);
	if (!record)
		return 0;
	fill(record, SAMPLES_FAULT, id >> 32, (__u32)id, bpf_ktime_get_ns());
	record->fault.address = ctx[0];
	record->fault.ip = user->ip;
	commit(&place, record, sizeof(*record));
	return 0;
}

#include "bpf/samples_waiting.bpf.h"

/* ---- interrupts of the running thread ---- */

struct irqaction {
	const char *name;
} __attribute__((preserve_access_index));

/* When those began that this processor is in. */
struct interrupts {
	__u64 began_ns[SAMPLES_IRQ_FORMS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct interrupts);
} interrupts SEC(".maps");

static __always_inline int interrupt_begins(enum samples_interrupt form)
{
	__u32 zero = 0;
	struct interrupts *here = bpf_map_lookup_elem(&interrupts, &zero);

	if (here && recording)
		here->began_ns[form] = bpf_ktime_get_ns();
	return 0;
}

/* Who runs has lost the time. */
static __always_inline int interrupt_ends(enum samples_interrupt form, __u32 number, const char *name)
{
	__u32 zero = 0;
	struct interrupts *here = bpf_map_lookup_elem(&interrupts, &zero);
	__u64 id = ids_here(), began_ns = here ? here->began_ns[form] : 0;
	struct samples_record *record;
	struct place place;

	if (!recording || !began_ns || !is_target(id >> 32))
		return 0;
	here->began_ns[form] = 0;
	record = reserve(SAMPLES_MOMENTS, sizeof(*record), &place);
	if (!record)
		return 0;
	fill(record, SAMPLES_INTERRUPT, id >> 32, (__u32)id, began_ns);
	record->interrupt.end_ns = bpf_ktime_get_ns();
	record->interrupt.number = number;
	record->interrupt.form = form;
	record->interrupt.name[0] = '\0';
	if (name)
		bpf_probe_read_kernel_str(record->interrupt.name, sizeof(record->interrupt.name), name);
	commit(&place, record, sizeof(*record));
	return 0;
}

/* (int irq, struct irqaction *action) */
SEC("tp_btf/irq_handler_entry")
int on_irq(__u64 *ctx)
{
	(void)ctx;
	return interrupt_begins(SAMPLES_IRQ_DEVICE);
}

/* (int irq, struct irqaction *action, int result) */
SEC("tp_btf/irq_handler_exit")
int on_irq_end(__u64 *ctx)
{
	const struct irqaction *action = (void *)ctx[1];

	return interrupt_ends(SAMPLES_IRQ_DEVICE, (__u32)ctx[0], action->name);
}

/* (unsigned int number) */
SEC("tp_btf/softirq_entry")
int on_softirq(__u64 *ctx)
{
	(void)ctx;
	return interrupt_begins(SAMPLES_IRQ_SOFT);
}

SEC("tp_btf/softirq_exit")
int on_softirq_end(__u64 *ctx)
{
	return interrupt_ends(SAMPLES_IRQ_SOFT, (__u32)ctx[0], NULL);
}

/* (int vector) */
SEC("tp_btf/local_timer_entry")
int on_clock(__u64 *ctx)
{
	(void)ctx;
	return interrupt_begins(SAMPLES_IRQ_CLOCK);
}

SEC("tp_btf/local_timer_exit")
int on_clock_end(__u64 *ctx)
{
	(void)ctx;
	return interrupt_ends(SAMPLES_IRQ_CLOCK, 0, NULL);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
