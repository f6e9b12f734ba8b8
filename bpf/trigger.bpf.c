/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF programs at probes. They decide whether a firing is a hit, record its place and registers, and pass
 * it to user space. Two actions cannot wait for user space and happen here: waking it for a hit that ends the
 * recording, and stopping the thread.
 *
 *	trigger_hit	at the probed instruction
 *	call_begin	at a function's beginning, or the first of two places, for triggers that judge a call
 *			by its end: remembers it ...
 *	call_end	... and judges it at the function's return instructions, or the
 *			second place (bpf/call.bpf.h)
 *
 * The probe's cookie says whose hit it is (bpf/rule.h).
 *
 * The user's condition, and the reading of arguments that do not follow C's convention, are compiled to BPF
 * instructions (user/condition/condition.h) that replace the body of judge(). Each trigger that needs them
 * gets a copy of the program. So judge() must stay the only function that is really called.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/hit.h"
#include "bpf/rule.h"

#include "bpf/call.bpf.h"
#include "bpf/own_id.bpf.h"

enum { SIGSTOP = 19, HITS_BYTES = 1 << 20 /* user space asks for more where stacks are copied */ };

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, HITS_BYTES);
} hits SEC(".maps");

/* Thread groups whose firings count, where `only_targets` is set. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TARGETS_MAX);
	__type(key, __u32);
	__type(value, __u8);
} targets SEC(".maps");

const volatile bool only_targets; /* the links watch all processes */
const volatile bool
	/* that hit also says so to a tracepoint, with which a perf event waits that pauses the trace */
	pause;
const volatile __u32 value_bytes; /* room for values to be printed in each hit */
const volatile __u32 copy_bytes;  /* so much of the stack is copied with each hit */
const volatile __u32 wake_bytes;  /* user space is woken when so much waits */
const volatile bool freeze;	  /* the process is stopped by the hit that ends the recording */

struct rule rules[RULE_MAX];
__u64 stop_at;	/* which HIT_STOP hit, counted from 1, ends the recording; 0: each of them does something */
__u64 stop_cnt; /* HIT_STOP hits so far, with stop_at */
__u64 lost;	/* hits that `hits` had no room for */

/* With `values`: does not judge, but evaluates what is to be printed. */
static __noinline int judge(struct pt_regs *regs, struct firing *firing, __u8 *values)
{
	int holds = 1;

	/* The compiler must believe that the arguments matter and the result is not known. */
	asm volatile("" : "+r"(holds) : "r"(regs), "r"(firing), "r"(values) : "memory");
	return holds;
}

/* ---- is it a hit? ---- */

static __always_inline bool is_target(const struct firing *firing)
{
	__u32 pid = firing->id >> 32;

	return !only_targets || bpf_map_lookup_elem(&targets, &pid);
}

static __always_inline bool is_due(struct rule *rule, __u64 now)
{
	__u64 next = rule->next_ns;

	if (!rule->every_ns ||
	    (now >= next && __sync_val_compare_and_swap(&rule->next_ns, next, now + rule->every_ns) == next))
		return 1;
	__sync_fetch_and_add(&rule->limited, 1);
	return 0;
}

/* Nothing is recorded yet. */
static __always_inline bool is_held(const struct rule *rule)
{
	return *(volatile __u64 *)&rule->held;
}

static __always_inline bool passes(struct rule *rule, struct pt_regs *regs, struct firing *firing,
				   __u64 *ret_now)
{
	int holds;

	if (is_held(rule))
		return 0;
	holds = judge(regs, firing, NULL);

	if (holds < 0)
		__sync_fetch_and_add(&rule->unreadable, 1);
	if (holds <= 0 || __sync_fetch_and_add(&rule->passed, 1) < rule->skip)
		return 0;
	*ret_now = firing->end_ns ?: bpf_ktime_get_ns();
	return is_due(rule, *ret_now);
}

/* ---- the record ---- */

/* As C's calling convention says; judge() knows better where there is another one. */
static __always_inline void c_args(const struct pt_regs *regs, struct firing *firing)
{
	__u64 *args = firing->args;

	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->cx;
	args[4] = regs->r8;
	args[5] = regs->r9;
	firing->stack = regs->sp + sizeof(__u64);
	firing->args_known = 0x3f;
}

