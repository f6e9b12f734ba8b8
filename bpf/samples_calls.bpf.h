/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the targets' threads enter and leave system calls, and their page faults. A short call's end goes
 * into the record of its begin. Only bpf/samples.bpf.c includes this.
 */
#pragma once

/*
 * As ids_here(), of a target's thread with these registers; 0: it is none, or nothing is recorded. To ask the
 * kernel takes longer than all else that a stranger's call costs here.
 */
static __always_inline __u64 target_here(const struct pt_regs *user)
{
	__u64 check = half_of(user) << 32 ^ *(volatile __u64 *)&marks_changes, id;
	struct runs *here = recording ? runs_here() : NULL;

	if (!here)
		return 0;
	if (here->caller.user == (__u64)user && here->caller.check == (check ^ here->caller.id))
		return here->caller.id;
	id = ids_here();
	if (!is_target(id >> 32))
		id = 0;
	here->caller = (struct caller){.user = (__u64)user, .id = id, .check = check ^ id};
	return id;
}

/* (struct pt_regs *regs, long nr) */
SEC("tp_btf/sys_enter")
int on_enter(__u64 *ctx)
{
	struct pt_regs *user = (void *)ctx[0];
	__u64 id = target_here(user), now;
	struct samples_record *record;
	struct place place;
	__u8 flags;

	if (!id || !is_64_bit(user))
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
	__u64 id = target_here(user), now;
	struct samples_record *record;
	struct place place;

	if (!id)
		return 0;
	now = bpf_ktime_get_ns();
	if (end_entered(id, (__s64)ctx[1], now))
		return 0;
	record = reserve(SAMPLES_MOMENTS, sizeof(*record), &place);
	if (!record)
		return 0;
	fill(record, SAMPLES_LEAVE, id >> 32, (__u32)id, now);
	record->leave.result = (__s64)ctx[1];
	record->leave.nr = named_syscall_of(user);
	commit(&place, record, sizeof(*record));
	return 0;
}

/* (unsigned long address, struct pt_regs *regs, unsigned long error_code) */
SEC("tp_btf/page_fault_user")
int on_fault(__u64 *ctx)
{
	struct pt_regs *user = (void *)ctx[1];
	__u64 id = target_here(user);
	struct samples_record *record;
	struct place place;

	if (!id)
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
