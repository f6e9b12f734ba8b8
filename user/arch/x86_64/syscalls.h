/* SPDX-License-Identifier: BSD-2-Clause */
/* The system calls of x86-64 by number. */
#pragma once

#include <stdint.h>

/* What the first argument is. */
enum syscall_first { SYSCALL_NOTHING, SYSCALL_FD, SYSCALL_ADDRESS, SYSCALL_PROCESS };

/* Where its bare name begins in `in`. */
enum { SYSCALL_NAME_AT = 10 };

struct syscall_info {
	const char *in;	     /* "[syscall] read": a thread is in it */
	const char *waiting; /* "[off-cpu] read": ... and waits there */
	enum syscall_first first;
};

/* Never NULL; a number that is none: "[syscall]" and "[off-cpu]". */
const struct syscall_info *syscall_info(int32_t nr);
