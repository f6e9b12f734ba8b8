/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading the clock in the vDSO is a loop that restarts whenever the kernel's timer ticks meanwhile
 * (lib/vdso/gettimeofday.c): stepped on a loaded machine it may never end. So it is not stepped: we store its
 * result in its place, and the thread continues after the call. In the trace it leaves user code at the
 * function's beginning, and returns to the caller.
 *
 * Rejected: a breakpoint after the call, which would outlive a killed tracer and then kill the target; the
 * system call instead, for which a seccomp filter may kill.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <time.h>

#include "process/proc_status.h"
#include "source/step/step_internal.h"

/* The offset of a function in our vDSO; 0: there is none. */
static uint64_t offset_of(void *vdso, const char *name)
{
	void *function = vdso ? dlsym(vdso, name) : NULL;

	return function ? (uint64_t)function - getauxval(AT_SYSINFO_EHDR) : 0;
}

void step_vdso_init(struct step_vdso *ret_vdso)
{
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);

	*ret_vdso = (struct step_vdso){.clock_gettime = offset_of(vdso, "__vdso_clock_gettime"),
				       .gettimeofday = offset_of(vdso, "__vdso_gettimeofday")};
	if (vdso)
		dlclose(vdso);
}

/* The clocks that need no system call, and are the same for all processes of a time namespace. */
static bool is_shared_clock(uint64_t id)
{
	static const uint64_t shared = 1 << CLOCK_REALTIME | 1 << CLOCK_MONOTONIC | 1 << CLOCK_MONOTONIC_RAW |
				       1 << CLOCK_REALTIME_COARSE | 1 << CLOCK_MONOTONIC_COARSE |
				       1 << CLOCK_BOOTTIME | 1 << CLOCK_TAI;

	return id < 64 && shared >> id & 1;
}

/* Kernels before 5.6 have no time namespaces. */
static bool shares_time(pid_t pid)
{
	struct stat ours, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/time", pid);
	if (stat("/proc/self/ns/time", &ours))
		return errno == ENOENT;
	return !stat(path, &theirs) && theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev;
}

/* With a shadow stack, a return that the processor does not see would be a fault. */
static bool has_shadow_stack(pid_t tid)
{
	char features[64] = "";

	return !proc_status_text(tid, "x86_Thread_features", features, sizeof(features)) && features[0];
}

/* As if the process stored it itself; false: that would fault. */
static bool store(pid_t pid, uint64_t addr, void *bytes, size_t size)
{
	const struct iovec from = {bytes, size}, to = {(void *)addr, size};

	return process_vm_writev(pid, &from, 1, &to, 1, 0) == (ssize_t)size;
}

static bool read_clock(const struct step_vdso *vdso, const struct step_thread *thread, uint64_t function,
		       const struct user_regs_struct *regs)
{
	struct timespec now;
	struct timeval time;

	if (function == vdso->clock_gettime)
		return is_shared_clock(regs->rdi) && !clock_gettime((clockid_t)regs->rdi, &now) &&
		       store(thread->base.tid, regs->rsi, &now, sizeof(now));
	return !regs->rsi && !gettimeofday(&time, NULL) &&
	       store(thread->base.tid, regs->rdi, &time, sizeof(time));
}

bool step_over_vdso(struct step *step, struct step_thread *thread)
{
	const struct step_vdso *vdso = &step->vdso;
	uint64_t base = code_store_own_vdso(thread->process->code);
	uint64_t function = thread->insn.ip - base;
	struct user_regs_struct regs;

	if (!base || !function || thread->traps_itself ||
	    (function != vdso->clock_gettime && function != vdso->gettimeofday))
		return false;
	if (!shares_time(thread->process->base.pid) || has_shadow_stack(thread->base.tid) ||
	    ptrace(PTRACE_GETREGS, thread->base.tid, NULL, &regs) ||
	    !read_clock(vdso, thread, function, &regs))
		return false;
	errno = 0;
	regs.rip = (uint64_t)ptrace(PTRACE_PEEKDATA, thread->base.tid, (void *)regs.rsp, NULL);
	regs.rsp += sizeof(uint64_t);
	regs.rax = 0;
	if (errno || ptrace(PTRACE_SETREGS, thread->base.tid, NULL, &regs))
		return false;
	step_thread_interrupt(thread, session_now(step->session));
	step_thread_enter(thread, thread->process->code, session_now(step->session), regs.rip);
	return true;
}
