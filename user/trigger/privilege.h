/* SPDX-License-Identifier: BSD-2-Clause */
/* Explains why a system call was refused, with one command that helps. */
#pragma once

#include <stdbool.h>

/* For EPERM of bpf(2). Returns -EPERM with the sentence. */
int privilege_fail_bpf(void);

/* Whether this process may load programs that look at others: CAP_BPF and CAP_PERFMON. */
bool privilege_has_bpf(void);

/* Whether `err` means that no file descriptors are left, in any of its forms. */
bool privilege_is_descriptors(int err);

/* For no file descriptors left. Returns -EMFILE with the sentence. */
int privilege_fail_descriptors(void);

/* For EPERM or EACCES of perf_event_open(2) for a uprobe. Returns -EPERM with the sentence. */
int privilege_fail_perf_uprobe(void);
