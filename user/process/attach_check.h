/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a process cannot be attached to, told before trying, or after the kernel has said no. */
#pragma once

#include <sys/types.h>

/*
 * 0, or with a sentence: -ESRCH: there is no such process; -EINVAL: a kernel thread, a zombie, trailcam
 * itself; -EBUSY: it is traced already;
 * -ENOTSUP: a 32-bit program.
 */
int attach_check(pid_t pid);

/*
 * The kernel's -EPERM explained: whose process it is and what is missing, or which setting forbids it.
 * Returns err.
 */
int attach_refused(pid_t pid, int err);