static __always_inline void fill_call(struct hit_record *hit, const struct firing *firing)
{
	__builtin_memcpy(hit->args, firing->args, sizeof(hit->args));
	hit->args_known = firing->args_known;
	hit->layout = firing->layout;
	hit->begin_ns = firing->end_ns ? firing->begin_ns : hit->time_ns;
	if (hit->action & HIT_MARK && hit->args[0] && hit->args[0] < hit->time_ns)
		hit->begin_ns = hit->args[0];
}

/* The ring's memory holds older hits: each field is written. */
static __always_inline void fill(struct hit_record *hit, struct pt_regs *regs, __u64 id, __u32 trigger,
				 __u32 action, __u64 now)
{
	hit->time_ns = now;
	hit->cpu = bpf_get_smp_processor_id();
	hit->trigger = trigger;
	hit->action = action;
	hit->pid = id >> 32;
	hit->tid = (__u32)id;
	hit->value_bytes = value_bytes;
	hit->copy_room = copy_bytes;
	hit->unused = 0;
	bpf_probe_read_kernel(hit->regs, sizeof(hit->regs), regs);
	bpf_probe_read_user(&hit->top, sizeof(hit->top), (void *)hit->regs[HIT_SP]);
	bpf_get_current_comm(hit->comm, sizeof(hit->comm));
}

static __always_inline void copy_stack(struct hit_record *hit)
{
	const __u8 *sp = (const __u8 *)hit->regs[HIT_SP];
	__u32 size = copy_bytes;

	hit->copy_bytes = 0;
	if (!bpf_probe_read_user(hit->tail + value_bytes, size, sp)) {
		hit->copy_bytes = size;
		return;
	}
	for (__u32 at = 0; at + HIT_COPY_STEP <= size; at += HIT_COPY_STEP) {
		if (bpf_probe_read_user(hit->tail + value_bytes + at, HIT_COPY_STEP, sp + at))
			break;
		hit->copy_bytes = at + HIT_COPY_STEP;
	}
}

static __always_inline __u32 frame_cnt(long bytes)
{
	return bytes > 0 ? (__u32)bytes / sizeof(__u64) : 0;
}

/*
 * Room for a hit, with the return addresses in it; NULL: there is none. The assembly, which does nothing,
 * keeps the compiler from making one call of the two: the kernel wants the size of each to be a constant.
 */
static __always_inline struct hit_record *make_room(struct pt_regs *regs)
{
	__u64 few[HIT_FRAMES_FEW];
	long bytes = bpf_get_stack(regs, few, sizeof(few), BPF_F_USER_STACK);
	__u32 fixed = sizeof(struct hit_record) + value_bytes + copy_bytes;
	__u8 *frames;
	struct hit_record *hit;

	if (bytes < (long)sizeof(few)) {
		hit = bpf_ringbuf_reserve(&hits, fixed + sizeof(few), 0);
		asm volatile("%0 = %0" : "+r"(hit));
		if (!hit)
			return NULL;
		__builtin_memcpy(hit->tail + value_bytes + copy_bytes, few, sizeof(few));
	} else {
		hit = bpf_ringbuf_reserve(&hits, fixed + HIT_STACK_MAX * sizeof(__u64), 0);
		if (!hit)
			return NULL;
		frames = hit->tail + value_bytes + copy_bytes;
		bytes = bpf_get_stack(regs, frames, HIT_STACK_MAX * sizeof(__u64), BPF_F_USER_STACK);
	}
	hit->frame_cnt = frame_cnt(bytes);
	return hit;
}

/*
 * With stop_at, hits before the one that ends the recording are only noted, and those after it are none of
 * the recording's: 0.
 */
