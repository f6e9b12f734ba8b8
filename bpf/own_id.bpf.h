/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers of the running process and thread as the user of these programs sees them. */
#pragma once

#include <bpf/bpf_helpers.h>

#include "bpf/own_id.h"

enum { NAMESPACES_MAX = 33 }; /* one in the other (include/linux/pid_namespace.h, MAX_PID_NS_LEVEL) */

const volatile struct own_namespace own;

static __always_inline __u64 word_at(__u64 address)
{
	__u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (const void *)address);
	return word;
}

/* That of the thread; 0: it is in no namespace below ours. */
static __always_inline __u32 own_number(__u64 task)
{
	__u64 pid = word_at(task + own.thread_pid), upid = pid + own.numbers;
	__u32 level = (__u32)word_at(pid + own.level);

	for (__u32 i = 0; i < NAMESPACES_MAX && i <= level; i++, upid += own.upid_bytes)
		if ((__u32)word_at(word_at(upid + own.ns) + own.inum) == (__u32)own.ino)
			return (__u32)word_at(upid + own.nr);
	return 0;
}

/*
 * bpf_get_current_pid_tgid(), but in our pid namespace; 0 for a process that is not in it. The helper knows
 * none of those in a namespace below.
 */
static __always_inline __u64 own_id(void)
{
	struct bpf_pidns_info here;
	__u64 task;

	if (!own.ino)
		return bpf_get_current_pid_tgid();
	if (!bpf_get_ns_current_pid_tgid(own.dev, own.ino, &here, sizeof(here)))
		return (__u64)here.tgid << 32 | here.pid;
	if (!own.upid_bytes)
		return 0;
	task = bpf_get_current_task();
	return (__u64)own_number(word_at(task + own.group_leader)) << 32 | own_number(task);
}
