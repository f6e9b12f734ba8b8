/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of sampled allocations and of their ends, with the call stack, as they go to the ring. Only
 * bpf/alloc.bpf.c includes this, behind its maps.
 */
#pragma once

static __always_inline void fill(struct alloc *alloc, __u32 kind, __u64 address, const struct live *live,
				 __u64 now)
{
	__u64 id = own_id();

	*alloc = (struct alloc){
		.time_ns = now,
		.address = address,
		.size = live->size,
		.samples = live->samples,
		.began_ns = live->began_ns,
		.pid = id >> 32,
		.tid = (__u32)id,
		.kind = kind,
	};
}

static __always_inline __u64 wakeup(void)
{
	bool many = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) > wake_bytes;

	return many ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

/* As much as there is: near the end of the stack, less than a record has room for. */
static __always_inline void copy_stack(struct alloc_sample *sample, __u64 sp)
{
	__u32 size = tail_bytes;

	if (!bpf_probe_read_user(sample->tail, size, (void *)sp)) {
		sample->stack_bytes = size;
		return;
	}
	for (__u32 at = 0; at + ALLOC_STACK_STEP <= size; at += ALLOC_STACK_STEP) {
		if (bpf_probe_read_user(sample->tail + at, ALLOC_STACK_STEP, (void *)(sp + at)))
			break;
		sample->stack_bytes = at + ALLOC_STACK_STEP;
	}
}

/* Where a function will return to, and how far its return address is above rsp; 0: it has returned. */
struct return_place {
	__u64 caller, above;
};

static __always_inline void fill_stack(struct alloc_sample *sample, struct pt_regs *regs,
				       const struct return_place *at)
{
	long bytes;

	sample->ip_cnt = 0;
	sample->stack_bytes = 0;
	bpf_probe_read_kernel(sample->regs, sizeof(sample->regs), regs);
	if (at->caller) {
		sample->regs[HIT_IP] = at->caller;
		sample->regs[HIT_SP] += at->above + WORD;
	}
	if (!by_frame_pointers) {
		copy_stack(sample, sample->regs[HIT_SP]);
		return;
	}
	bytes = bpf_get_stack(regs, sample->tail, tail_bytes, BPF_F_USER_STACK);
	sample->ip_cnt = bytes > 0 ? (__u32)bytes / WORD : 0;
	if (at->caller)
		*(__u64 *)sample->tail = at->caller;
}

static __always_inline void record_end(struct pt_regs *regs, const struct return_place *at, __u64 address,
				       const struct live *ended)
{
	struct alloc_sample *sample = bpf_ringbuf_reserve(
		&records, ends_have_stacks ? sizeof(*sample) + tail_bytes : sizeof(sample->alloc), 0);

	if (!sample) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	fill(&sample->alloc, ALLOC_FREED, address, ended, bpf_ktime_get_ns());
	if (ends_have_stacks)
		fill_stack(sample, regs, at);
	bpf_ringbuf_submit(sample, wakeup());
}

static __always_inline void record_begin(struct pt_regs *regs, const struct return_place *at, __u32 function,
					 __u64 address, __u64 size, __u64 samples)
{
	struct live begun = {bpf_ktime_get_ns(), size, samples};
	struct alloc_sample *sample = bpf_ringbuf_reserve(&records, sizeof(*sample) + tail_bytes, 0);

	/* Its end is not recorded either. */
	if (!sample) {
		__sync_fetch_and_add(&lost, 1);
		__sync_fetch_and_add(&lost_samples, samples);
		bpf_map_delete_elem(&live, &address);
		return;
	}
	fill(&sample->alloc, ALLOC_SAMPLED, address, &begun, begun.began_ns);
	sample->alloc.function = function;
	fill_stack(sample, regs, at);
	if (bpf_map_update_elem(&live, &address, &begun, BPF_ANY))
		__sync_fetch_and_add(&forgotten, 1);
	bpf_ringbuf_submit(sample, wakeup());
}
