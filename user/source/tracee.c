/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/tracee.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "base/cleanup.h"

enum { EFLAGS_TF = 0x100 };

#define TRAP_MASK (1ull << (SIGTRAP - 1))

uint64_t tracee_reg(pid_t tid, size_t offset)
{
	errno = 0;
	return (uint64_t)ptrace(PTRACE_PEEKUSER, tid, offset, NULL);
}

uint64_t tracee_ip(pid_t tid)
{
	return tracee_reg(tid, offsetof(struct user_regs_struct, rip));
}

int tracee_signal_code(pid_t tid)
{
	siginfo_t info = {0};

	return ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) ? 0 : info.si_code;
}

static bool is_ours(int signal, int code)
{
	return (signal == SIGTRAP && code > 0) || (signal == SIGSTOP && code == SI_KERNEL);
}

bool tracee_signal_is_ours(pid_t tid, int signal)
{
	return is_ours(signal, tracee_signal_code(tid));
}

bool tracee_ours_is_queued(pid_t tid)
{
	struct __ptrace_peeksiginfo_args args = {.nr = 32};
	siginfo_t queued[32];
	long cnt = ptrace(PTRACE_PEEKSIGINFO, tid, &args, queued);

	for (long i = 0; i < cnt; i++)
		if (is_ours(queued[i].si_signo, queued[i].si_code))
			return true;
	return false;
}

bool tracee_unblock_trap(pid_t tid)
{
	uint64_t mask;

	if (ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(mask), &mask) || !(mask & TRAP_MASK))
		return false;
	mask &= ~TRAP_MASK;
	ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof(mask), &mask);
	return true;
}

void tracee_block_trap(pid_t tid)
{
	uint64_t mask;

	if (ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(mask), &mask))
		return;
	mask |= TRAP_MASK;
	ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof(mask), &mask);
}

void tracee_hide_trap_flag(pid_t tid)
{
	uint64_t sp = tracee_reg(tid, offsetof(struct user_regs_struct, rsp));
	long flags;

	errno = 0;
	flags = ptrace(PTRACE_PEEKDATA, tid, (void *)sp, NULL);
	if (!errno)
		ptrace(PTRACE_POKEDATA, tid, (void *)sp, (void *)(flags & ~(long)EFLAGS_TF));
}

void tracee_comm(pid_t pid, pid_t tid, char *comm, int size)
{
	char path[64];
	CLEANUP(fclosep) FILE *file = NULL;

	comm[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	file = fopen(path, "re");
	if (file && fgets(comm, size, file))
		comm[strcspn(comm, "\n")] = '\0';
}

/* A number out of /proc/TID/status; 0 where it is not there. */
static int status_field(pid_t tid, const char *name)
{
	char path[64], line[256];
	CLEANUP(fclosep) FILE *file = NULL;
	int value = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		size_t len = strlen(name);

		if (!strncmp(line, name, len))
			value = atoi(line + len);
	}
	return value;
}

pid_t tracee_group(pid_t tid)
{
	return status_field(tid, "Tgid:");
}

pid_t tracee_parent(pid_t pid)
{
	return status_field(pid, "PPid:");
}

pid_t tracee_tracer(pid_t pid)
{
	return status_field(pid, "TracerPid:");
}

DIR *tracee_open_tasks(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return opendir(path);
}

pid_t tracee_next_task(DIR *tasks)
{
	struct dirent *entry;

	while ((entry = readdir(tasks)))
		if (atoi(entry->d_name) > 0)
			return atoi(entry->d_name);
	return 0;
}

/* Follows the frame pointers, each at [rbp] with the return address above it, as long as they lead up the stack. */
static void walk_stack(pid_t tid, struct hit *hit)
{
	uint64_t frame = hit->regs[HIT_RBP];

	hit->stack[hit->stack_cnt++] = hit->regs[HIT_RIP];
	while (hit->stack_cnt < HIT_STACK_MAX && frame) {
		uint64_t next, ret;

		errno = 0;
		next = (uint64_t)ptrace(PTRACE_PEEKDATA, tid, (void *)frame, NULL);
		ret = (uint64_t)ptrace(PTRACE_PEEKDATA, tid, (void *)(frame + sizeof(uint64_t)), NULL);
		if (errno)
			return;
		hit->stack[hit->stack_cnt++] = ret;
		if (next <= frame)
			return;
		frame = next;
	}
}

void tracee_describe(pid_t pid, pid_t tid, uint64_t time_ns, struct hit *ret_hit)
{
	static const enum hit_reg args[HIT_ARG_CNT] = {HIT_RDI, HIT_RSI, HIT_RDX, HIT_RCX, HIT_R8, HIT_R9};
	struct hit hit = {
		.time_ns = time_ns, .begin_ns = time_ns, .pid = (uint32_t)pid, .tid = (uint32_t)tid};
	struct user_regs_struct regs = {0};
	char comm[HIT_COMM_BYTES + 1];

	ptrace(PTRACE_GETREGS, tid, NULL, &regs);
	memcpy(hit.regs, &regs, sizeof(hit.regs)); /* begins like struct pt_regs */
	for (size_t i = 0; i < HIT_ARG_CNT; i++)
		hit.args[i] = hit.regs[args[i]];
	errno = 0;
	hit.return_address = (uint64_t)ptrace(PTRACE_PEEKDATA, tid, (void *)hit.regs[HIT_RSP], NULL);
	if (errno)
		hit.return_address = 0;
	walk_stack(tid, &hit);
	tracee_comm(pid, tid, comm, sizeof(comm));
	memcpy(hit.comm, comm, strlen(comm));
	*ret_hit = hit;
}
