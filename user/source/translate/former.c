/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that has a slot there may still be in the code cache. Once it has been given back, it is out some
 * instructions later: it is stopped and looked at. That stop is the next one that the session sees of it. One
 * that sleeps in a system call may never wake: it is made to sleep in the program's own call. A forked child
 * has no slot, since those are of its parent.
 */
#include "source/translate/former.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/cleanup.h"
#include "process/proc_status.h"
#include "source/translate/runtime_file.h"
#include "translate/slot.h"

/* Also where it has no rights yet, since who made it was killed before it gave them. */
static bool read_there(pid_t tid, uint64_t at, void *bytes, size_t size)
{
	CLEANUP(closep) int memory = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	return memory >= 0 && pread(memory, bytes, size, (off_t)at) == (ssize_t)size;
}

/* Of this very build, whose structs we know. */
static bool is_known(pid_t tid)
{
	const size_t size = (size_t)(runtime_file_end - runtime_file_begin);
	uint8_t *bytes = malloc(size);
	bool is_same = bytes && read_there(tid, ARENA_BASE + ARENA_CODE, bytes, size) &&
		       !memcmp(bytes, runtime_file_begin, size);

	free(bytes);
	return is_same;
}

static bool is_inside(const struct shared *shared, uint64_t addr)
{
	if (addr - ARENA_BASE < arena_bytes(shared->ring_size, shared->slot_cnt) ||
	    addr - NOPS_AT < NOPS_MAX * NOP_SIZE)
		return true;
	for (uint32_t i = 0; i < shared->region_cnt && i < REGIONS_MAX; i++)
		if (addr - shared->regions[i].start < REGION_SIZE)
			return true;
	return false;
}

/* In the runtime's system call, or about to make it, it has the program's own registers: it is put there. */
static void leave_call(const struct shared *shared, const struct context *context,
		       struct user_regs_struct *regs)
{
	const struct runtime_header *header = (const void *)runtime_file_begin;
	const uint64_t behind = shared->runtime + header->syscalled;

	if (context->has_signal || (regs->rip != behind && regs->rip != behind - ARCH_SYSCALL_SIZE))
		return;
	regs->rip += context->syscall_next - behind;
	regs->rcx = context->syscall_next;
	regs->gs_base = 0;
	ptrace(PTRACE_SETREGS, context->tid, NULL, regs);
}

static bool is_out(const struct injection *injection, const struct shared *shared,
		   const struct context *context)
{
	struct user_regs_struct regs = injection->regs;

	if (context->tid != injection->tid) {
		if (!injection_stop(context->tid) || ptrace(PTRACE_GETREGS, context->tid, NULL, &regs))
			return false;
		leave_call(shared, context, &regs);
	}
	/* Its slot may have been made ready, and no more. */
	if (!context->why && regs.gs_base == context->self)
		return false;
	return !is_inside(shared, regs.rip) && !is_inside(shared, regs.rsp);
}

static bool read_shared(pid_t tid, struct shared *ret_shared)
{
	return is_known(tid) && read_there(tid, ARENA_BASE, ret_shared, sizeof(*ret_shared)) &&
	       ret_shared->slot_cnt <= SLOTS_MAX && ret_shared->ring_size <= RING_SIZE_MAX;
}

static bool read_context(pid_t tid, const struct shared *shared, uint32_t slot, struct context *ret_context)
{
	return read_there(tid, slot_address(shared->ring_size, slot), ret_context, sizeof(*ret_context));
}

void former_leave_call(pid_t tid)
{
	struct user_regs_struct regs;
	struct context context;
	struct shared shared;

	if (!read_shared(tid, &shared) || ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return;
	for (uint32_t i = 0; i < shared.slot_cnt && read_context(tid, &shared, i, &context) && context.self;
	     i++)
		if (context.tid == tid)
			leave_call(&shared, &context, &regs);
}

bool former_is_left(const struct injection *injection, struct shared *ret_shared)
{
	const pid_t tid = injection->tid;
	struct context context = {0};
	uint64_t pid;

	if (proc_status_number(tid, "Tgid", 10, &pid) || !read_shared(tid, ret_shared) ||
	    is_inside(ret_shared, injection->regs.rip) || is_inside(ret_shared, injection->regs.rsp))
		return false;
	for (uint32_t i = 0; i < ret_shared->slot_cnt; i++) {
		if (!read_context(tid, ret_shared, i, &context))
			return false;
		/* None behind this one was ever taken. */
		if (!context.self)
			break;
		/* Which thread was born last is not known. (One that was to be taken over made no call.) */
		if (context.pid == (pid_t)pid && context.tid < 0 && !context.is_process &&
		    context.syscall_next)
			return false;
		if (context.pid == (pid_t)pid && context.tid > 0 &&
		    !syscall(SYS_tgkill, pid, context.tid, 0) && !is_out(injection, ret_shared, &context))
			return false;
	}
	return true;
}
