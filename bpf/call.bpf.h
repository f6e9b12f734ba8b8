/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls in progress of probed functions. A probe at a function's beginning stores the call. A probe at its
 * return instructions (user/probe/exits/exits.h) finds it by the stack address of the return address, which
 * is unique among the calls in progress of a process, whatever threads, signals and coroutines do. A call
 * that never returns (exception, longjmp, end of the thread) leaves its entry until the next call at that
 * stack address replaces it.
 *
 * Go moves whole stacks, so there the key is the goroutine and the distance from the end of its stack.
 *
 * A function may end in a tail call: a jump to another function, which returns in its place. If that function
 * is probed, too, its beginning is not a new call, and no proof that the old call is over: the probe at the
 * jump records that the call goes on.
 */
#pragma once

struct call_key {
	__u64 owner; /* process and trigger */
	__u64 base;  /* Go: the goroutine; between two places: the goroutine or thread; else 0 */
	__u64 sp;    /* of the return address; Go: distance from the stack's end; between two places: 0 */
};

struct call {
	__u64 begin_ns;
	__u64 stack; /* of struct firing, as the next two */
	__u64 args[HIT_ARG_CNT];
	__u32 args_known;
	__u32 jumps; /* it has jumped to another function, whose beginning comes next */
};

/* LRU: calls that never return are forgotten first. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CALLS_MAX);
	__type(key, struct call_key);
	__type(value, struct call);
} calls SEC(".maps");

/*
 * Go keeps the goroutine (struct g, which begins with its stack's lowest address and end) in r14
 * (https://go.dev/s/regabi).
 */
static __always_inline bool goroutine_key(const struct pt_regs *regs, struct call_key *key)
{
	struct {
		__u64 low, end;
	} stack;

	if (bpf_probe_read_user(&stack, sizeof(stack), (void *)regs->r14) || regs->sp < stack.low ||
	    regs->sp >= stack.end)
		return 0;
	key->base = regs->r14;
	key->sp = stack.end - regs->sp;
	return 1;
}

static __always_inline struct call_key call_key(const struct pt_regs *regs, __u64 cookie)
{
	__u64 id = bpf_get_current_pid_tgid(), place = cookie >> COOKIE_PLACE_SHIFT;
	struct call_key key = {.owner = id >> 32 << 32 | cookie % RULE_MAX};

	if (!(place & PLACE_GO) || !goroutine_key(regs, &key))
		key.sp = regs->sp;
	if (place & PLACE_SPAN) {
		key.base = key.base ?: (__u32)id;
		key.sp = 0;
	}
	return key;
}

/* Whether a conditional jump is taken; `condition` as x86 numbers them (Intel SDM, volume 1, appendix B). */
static __always_inline bool is_taken(__u64 flags, __u32 condition)
{
	bool carry = flags & 1, parity = flags & 1 << 2, zero = flags & 1 << 6, sign = flags & 1 << 7,
	     overflow = flags & 1 << 11, holds;

	switch (condition >> 1) {
	case 0:
		holds = overflow;
		break;
	case 1:
		holds = carry;
		break;
	case 2:
		holds = zero;
		break;
	case 3:
		holds = carry || zero;
		break;
	case 4:
		holds = sign;
		break;
	case 5:
		holds = parity;
		break;
	case 6:
		holds = sign != overflow;
		break;
	default:
		holds = zero || sign != overflow;
	}
	return holds != (condition & 1);
}

/* Whether a call in progress goes on here. Forgets a stored call that cannot. */
static __always_inline bool call_goes_on(const struct call_key *key, __u64 place)
{
	struct call *call = bpf_map_lookup_elem(&calls, key);

	if (call && call->jumps) {
		call->jumps = 0;
		return 1;
	}
	if (call && place & PLACE_OTHER)
		bpf_map_delete_elem(&calls, key);
	return place & PLACE_OTHER;
}

/*
 * Fills *firing with the call that ends here, and forgets it. False: there is none, or it goes on elsewhere.
 */
static __always_inline bool call_ends(const struct pt_regs *regs, __u64 cookie, struct rule *rule,
				      struct firing *firing)
{
	struct call_key key = call_key(regs, cookie);
	__u64 place = cookie >> COOKIE_PLACE_SHIFT;
	struct call *call;

	if (place & PLACE_CONDITIONAL && !is_taken(regs->flags, place >> PLACE_CONDITION_SHIFT & 15))
		return 0;
	call = bpf_map_lookup_elem(&calls, &key);
	if (!call) {
		if (!(place & (PLACE_JUMP | PLACE_OTHER)))
			__sync_fetch_and_add(&rule->without_call, 1);
		return 0;
	}
	if (place & PLACE_JUMP && !(place & PLACE_LEAVES)) {
		call->jumps = 1;
		return 0;
	}
	firing->begin_ns = call->begin_ns;
	__builtin_memcpy(firing->args, call->args, sizeof(firing->args));
	firing->stack = call->stack;
	firing->args_known = call->args_known;
	bpf_map_delete_elem(&calls, &key);
	if (!(place & PLACE_LEAVES) || !rule->asks_result)
		return 1;
	__sync_fetch_and_add(&rule->without_result, 1);
	return 0;
}
