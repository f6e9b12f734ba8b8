/* SPDX-License-Identifier: BSD-2-Clause */
/* What a refused system call was refused for, and the one command that helps. */
#pragma once

#include <stdbool.h>

/* bpf(2) said EPERM. Returns -EPERM with the sentence. */
int privilege_fail_bpf(void);

/* Whether this process may load programs that look at others: CAP_BPF and CAP_PERFMON. */
bool privilege_has_bpf(void);

/* Whether something failed because no file descriptors are left, whatever it says. */
bool privilege_is_descriptors(int err);

/* ... for probes: returns -EMFILE with the sentence. */
int privilege_fail_descriptors(void);

/* perf_event_open(2) said EPERM or EACCES for a uprobe. Returns -EPERM with the sentence. */
int privilege_fail_perf_uprobe(void);
