/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF programs at allocation functions. They decide whether a sampling point falls into the allocation,
 * record a sampled one with its stack when it returns, and record its end.
 *
 *	alloc_session	entry and return in one (Linux 6.13): the return of a call that is not
 *			wanted is not even probed
 *	alloc_begin	the same for kernels without it:
 *	alloc_end	every return is probed
 *	alloc_exit	at return instructions of functions that an exception may pass, which no return probe
 *			must stand behind; they begin with alloc_begin
 *	alloc_free	at the entry of what frees
 *	alloc_usdt	where an allocator that samples for itself tells of it; nothing is decided here then
 *
 * Sampling points lie on the sequence of bytes that a thread allocates, at exponentially distributed
 * distances (a Poisson process): the number of points in an allocation is on average its size divided by the
 * mean distance, whatever the sizes and their order.
 *
 * An allocation function may call another one (realloc calls malloc), which then does not count. So such a
 * function always asks for its own return; until then the thread's other calls, further down the stack, are
 * ignored.
 *
 * An address identifies an allocation only until it is freed, and another thread can get the address before
 * the freeing call returns. So the argument of realloc() is removed from the live allocations before the
 * call, and put back if the call fails.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/alloc_probe.h"
#include "bpf/own_id.bpf.h"

enum {
	FRACTION_BITS = 8, /* distances are in 1/256 bytes */
	LOG_BITS = 20,
	POINTS_MAX = 16,      /* drawn one by one */
	SIZE_MAX_BITS = 47,   /* there is no more address space */
	RING_BYTES = 1 << 22, /* set by user space */
	WORD = sizeof(__u64),
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} records SEC(".maps");

/* Sampled allocations that are alive, by address. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct live);
} live SEC(".maps");

struct thread {
	__s64 left; /* to the next sampling point */
	/* of the call at work whose return will be seen */
	__u64 sp; /* at its entry; 0: there is none */
	__u64 cookie, size, samples;
	__u64 pointer;
	__u64 caller;	 /* its return address, where it may end by an exception */
	struct live old; /* what was alive at `pointer`; began_ns 0: nothing */
	__u32 started, wanted;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

const volatile __u64 interval = 1;     /* the mean distance, in bytes; 1: all is recorded */
const volatile __u64 interval_per_log; /* ... times ln(2), in 1/256 bytes */
const volatile __u32 tail_bytes = ALLOC_STACK_STEP;
const volatile __u32 wake_bytes;
const volatile bool by_frame_pointers;
const volatile bool ends_have_stacks;

/* By role.function. */
const volatile struct usdt_arg usdt_args[ALLOC_USDT_MAX][ALLOC_USDT_ARGS];

const volatile struct alloc_range ranges[ALLOC_RANGES_MAX];

struct alloc_totals totals[ALLOC_TOTALS_MAX];
__u64 lost, lost_samples, forgotten;

/* ---- sampling ---- */

/*
 * The distance to the next point: -ln(u) * interval, for u in (0, 1], by way of the logarithm to base 2, a
 * bit at a time.
 */
__noinline __u64 draw(void)
{
	__u64 u = (__u64)bpf_get_prandom_u32() + 1, log = 0;
	__u64 mantissa, whole = 0;

	for (int shift = 32; shift; shift >>= 1) {
		__u64 some = (u >> whole) >> shift ? shift : 0;

		whole += some;
	}
	mantissa = whole > 31 ? u >> (whole - 31) : u << (31 - whole); /* [1, 2), 31 bits of fraction */
	for (int i = 0; i < LOG_BITS; i++) {
		__u64 carry;

		mantissa = mantissa * mantissa >> 31;
		carry = mantissa >> 32;
		mantissa >>= carry;
		log = log << 1 | carry;
	}
	log |= whole << LOG_BITS;
	return (((__u64)32 << LOG_BITS) - log) * interval_per_log >> LOG_BITS;
}

/*
 * How many points are in so many 1/256 bytes behind one: after some, the mean number, rounded to one of its
 * neighbours by chance.
 */
static __always_inline __u64 points_behind(struct thread *thread, __u64 rest)
{
	__u64 points = 0, chance;

	for (int i = 0; i < POINTS_MAX; i++) {
		__u64 gap = draw();

		if (gap > rest) {
			thread->left = gap - rest;
			return points;
		}
		rest -= gap;
		points++;
	}
	thread->left = draw();
	rest >>= FRACTION_BITS;
	chance = ((rest % interval) << 32) / interval;
	return points + rest / interval + (bpf_get_prandom_u32() < chance);
}

static __always_inline __u64 sample(struct thread *thread, __u64 size)
{
	__s64 fine = (__s64)(size << FRACTION_BITS);

	if (interval == 1)
		return size;
	if (!thread->started) {
		thread->started = 1;
		thread->left = draw();
	}
	if (thread->left > fine) {
		thread->left -= fine;
		return 0;
	}
	return 1 + points_behind(thread, fine - thread->left);
}

#include "bpf/alloc_records.bpf.h"

/* ---- calls ---- */

union cookie {
	__u64 number;
	struct alloc_role role;
};

