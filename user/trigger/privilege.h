/* SPDX-License-Identifier: BSD-2-Clause */
/* Explains why a system call was refused, with one command that helps. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* For EPERM of bpf(2). Returns -EPERM with the sentence. */
int privilege_fail_bpf(void);

/*
 * What this process lacks to load programs that look at others, as text: CAP_BPF and CAP_PERFMON, or those of
 * the initial user namespace; NULL: nothing.
 */
const char *privilege_bpf_lacks(void);

/* Whether this process is in another user namespace than the initial one, where no capability counts. */
bool privilege_in_user_namespace(void);

/* Whether `err` means that no file descriptors are left, in any of its forms. */
bool privilege_is_descriptors(int err);

/*
 * What is to be opened takes so many at least: 0, or -EMFILE with a sentence that begins with `what` if this
 * process may not have them.
 */
int privilege_check_descriptors(size_t cnt, const char *what);

/* For no file descriptors left. Returns -EMFILE with the sentence. */
int privilege_fail_descriptors(void);

/* For EPERM or EACCES of perf_event_open(2) for a uprobe. Returns -EPERM with the sentence. */
int privilege_fail_perf_uprobe(void);
