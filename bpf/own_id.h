/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by user space and BPF. */
#pragma once

#ifndef __BPF__
#include <linux/types.h>
#endif

/*
 * The pid namespace of the user of BPF programs, as stat(2) names it; ino 0: the initial one. With it, where
 * the kernel keeps the numbers of a process: offsets of fields, from the kernel's BTF; upid_bytes 0: not
 * known.
 */
struct own_namespace {
	__u64 dev, ino;
	__u32 thread_pid, group_leader; /* in struct task_struct */
	__u32 level, numbers;	  /* in struct pid: so many more of struct upid, from the outermost on */
	__u32 upid_bytes, nr, ns; /* of struct upid */
	__u32 inum;		  /* in struct pid_namespace */
};