static __always_inline bool settle(__u32 *action)
{
	__u64 cnt;

	if (!(*action & HIT_STOP) || !stop_at)
		return 1;
	if (stop_cnt >= stop_at)
		return 0;
	cnt = __sync_fetch_and_add(&stop_cnt, 1) + 1;
	if (cnt > stop_at) {
		__sync_fetch_and_add(&stop_cnt, -1);
		return 0;
	}
	if (cnt < stop_at)
		*action &= ~HIT_STOP;
	return 1;
}

/*
 * A wakeup costs the target microseconds. One kind of hit is waited for; others are read when there are many.
 */
static __always_inline __u64 wakeup(__u32 action)
{
	bool many = bpf_ringbuf_query(&hits, BPF_RB_AVAIL_DATA) > wake_bytes;

	return action & HIT_STOP || many ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static __always_inline void record(struct pt_regs *regs, __u64 cookie, struct firing *firing, __u64 now)
{
	__u32 asked = (cookie >> COOKIE_ACTION_SHIFT) % COOKIE_ACTION_MAX, action = asked;
	struct hit_record *hit;

	if (!settle(&action))
		return;
	hit = make_room(regs);
	if (!hit) {
		__sync_fetch_and_add(&lost, 1);
		/* It does not count: another one must end the recording. */
		if (asked & HIT_STOP && stop_at)
			__sync_fetch_and_add(&stop_cnt, -1);
		return;
	}
	/*
	 * The one bridge from a uprobe_multi program to perf events: bpf_trace_printk is a tracepoint, and it
	 * fires here and now.
	 */
	if (action & HIT_STOP && pause)
		bpf_printk("trailcam: hit");
	fill(hit, regs, firing->id, cookie % RULE_MAX, action, now);
	fill_call(hit, firing);
	copy_stack(hit);
	if (value_bytes)
		judge(regs, firing, hit->tail);
	bpf_ringbuf_submit(hit, wakeup(action));
	/* Not where the hit is lost: nobody would let the thread go on. */
	if (action & HIT_START || (action & HIT_STOP && freeze))
		bpf_send_signal_thread(SIGSTOP);
}

/* ---- the programs: always 0, since some kernels take another value for "remove this probe" ---- */

SEC("uprobe")
int trigger_hit(struct pt_regs *regs)
{
	__u64 now, cookie = bpf_get_attach_cookie(regs);
	struct firing firing = {.id = own_id(), .layout = (__u32)cookie >> COOKIE_LAYOUT_SHIFT};

	if (!is_target(&firing))
		return 0;
	c_args(regs, &firing);
	if (passes(&rules[cookie % RULE_MAX], regs, &firing, &now))
		record(regs, cookie, &firing, now);
	return 0;
}

SEC("uprobe")
int call_begin(struct pt_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs), place = cookie >> COOKIE_PLACE_SHIFT;
	struct firing firing = {.id = own_id(), .layout = (__u32)cookie >> COOKIE_LAYOUT_SHIFT};
	struct call_key key = call_key(regs, cookie);
	struct call call = {.jumps = !!(place & PLACE_JUMP)};

	if (!is_target(&firing))
		return 0;
	/* What began before the trace is no call of it. */
	if (is_held(&rules[cookie % RULE_MAX])) {
		bpf_map_delete_elem(&calls, &key);
		return 0;
	}
	if (call_goes_on(&key, place))
		return 0;
	c_args(regs, &firing);
	judge(regs, &firing, NULL);
	__builtin_memcpy(call.args, firing.args, sizeof(call.args));
	call.args_known = firing.args_known;
	call.stack = firing.stack;
	call.begin_ns = bpf_ktime_get_ns();
	bpf_map_update_elem(&calls, &key, &call, BPF_ANY);
	return 0;
}

SEC("uprobe")
int call_end(struct pt_regs *regs)
{
	__u64 now, cookie = bpf_get_attach_cookie(regs);
	struct rule *rule = &rules[cookie % RULE_MAX];
	struct firing firing = {.id = own_id(), .end_ns = bpf_ktime_get_ns()};

	if (is_target(&firing) && !is_held(rule) && call_ends(regs, cookie, rule, &firing) &&
	    firing.end_ns - firing.begin_ns >= rule->slower_than_ns && passes(rule, regs, &firing, &now))
		record(regs, cookie, &firing, now);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
