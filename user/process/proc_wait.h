/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a thread waits, from /proc. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct proc_wait {
	/* of the thread so far: who reads it twice sees whether the thread has run in between */
	uint64_t switches;
	char state; /* as in proc(5): S, D, T or t */
	int32_t nr; /* the system call that it is in; -1: none */
	uint64_t args[6], sp, ip;
};

/* 0; -EAGAIN: the thread does not wait; -ESRCH: it has ended; -EPERM: this user may not know. No sentence. */
int proc_wait_read(pid_t tid, struct proc_wait *ret_wait);
