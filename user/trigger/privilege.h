/* SPDX-License-Identifier: BSD-2-Clause */
/* What a refused system call was refused for, and the one command that helps. */
#pragma once

/* bpf(2) said EPERM. Returns -EPERM with the sentence. */
int privilege_fail_bpf(void);

/* perf_event_open(2) said EPERM or EACCES for a uprobe. Returns -EPERM with the sentence. */
int privilege_fail_perf_uprobe(void);
