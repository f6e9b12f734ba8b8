/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program may have forbidden itself: its filters are run for the calls that it is to make, and for the
 * one that the kernel may make it go on with.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "process/inject.h"
#include "process/proc_status.h"

#ifndef PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG /* Linux 6.4 */
#define PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG 0x4211
#endif

/* By its number, from the newest on. Instructions, or -1. */
static long read_filter(pid_t tid, uint64_t number, struct sock_filter *ret_filter)
{
	return ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *)number, ret_filter);
}

typedef bool (*lets_pass_fn)(const struct sock_filter *filter, size_t cnt, const struct filtered_call *call);

/* Each of the `filter_cnt` can be read, and lets all pass. */
static bool filters_let_pass(pid_t tid, uint64_t filter_cnt, lets_pass_fn lets_pass,
			     const struct filtered_call *calls, size_t cnt)
{
	struct sock_filter filter[BPF_MAXINSNS];

	for (uint64_t i = 0; i < filter_cnt; i++) {
		long size = read_filter(tid, i, NULL);

		if (size <= 0 || size > BPF_MAXINSNS || read_filter(tid, i, filter) != size)
			return false;
		for (size_t j = 0; j < cnt; j++)
			if (!lets_pass(filter, (size_t)size, &calls[j]))
				return false;
	}
	return true;
}

/* Linux 6.4 and later tell. */
static bool calls_are_dispatched(pid_t tid)
{
	struct {
		uint64_t mode, selector, offset, len;
	} config = {0};

	return !ptrace(PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, tid, (void *)sizeof(config), &config) &&
	       config.mode;
}

static bool are_let_pass(pid_t tid, lets_pass_fn lets_pass, const struct filtered_call *calls, size_t cnt)
{
	uint64_t mode = 0, filters = 0, own = 0;

	if (calls_are_dispatched(tid))
		return false;
	if (proc_status_number(tid, "Seccomp", 10, &mode) || !mode)
		return true;
	if (mode != SECCOMP_MODE_FILTER || proc_status_number(tid, "Seccomp_filters", 10, &filters))
		return false;
	return (!proc_status_number(getpid(), "Seccomp_filters", 10, &own) && filters == own) ||
	       filters_let_pass(tid, filters, lets_pass, calls, cnt);
}

bool injection_is_survived(pid_t tid, const struct filtered_call *calls, size_t cnt)
{
	return are_let_pass(tid, filter_is_survived, calls, cnt);
}

bool injection_is_allowed(pid_t tid, const struct filtered_call *calls, size_t cnt)
{
	return are_let_pass(tid, filter_allows, calls, cnt);
}

bool call_is_restarted(long result)
{
	return result <= -ERESTARTSYS && result >= -ERESTART_RESTARTBLOCK;
}

bool call_restart_plainly(pid_t tid)
{
	const struct filtered_call restart = {.number = SYS_restart_syscall};
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) || arch_syscall_nr(&regs) < 0 ||
	    arch_syscall_result(&regs) != -ERESTART_RESTARTBLOCK || injection_is_allowed(tid, &restart, 1))
		return false;
	arch_syscall_set_result(&regs, -ERESTARTNOHAND);
	return !ptrace(PTRACE_SETREGS, tid, NULL, &regs);
}
