/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why trailcam cannot attach to a process: checked before it tries, and explained after the kernel has
 * refused.
 */
#pragma once

#include <sys/types.h>

/*
 * 0, or with a sentence: -ESRCH: there is no such process; -EINVAL: a kernel thread, a zombie, trailcam
 * itself; -EBUSY: another tracer has it; -ENOTSUP: a 32-bit program.
 */
int attach_check(pid_t pid);

/* 0, or -ENOTSUP with a sentence: a 32-bit program. */
int attach_check_machine(pid_t pid);

/*
 * Explains the kernel's -EPERM: whose process it is and which right is missing, or which setting forbids it.
 * Returns err.
 */
int attach_refused(pid_t pid, int err);
