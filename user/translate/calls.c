/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls that concern the runtime: what changes code, what makes threads, and what it has to hide. What
 * a call does to code is noted behind it. Only that code may change from then on is noted before.
 */
#define _GNU_SOURCE /* MREMAP_FIXED */

#include "translate/runtime.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include "translate/slot.h"

/* arch_prctl(2) (asm/prctl.h) */
enum { SET_GS = 0x1001, GET_GS = 0x1004 };

/* ---- births ---- */

/* The kernel looks at them before it finds the other argument wrong. */
bool is_readable(uint64_t addr)
{
	enum { NO_SUCH_WAY = 99 };

	return call(SYS_rt_sigprocmask, NO_SUCH_WAY, addr, 0, 8) != -EFAULT;
}

static uint64_t clone_flags(const struct context *context)
{
	uint64_t first = context->regs[HOST_RDI];

	switch ((uint32_t)context->regs[HOST_RAX]) {
	case SYS_clone:
		return first;
	case SYS_clone3:
		return is_readable(first) ? *(const uint64_t *)first : 0;
	default:
		return 0;
	}
}

static struct context *take_slot(bool is_process)
{
	enum { KEPT_FOR_PROCESSES = 2 };

	for (uint32_t i = 0; i < shared()->slot_cnt - (is_process ? 0 : KEPT_FOR_PROCESSES); i++) {
		struct context *context = (struct context *)slot_address(shared()->ring_size, i);

		if (slot_take(context))
			return context;
	}
	return NULL;
}

static bool failed(int64_t result)
{
	return result < 0 && result > -4096;
}

/* What the child begins with. False: there is no slot for it. */
static bool prepare_child(struct context *context)
{
	bool is_process = !(clone_flags(context) & CLONE_THREAD);
	struct context *child = context->child && failed(context->birth) ? (struct context *)context->child
									 : take_slot(is_process);

	shared()->has_threads |= !is_process;
	if (!child)
		return false;
	slot_prepare(child, (uintptr_t)child, shared(), header(), context->pid, -1);
	child->syscall_next = context->syscall_next;
	child->syscall_resume = context->syscall_resume;
	child->r15 = context->regs[HOST_R15];
	child->is_process = is_process;
	child->has_own_memory = is_process && (uint32_t)context->regs[HOST_RAX] != SYS_vfork &&
				!(clone_flags(context) & CLONE_VM);
	child->in_call = 1;
	child->not_generation = ~(int64_t)shared()->generation;
	child->epoch = shared()->epoch;
	append_address(child, __builtin_ia32_rdtsc(), RING_TIME);
	append_address(child, child->epoch, RING_EPOCH);
	append_address(child, context->syscall_next, RING_GO);
	context->child = (uintptr_t)child;
	context->birth = -1;
	return true;
}

/* ---- memory ---- */

/* Behind the call the runtime is entered first. */
static void owe(struct context *context, uint64_t what)
{
	context->owed |= what;
	if (what & OWES_MAPS)
		context->owed_tsc = __builtin_ia32_rdtsc();
	if (what)
		context->syscall_resume = shared()->runtime + header()->report;
}

/* What is translated from there is to be forgotten, if there is anything. */
static void owe_forgetting(struct context *context, uint64_t start, uint64_t size)
{
	context->owed_start = start;
	context->owed_end = start + whole_pages(size);
	executable_forget(start, context->owed_end);
	if (cache_holds(context->owed_start, context->owed_end))
		owe(context, OWES_FORGET);
}

static bool is_known(uint64_t start, uint64_t end)
{
	const struct range *range = range_behind(start);

	return range && range->start < end;
}

/* The call returns memory of that kind. */
static void owe_result(struct context *context, uint64_t size, enum range_kind kind)
{
	context->owed_size = whole_pages(size);
	context->owed_kind = kind;
	owe(context, OWES_RESULT);
}

static void before_mmap(struct context *context)
{
	const uint64_t both = PROT_WRITE | PROT_EXEC, *regs = context->regs;
	uint64_t addr = regs[HOST_RDI], size = regs[HOST_RSI], prot = regs[HOST_RDX], flags = regs[HOST_R10];
	bool is_fixed = flags & MAP_FIXED;

	if (is_fixed)
		owe_forgetting(context, addr, size);
	if ((prot & both) == both || (flags & MAP_TYPE) != MAP_PRIVATE)
		owe_result(context, size, RANGE_CHECKED);
	else if (prot & PROT_EXEC && flags & MAP_ANONYMOUS)
		owe_result(context, size, RANGE_KEPT);
	else if (is_fixed && is_known(addr, addr + whole_pages(size)))
		owe_result(context, size, RANGE_NONE);
	if (prot & PROT_EXEC)
		owe(context, OWES_MAPS);
}

