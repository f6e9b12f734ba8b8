/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What runs at a probe: note where and with which registers, hand it over, and return. Deciding is left to user space; the two
 * actions that cannot wait for it are carried out here: waking it for a hit that ends the recording, and stopping a thread
 * that is to be traced from this very instruction on.
 *
 * The probe's cookie says whose hit it is: the trigger's index in the low half, the action in the high half.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/hit.h"

enum { SIGSTOP = 19 };

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20); /* some 1400 hits */
} hits SEC(".maps");

__u64 lost; /* hits that `hits` had no room for */

static void fill(struct hit *hit, struct pt_regs *regs, __u64 cookie)
{
	__u64 id = bpf_get_current_pid_tgid();
	long bytes;

	/* The ring's memory holds older hits, and all of the record may be saved. */
	__builtin_memset(hit, 0, sizeof(*hit));
	hit->time_ns = bpf_ktime_get_ns();
	hit->cpu = bpf_get_smp_processor_id();
	hit->pid = id >> 32;
	hit->tid = (__u32)id;
	hit->trigger = (__u32)cookie;
	hit->action = cookie >> 32;
	bpf_probe_read_kernel(hit->regs, sizeof(hit->regs), regs);
	bpf_probe_read_user(&hit->return_address, sizeof(hit->return_address), (void *)hit->regs[HIT_RSP]);
	bytes = bpf_get_stack(regs, hit->stack, sizeof(hit->stack), BPF_F_USER_STACK);
	hit->stack_cnt = bytes > 0 ? bytes / sizeof(hit->stack[0]) : 0;
	bpf_get_current_comm(hit->comm, sizeof(hit->comm));
}

/* Always 0: some kernels take another value for "remove this probe". */
SEC("uprobe")
int trigger_hit(struct pt_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs);
	__u32 action = cookie >> 32;
	struct hit *hit = bpf_ringbuf_reserve(&hits, sizeof(*hit), 0);

	if (!hit) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	fill(hit, regs, cookie);
	/* A wakeup costs the target microseconds, and only one kind of hit is waited for. */
	bpf_ringbuf_submit(hit, action & HIT_STOP ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	/* Not where the hit is lost: nobody would let the thread go on. */
	if (action & HIT_START)
		bpf_send_signal_thread(SIGSTOP);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
