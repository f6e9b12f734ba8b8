/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers of the running process and thread as the user of these programs sees them. */
#pragma once

#include <bpf/bpf_helpers.h>

const volatile __u64 ns_dev; /* our pid namespace, as stat(2) names it; 0: the initial one */
const volatile __u64 ns_ino;

/* bpf_get_current_pid_tgid(), but in our pid namespace; 0 for a process that is not in it. */
static __always_inline __u64 own_id(void)
{
	struct bpf_pidns_info here;

	if (!ns_ino)
		return bpf_get_current_pid_tgid();
	if (bpf_get_ns_current_pid_tgid(ns_dev, ns_ino, &here, sizeof(here)))
		return 0;
	return (__u64)here.tgid << 32 | here.pid;
}