/* The verifier takes no computed place in the registers; a read from the kernel's memory can have one. */
static __always_inline __u64 arg(const struct pt_regs *regs, __u8 reg)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (const void *)regs + reg * WORD);
	return value;
}

/* False: no memory is that large, and the call will fail. */
static __always_inline bool asked_size(const struct pt_regs *regs, const struct alloc_role *role,
				       __u64 *ret_size)
{
	__u64 size = arg(regs, role->size_arg), cnt;

	if (role->count_arg != ALLOC_NO_ARG) {
		cnt = arg(regs, role->count_arg);
		if (size >> SIZE_MAX_BITS || (size && cnt > (1ull << SIZE_MAX_BITS) / size))
			return 0;
		size *= cnt;
	}
	*ret_size = size;
	return !(size >> SIZE_MAX_BITS);
}

/*
 * A mapping that holds a file, reserves addresses only, or is made by the allocator's own code, is no
 * allocation.
 */
static __always_inline bool is_mapping(struct pt_regs *regs, const struct alloc_role *role)
{
	enum { PROT_NONE = 0, MAP_ANONYMOUS = 0x20 };
	__u64 caller = 0,
	      here = regs->ip; /* at the probe: bpf_get_func_ip() tells it only from Linux 6.6 on */
	const volatile struct alloc_range *range;

	if (role->call == ALLOC_CALL_MAP &&
	    (arg(regs, role->prot_arg) == PROT_NONE || !(arg(regs, role->flags_arg) & MAP_ANONYMOUS)))
		return 0;
	if (!role->range || role->range > ALLOC_RANGES_MAX)
		return 1;
	range = &ranges[role->range - 1];
	bpf_probe_read_user(&caller, sizeof(caller), (void *)regs->sp);
	return caller < here - range->before || caller >= here + range->behind;
}

static __always_inline bool is_resize(const struct alloc_role *role)
{
	return role->call == ALLOC_CALL_RESIZE || role->call == ALLOC_CALL_RESIZE_IN_PLACE ||
	       role->call == ALLOC_CALL_REMAP;
}

static __always_inline void count(__u64 size)
{
	struct alloc_totals *mine = &totals[bpf_get_smp_processor_id() % ALLOC_TOTALS_MAX];

	__sync_fetch_and_add(&mine->calls, 1);
	__sync_fetch_and_add(&mine->bytes, size);
}

static __always_inline bool take_live(__u64 address, struct live *ret_taken)
{
	struct live *found = bpf_map_lookup_elem(&live, &address);

	if (!found)
		return 0;
	*ret_taken = *found;
	return !bpf_map_delete_elem(&live, &address);
}

/* Whether a call at that place on the stack is a part of the one whose return will be seen. */
static __always_inline bool is_inside(const struct thread *thread, __u64 number, __u64 sp)
{
	union cookie at_work = {thread->cookie};
	__u64 caller = 0;

	if (!thread->sp || sp > thread->sp)
		return 0;
	if (!at_work.role.exits)
		return 1;
	/* The same function again, in the same place: it threw. Others may have been jumped to. */
	if (sp == thread->sp)
		return thread->cookie != number;
	bpf_probe_read_user(&caller, sizeof(caller), (void *)thread->sp);
	return caller == thread->caller;
}

/* A call that never returned: longjmp(3), an exception. What it was to end is still there. */
static __always_inline void forget_call(struct thread *thread)
{
	if (thread->sp && thread->old.began_ns)
		bpf_map_update_elem(&live, &thread->pointer, &thread->old, BPF_NOEXIST);
	thread->sp = 0;
}

/*
 * The return of a call is worth seeing: it has sampling points, it may end an allocation that had, or others
 * that it calls must not count.
 */
static __always_inline bool begin(struct pt_regs *regs, __u64 number)
{
	union cookie cookie = {number};
	const struct alloc_role *role = &cookie.role;
	struct thread *thread =
		bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u64 size, sp = regs->sp + role->pushed;

	if (!thread || is_inside(thread, number, sp))
		return 0;
	forget_call(thread);
	if (!asked_size(regs, role, &size))
		return 0;
	if ((role->call == ALLOC_CALL_MAP || role->call == ALLOC_CALL_REMAP) && !is_mapping(regs, role))
		return 0;
	count(size);
	thread->size = size;
	thread->samples = sample(thread, size);
	thread->wanted = interval == 1 || thread->samples;
	thread->pointer = role->pointer_arg == ALLOC_NO_ARG ? 0 : arg(regs, role->pointer_arg);
	thread->old.began_ns = 0;
	if (is_resize(role) && !take_live(thread->pointer, &thread->old))
		thread->old.began_ns = 0;
	if (!thread->wanted && !thread->old.began_ns && !role->nests)
		return 0;
	if (role->exits)
		bpf_probe_read_user(&thread->caller, sizeof(thread->caller), (void *)sp);
	thread->cookie = number;
	thread->sp = sp;
	return 1;
}