static void before_mprotect(struct context *context)
{
	const uint64_t both = PROT_WRITE | PROT_EXEC, *regs = context->regs;
	uint64_t start = regs[HOST_RDI], end = start + whole_pages(regs[HOST_RSI]), prot = regs[HOST_RDX];

	if ((prot & both) == both && start < end) {
		/* What runs there from now on is checked. */
		range_mark(start, end, RANGE_CHECKED);
		cache_forget(start, end);
	} else {
		owe_forgetting(context, start, end - start);
		if (prot & PROT_EXEC && !range_is_checked(start, end))
			range_mark(start, end, RANGE_KEPT);
	}
	if (prot & PROT_EXEC)
		owe(context, OWES_MAPS);
}

static void before_munmap(struct context *context)
{
	owe_forgetting(context, context->regs[HOST_RDI], context->regs[HOST_RSI]);
	if (is_known(context->owed_start, context->owed_end))
		owe(context, OWES_NO_RANGE);
}

static void before_mremap(struct context *context)
{
	uint64_t start = context->regs[HOST_RDI], end = start + whole_pages(context->regs[HOST_RSI]);

	owe_forgetting(context, start, end - start);
	if (is_known(start, end))
		owe_result(context, context->regs[HOST_RDX],
			   range_is_checked(start, end) ? RANGE_CHECKED : RANGE_KEPT);
	else if (context->regs[HOST_R10] & MREMAP_FIXED)
		owe_result(context, context->regs[HOST_RDX], RANGE_NONE);
}

/* Other processes may write there. */
static void before_shmat(struct context *context)
{
	struct shmid_ds segment = {0};

	if (call(SYS_shmctl, context->regs[HOST_RDI], IPC_STAT, (uintptr_t)&segment, 0) < 0)
		return;
	owe_result(context, segment.shm_segsz, RANGE_CHECKED);
	if (context->regs[HOST_RDX] & SHM_EXEC)
		owe(context, OWES_MAPS);
}

static void before_shmdt(struct context *context)
{
	uint64_t start = context->regs[HOST_RDI];
	const struct range *range = range_behind(start);

	if (range && range->start <= start)
		owe_forgetting(context, start, range->end - start);
}

void behind_syscall(struct context *context)
{
	uint64_t owed = context->owed, start = context->owed_result;

	context->owed &= OWES_MAPS;
	if (owed & OWES_FORGET)
		cache_forget(context->owed_start, context->owed_end);
	if (owed & OWES_NO_RANGE)
		range_mark(context->owed_start, context->owed_end, RANGE_NONE);
	if (!(owed & OWES_RESULT) || !start || failed((int64_t)start))
		return;
	cache_forget(start, start + context->owed_size);
	range_mark(start, start + context->owed_size, (enum range_kind)context->owed_kind);
}

/* ---- system calls ---- */

/*
 * The kernel reads a copy of the frame (arch/x86/include/asm/sigframe.h, struct rt_sigframe), in which it
 * leads to us: the program may return by the same one again. One that cannot be read raises a signal.
 */
static void copy_frame(struct context *context)
{
	enum { UCONTEXT_BYTES = 304, UCONTEXT_RIP = 40 + 16 * 8 };
	const uint64_t frame = context->regs[HOST_RSP], copy = context->self + SLOT_FRAME;
	uint64_t *rip = (uint64_t *)(copy + UCONTEXT_RIP);

	if (!is_readable(frame) || !is_readable(frame + UCONTEXT_BYTES - sizeof(uint64_t)))
		return;
	__builtin_memcpy((void *)copy, (const void *)frame, UCONTEXT_BYTES);
	context->returned = *rip;
	*rip = shared()->runtime + header()->sigreturned;
	context->frame = frame;
	context->regs[HOST_RSP] = copy;
}

/*
 * A filter would see the runtime's calls, too. One without a program only asks what the kernel can do, as
 * libseccomp does when it begins.
 */
static bool begins_filtering(const struct context *context)
{
	const uint64_t *regs = context->regs;
	uint32_t what = (uint32_t)regs[HOST_RDI];

	if ((uint32_t)regs[HOST_RAX] == SYS_prctl)
		return (what == PR_SET_SECCOMP &&
			(regs[HOST_RSI] == SECCOMP_MODE_STRICT || regs[HOST_RDX])) ||
		       (what == PR_SET_SYSCALL_USER_DISPATCH && regs[HOST_RSI] == PR_SYS_DISPATCH_ON);
	if ((uint32_t)regs[HOST_RAX] != SYS_seccomp)
		return false;
	return what == SECCOMP_SET_MODE_STRICT ? !regs[HOST_RSI] && !regs[HOST_RDX]
					       : what == SECCOMP_SET_MODE_FILTER && regs[HOST_RDX];
}

/* Why the thread is to go on natively with the call. */
static enum give_back cannot_make(const struct context *context)
{
	const uint64_t *regs = context->regs;
	enum give_back leave = leaving();

