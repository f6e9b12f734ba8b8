/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program maps the arena itself: it is made to do three system calls, with the instruction that its vDSO
 * has for them. It opens the memfd by the name that /proc has for ours. What is written below its stack
 * pointer for that is put back.
 */
#include "source/translate/inject.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "base/error.h"

enum { VDSO_SIZE = 8192, BELOW = 4096, NAME_MAX_BYTES = 64 };

/* A stopped process that does system calls for us. */
struct puppet {
	pid_t pid;
	int mem;		      /* /proc/PID/mem */
	uint64_t insn;		      /* address of a syscall instruction */
	struct user_regs_struct regs; /* its own */
};

static int find_vdso(pid_t pid, uint64_t *ret_addr)
{
	CLEANUP(fclosep) FILE *file = NULL;
	char path[64];
	uint64_t entry[2];

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	file = fopen(path, "re");
	if (!file)
		return fail_errno(-errno, "cannot read %s", path);
	while (fread(entry, sizeof(entry), 1, file) == 1) {
		if (entry[0] != AT_SYSINFO_EHDR)
			continue;
		*ret_addr = entry[1];
		return 0;
	}
	return fail(-ENOTSUP, "the program has no vDSO");
}

static int find_insn(struct puppet *puppet)
{
	static const uint8_t syscall_insn[] = {0x0f, 0x05};
	uint8_t bytes[VDSO_SIZE];
	const uint8_t *found;
	uint64_t vdso = 0;
	ssize_t size;
	int err = find_vdso(puppet->pid, &vdso);

	if (err)
		return err;
	size = pread(puppet->mem, bytes, sizeof(bytes), (off_t)vdso);
	found = size > 0 ? memmem(bytes, (size_t)size, syscall_insn, sizeof(syscall_insn)) : NULL;
	if (!found)
		return fail(-ENOTSUP, "there is no system call in the program's vDSO");
	puppet->insn = vdso + (uint64_t)(found - bytes);
	return 0;
}

/*
 * Until the instruction is done. The first step may end where it began: with the end of the exec, which has
 * set a register (its own result).
 */
static int step_over(const struct puppet *puppet, const struct user_regs_struct *regs,
		     struct user_regs_struct *ret_regs)
{
	do {
		int status;

		if (ptrace(PTRACE_SETREGS, puppet->pid, NULL, regs) ||
		    ptrace(PTRACE_SINGLESTEP, puppet->pid, NULL, NULL))
			return -errno;
		if (waitpid(puppet->pid, &status, __WALL) != puppet->pid || !WIFSTOPPED(status))
			return -ESRCH;
		if (ptrace(PTRACE_GETREGS, puppet->pid, NULL, ret_regs))
			return -errno;
	} while (ret_regs->rip == puppet->insn);
	return 0;
}

/* Its result, or -errno; both are negative in the same way. */
static long call(const struct puppet *puppet, long number, const uint64_t args[6])
{
	struct user_regs_struct regs = puppet->regs, after;
	int err;

	regs.rip = puppet->insn;
	regs.rax = (uint64_t)number;
	regs.orig_rax = (uint64_t)-1;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.r10 = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	err = step_over(puppet, &regs, &after);
	return err ? err : (long)after.rax;
}

static int map_arena(const struct puppet *puppet, uint64_t name)
{
	const long flags = MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE;
	long fd = call(puppet, SYS_openat, (uint64_t[6]){(uint64_t)AT_FDCWD, name, O_RDWR | O_CLOEXEC});
	long at;

	if (fd < 0)
		return fail_errno((int)fd, "the program cannot open the memory that it is to share");
	at = call(puppet, SYS_mmap,
		  (uint64_t[6]){ARENA_BASE, ARENA_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, (uint64_t)flags,
				(uint64_t)fd, 0});
	call(puppet, SYS_close, (uint64_t[6]){(uint64_t)fd});
	return at == ARENA_BASE
		       ? 0
		       : fail_errno((int)at, "the program cannot map the memory that it is to share");
}

static int map_by_name(const struct puppet *puppet, const struct arena *arena)
{
	uint64_t at = puppet->regs.rsp - BELOW;
	char before[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
	int err;

	memset(name, 0, sizeof(name));
	snprintf(name, sizeof(name), "/proc/%d/fd/%d", getpid(), arena->fd);
	if (pread(puppet->mem, before, sizeof(before), (off_t)at) != sizeof(before) ||
	    pwrite(puppet->mem, name, sizeof(name), (off_t)at) != sizeof(name))
		return fail(-EFAULT, "the program's stack cannot be written to");
	err = map_arena(puppet, at);
	if (pwrite(puppet->mem, before, sizeof(before), (off_t)at) != sizeof(before))
		return fail(-EFAULT, "the program's stack cannot be written to");
	return err;
}

int inject(pid_t pid, const struct arena *arena, int slot)
{
	struct context *context = arena_context(arena, slot);
	CLEANUP(closep) int mem = -1;
	struct puppet puppet = {.pid = pid};
	struct user_regs_struct regs;
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	puppet.mem = mem = open(path, O_RDWR | O_CLOEXEC);
	if (mem < 0)
		return fail_errno(-errno, "cannot open %s", path);
	if (ptrace(PTRACE_GETREGS, pid, NULL, &puppet.regs))
		return fail_errno(-errno, "cannot read the program's registers");
	if (puppet.regs.cs != 0x33)
		return fail(-ENOTSUP, "a 32-bit program cannot be translated");
	err = find_insn(&puppet);
	if (!err)
		err = map_by_name(&puppet, arena);
	regs = puppet.regs;
	regs.orig_rax = (uint64_t)-1;
	if (!err) {
		context->next = regs.rip;
		regs.rip = arena_shared(arena)->runtime + arena_header(arena)->start;
		regs.gs_base = context->self;
	}
	if (ptrace(PTRACE_SETREGS, pid, NULL, &regs))
		return fail_errno(-errno, "cannot set the program's registers");
	return err;
}