/* Where the memory is that the call has given; 0: it has failed. */
static __always_inline __u64 given(const struct pt_regs *regs, const struct thread *thread, __u8 call)
{
	__u64 address = 0;

	switch (call) {
	case ALLOC_CALL_NEW_AT:
		if (!(__u32)regs->ax)
			bpf_probe_read_user(&address, sizeof(address), (void *)thread->pointer);
		return address;
	case ALLOC_CALL_MAP:
	case ALLOC_CALL_REMAP:
		return (__s64)regs->ax < 0 ? 0 : regs->ax;
	case ALLOC_CALL_RESIZE_IN_PLACE:
		return regs->ax >= thread->size ? thread->pointer : 0;
	default:
		return regs->ax;
	}
}

static __always_inline void end(struct pt_regs *regs, struct thread *thread, __u64 caller)
{
	const struct return_place at = {caller, 0};
	union cookie cookie = {thread->cookie};
	__u64 address = given(regs, thread, cookie.role.call);

	thread->sp = 0;
	if (thread->old.began_ns) {
		if (!address && thread->size) {
			bpf_map_update_elem(&live, &thread->pointer, &thread->old, BPF_NOEXIST);
			return;
		}
		record_end(regs, &at, thread->pointer, &thread->old);
	}
	if (address && thread->wanted)
		record_begin(regs, &at, cookie.role.function, address, thread->size, thread->samples);
}

static __always_inline void end_at_return(struct pt_regs *regs, __u64 number)
{
	struct thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);

	if (thread && thread->sp && thread->sp + WORD == regs->sp && thread->cookie == number)
		end(regs, thread, 0);
}

/* ---- an allocator's own probes ---- */

/*
 * How many samples so many bytes are, rounded to one of its neighbours by chance: they may have been drawn
 * with another interval than ours.
 */
static __always_inline __u64 samples_of(__u64 bytes)
{
	__u64 chance = ((bytes % interval) << 32) / interval;

	return bytes / interval + (bpf_get_prandom_u32() < chance);
}

/* What was there before ended without a word. */
static __always_inline void told_alloc(struct pt_regs *regs, __u32 function, const __u64 *args)
{
	const struct return_place here = {0};
	struct live old;
	__u64 samples;

	count(args[2]);
	if (take_live(args[0], &old))
		record_end(regs, &here, args[0], &old);
	samples = samples_of(args[2]);
	if (samples || interval == 1)
		record_begin(regs, &here, function, args[0], args[1], samples);
}

static __always_inline void told_free(struct pt_regs *regs, const struct return_place *at, __u64 address)
{
	struct live ended;

	if (take_live(address, &ended))
		record_end(regs, at, address, &ended);
}

static __always_inline void told_forgotten(__u64 address)
{
	struct live ended;

	if (take_live(address, &ended))
		__sync_fetch_and_add(&forgotten, 1);
}

/* ---- the programs ---- */

/* 1: the return is not to be probed. */
SEC("uprobe")
int alloc_session(struct pt_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs);

	if (regs->ip == bpf_get_func_ip(regs))
		return !begin(regs, cookie);
	end_at_return(regs, cookie);
	return 0;
}

SEC("uprobe")
int alloc_begin(struct pt_regs *regs)
{
	begin(regs, bpf_get_attach_cookie(regs));
	return 0;
}

SEC("uretprobe")
int alloc_end(struct pt_regs *regs)
{
	end_at_return(regs, bpf_get_attach_cookie(regs));
	return 0;
}

/* Any function may have been jumped to by one whose call is at work: the place on the stack tells. */
SEC("uprobe")
int alloc_exit(struct pt_regs *regs)
{
	struct thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	union cookie at_work;

	if (!thread || !thread->sp || thread->sp != regs->sp)
		return 0;
	at_work.number = thread->cookie;
	if (at_work.role.exits)
		end(regs, thread, thread->caller);
	return 0;
}

SEC("uprobe")
int alloc_free(struct pt_regs *regs)
{
	union cookie cookie = {bpf_get_attach_cookie(regs)};
	struct return_place at = {.above = cookie.role.pushed};

	if (ends_have_stacks)
		bpf_probe_read_user(&at.caller, sizeof(at.caller), (void *)regs->sp + at.above);
	told_free(regs, &at, arg(regs, cookie.role.pointer_arg));
	return 0;
}

SEC("uprobe")
int alloc_usdt(struct pt_regs *regs)
{
	union cookie cookie = {bpf_get_attach_cookie(regs)};
	__u64 values[HIT_REG_CNT] = {0}, args[ALLOC_USDT_ARGS] = {0};
	__u32 function = cookie.role.function;
	const struct return_place here = {0};

	if (function >= ALLOC_USDT_MAX)
		return 0;
	bpf_probe_read_kernel(values, sizeof(values), regs);
	for (int i = 0; i < ALLOC_USDT_ARGS; i++)
		args[i] = usdt_arg_value((const struct usdt_arg *)&usdt_args[function][i], values,
					 bpf_probe_read_user);
	if (cookie.role.call == ALLOC_USDT_ALLOC)
		told_alloc(regs, function, args);
	else if (cookie.role.call == ALLOC_USDT_FREE)
		told_free(regs, &here, args[0]);
	else
		told_forgotten(args[0]);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