	if (leave)
		return leave;
	if (begins_filtering(context)) {
		/* One that is for all threads. */
		if ((uint32_t)regs[HOST_RAX] == SYS_seccomp && regs[HOST_RSI] & SECCOMP_FILTER_FLAG_TSYNC)
			__atomic_store_n(&shared()->leave, GIVE_SECCOMP, __ATOMIC_SEQ_CST);
		return GIVE_SECCOMP;
	}
	if ((uint32_t)regs[HOST_RAX] == SYS_arch_prctl && (uint32_t)regs[HOST_RDI] == SET_GS)
		return GIVE_GS;
	if ((uint32_t)regs[HOST_RAX] == SYS_prctl && (uint32_t)regs[HOST_RDI] == PR_SET_TSC &&
	    (uint32_t)regs[HOST_RSI] == PR_TSC_SIGSEGV)
		return GIVE_TSC;
	/* Others may stand there. */
	if (wants_our_place(context) && !shared()->has_threads && !shared()->ran_before) {
		__atomic_store_n(&shared()->leave, GIVE_PLACE, __ATOMIC_SEQ_CST);
		return GIVE_PLACE;
	}
	return GIVE_NOTHING;
}

static void before_call_on_memory(struct context *context)
{
	enum { DONTNEED = 4, REMOVE = 9 };
	uint64_t *regs = context->regs;

	switch ((uint32_t)regs[HOST_RAX]) {
	case SYS_mmap:
		before_mmap(context);
		break;
	case SYS_mprotect:
	case SYS_pkey_mprotect:
		before_mprotect(context);
		break;
	case SYS_munmap:
		before_munmap(context);
		break;
	case SYS_mremap:
		before_mremap(context);
		break;
	case SYS_shmat:
		before_shmat(context);
		break;
	case SYS_shmdt:
		before_shmdt(context);
		break;
	case SYS_madvise:
		if (regs[HOST_RDX] >= DONTNEED && regs[HOST_RDX] <= REMOVE)
			owe_forgetting(context, regs[HOST_RDI], regs[HOST_RSI]);
		break;
	default:
		break;
	}
}

/* The program has the result of a call that the runtime has made for it, or of none. */
static uint64_t answer(struct context *context, uint64_t result)
{
	append_address(context, __builtin_ia32_rdtsc(), RING_BEFORE);
	append_address(context, __builtin_ia32_rdtsc(), RING_AFTER);
	context->regs[HOST_RAX] = result;
	context->regs[HOST_R11] = context->flags;
	context->regs[HOST_RCX] = context->here = context->syscall_next;
	return shared()->runtime + header()->report;
}

/* That of the program is 0: it has set none. */
static uint64_t get_gs(struct context *context)
{
	long result;

	__asm__ volatile("wrgsbase %0" : : "r"(0ull));
	result = call(SYS_arch_prctl, GET_GS, context->regs[HOST_RSI], 0, 0);
	__asm__ volatile("wrgsbase %0" : : "r"(context->self));
	return answer(context, (uint64_t)result);
}

/*
 * The kernel cannot see where the program stands: let it do without (-ENOSYS). A thread of a program that ran
 * already may rely on what its parent has seen to work (glibc's start_thread() would abort): it is told that
 * it has what it wants, with no processor number in it, as is right for who never ran since.
 */
static uint64_t without_rseq(struct context *context)
{
	if (!shared()->ran_before) {
		context->regs[HOST_RAX] = (uint64_t)-1;
		return shared()->runtime + header()->go_syscall;
	}
	return answer(context, 0);
}

uint64_t before_syscall(struct context *context)
{
	uint64_t here = context->syscall_next - 2, result;
	enum give_back problem = cannot_make(context);

	context->here = here;
	if (problem)
		return give_back(context, here, problem, RING_STOP);
	context->owed_result = 0;
	before_call_on_memory(context);
	switch ((uint32_t)context->regs[HOST_RAX]) {
	case SYS_rseq:
		return without_rseq(context);
	case SYS_arch_prctl:
		if ((uint32_t)context->regs[HOST_RDI] == GET_GS)
			return get_gs(context);
		break;
	case SYS_rt_sigreturn:
		copy_frame(context);
		break;
	case SYS_mlockall:
		if (lock_all(context, context->regs[HOST_RDI], &result))
			return answer(context, result);
		break;
	case SYS_getrlimit:
	case SYS_setrlimit:
	case SYS_prlimit64:
		if (limit_memory(context, &result))
			return answer(context, result);
		break;
	case SYS_munmap:
	case SYS_madvise:
		if (call_around(context, &result))
			return answer(context, result);
		break;
	case SYS_mmap:
	case SYS_mremap:
		if (wants_our_place(context))
			return answer(context, (uint64_t)-ENOMEM);
		break;
	case SYS_clone:
	case SYS_clone3:
	case SYS_fork:
	case SYS_vfork:
		if (!prepare_child(context))
			return give_back(context, here, GIVE_THREADS, RING_STOP);
		return shared()->runtime + header()->go_birth;
	default:
		break;
	}
	return shared()->runtime + header()->go_syscall;
}
