/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything happens between two event stops (PTRACE_EVENT_STOP), in which the kernel handles signals: there
 * it restarts a system call that it has interrupted, from the registers at that moment. All signals are
 * blocked meanwhile, so that none is delivered; SIGSTOP, which cannot be blocked, is sent again.
 *
 * 	event stop -> registers of the call -> its entry -> its exit -> event stop -> own registers
 *
 * The syscall instruction is followed by code that restores mask and registers and jumps back to where the
 * thread was. It runs only if we die before we can do the same by ptrace.
 *
 * Single-stepping over the call was rejected: the kernel forces the step's SIGTRAP on the thread, and resets
 * its action where that ignores it.
 */
#include "process/inject.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/rseq.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/array.h"
#include "process/memory.h"
#include "process/proc_status.h"

#ifndef PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG /* Linux 6.4 */
#define PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG 0x4211
#endif

/* The results are of include/linux/errno.h. */
enum { ERESTARTSYS = 512, ERESTARTNOHAND = 514, ERESTART_RESTARTBLOCK = 516 };
enum { SYSCALL_STOP = SIGTRAP | 0x80, USER_CODE_64 = 0x33 };

bool call_is_restarted(long result)
{
	return result <= -ERESTARTSYS && result >= -ERESTART_RESTARTBLOCK;
}

/* ---- the code ---- */

struct code {
	uint8_t bytes[INJECTION_BYTES];
	size_t size;
};

static void put(struct code *code, const void *bytes, size_t size)
{
	memcpy(code->bytes + code->size, bytes, size);
	code->size += size;
}

#define PUT(code, ...) put(code, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void put_address(struct code *code, uint64_t value)
{
	put(code, &value, sizeof(value));
}

/* Where the thread was, if the kernel will not restart an interrupted system call. */
static struct user_regs_struct before_call(const struct user_regs_struct *regs)
{
	struct user_regs_struct before = *regs;

	if ((long)regs->orig_rax < 0 || !call_is_restarted((long)regs->rax))
		return before;
	before.rax = (long)regs->rax == -ERESTART_RESTARTBLOCK ? (unsigned long long)SYS_restart_syscall
							       : regs->orig_rax;
	before.rip -= ARCH_SYSCALL_SIZE;
	return before;
}

/* None of these instructions changes flags or memory. */
static void make_code(struct code *code, const struct injection *injection)
{
	const struct user_regs_struct regs = before_call(&injection->regs);
	/* The registers of the two calls. */
	const struct {
		uint8_t rex, opcode;
		uint64_t value;
	} own[] = {
		{0x48, 0xb8, regs.rax}, {0x48, 0xb9, regs.rcx}, {0x48, 0xba, regs.rdx},
		{0x48, 0xbe, regs.rsi}, {0x48, 0xbf, regs.rdi}, {0x49, 0xb8, regs.r8},
		{0x49, 0xb9, regs.r9},	{0x49, 0xba, regs.r10}, {0x49, 0xbb, regs.r11},
	};

	PUT(code, 0x0f, 0x05); /* syscall: the one that is wanted */
	PUT(code, 0x48, 0xbe); /* mov $mask, %rsi */
	put_address(code, injection->at + INJECTION_BYTES - sizeof(injection->mask));
	PUT(code, 0xb8, SYS_rt_sigprocmask, 0, 0, 0);	  /* mov $SYS_rt_sigprocmask, %eax */
	PUT(code, 0xbf, SIG_SETMASK, 0, 0, 0);		  /* mov $SIG_SETMASK, %edi */
	PUT(code, 0xba, 0, 0, 0, 0);			  /* mov $0, %edx */
	PUT(code, 0x41, 0xba, sizeof(uint64_t), 0, 0, 0); /* mov $8, %r10d */
	PUT(code, 0x0f, 0x05);				  /* syscall */
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		PUT(code, own[i].rex, own[i].opcode); /* mov $value, %register */
		put_address(code, own[i].value);
	}
	PUT(code, 0xff, 0x25, 0, 0, 0, 0); /* jmp *0(%rip) */
	put_address(code, regs.rip);
	code->size = INJECTION_BYTES - sizeof(injection->mask);
	put_address(code, injection->mask);
}

/* ---- the call ---- */

/*
 * Waits for the thread's next stop or end. A leader that exits before other threads of its process cannot be
 * waited for.
 */
static int next_stop(struct injection *injection)
{
	enum { QUICK = 1000 };
	const struct timespec moment = {.tv_nsec = 100000};

	for (int i = 0;; i++) {
		pid_t tid = waitpid(injection->tid, &injection->status, __WALL | WNOHANG);

		if (tid > 0)
			break;
		if ((tid < 0 && errno != EINTR) || (i > QUICK && proc_has_ended(injection->tid)))
			return -ESRCH;
		if (i > QUICK)
			nanosleep(&moment, NULL);
		else
			sched_yield();
	}
	injection->ended = !WIFSTOPPED(injection->status);
	return injection->ended ? -ESRCH : 0;
}

static void note_stop_signal(struct injection *injection)
{
	siginfo_t info = {0};

	/* The kernel itself sends it for a probe of ours that freezes the thread. */
	if (!ptrace(PTRACE_GETSIGINFO, injection->tid, NULL, &info) && info.si_code != SI_KERNEL)
		injection->stop_sent = true;
}

/* Resumes the thread up to a system call's stop, or an event stop. */
static int go_to(struct injection *injection, bool call, int *signal)
{
	int next = signal ? *signal : 0;

	for (;;) {
		int err;

		if (ptrace(call ? PTRACE_SYSCALL : PTRACE_CONT, injection->tid, NULL, (void *)(long)next) &&
		    errno != ESRCH)
			return -errno;
		if (signal)
			*signal = 0;
		err = next_stop(injection);
		if (err)
			return err;
		next = 0;
		if (injection->status >> 16 == PTRACE_EVENT_STOP) {
			injection->group_stop = WSTOPSIG(injection->status) != SIGTRAP;
			if (!call)
				return 0;
		} else if (injection->status >> 16) {
			continue;
		} else if (WSTOPSIG(injection->status) == SYSCALL_STOP) {
			if (call)
				return 0;
		} else if (WSTOPSIG(injection->status) == SIGSTOP) {
			note_stop_signal(injection);
		} else {
			next = WSTOPSIG(injection->status);
		}
	}
}

static int go_to_event_stop(struct injection *injection, int *signal)
{
	ptrace(PTRACE_INTERRUPT, injection->tid, NULL, NULL);
	return go_to(injection, false, signal);
}

/* Whether it is about to enter a system call. */
static bool is_entering(pid_t tid)
{
	struct __ptrace_syscall_info info = {0};

	return ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(info), &info) > 0 &&
	       info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

/* Cancels the system call; the thread is before its instruction again. */
static int step_back_from_call(struct injection *injection)
{
	struct user_regs_struct regs = injection->regs;
	int err;

	regs.orig_rax = (unsigned long long)-1;
	ptrace(PTRACE_SETREGS, injection->tid, NULL, &regs);
	err = go_to_event_stop(injection, NULL);
	injection->regs.rax = injection->regs.orig_rax;
	injection->regs.orig_rax = (unsigned long long)-1;
	injection->regs.rip -= ARCH_SYSCALL_SIZE;
	return err;
}

uint64_t injection_mark(uint64_t at)
{
	const struct injection injection = {.at = at};
	struct code code = {0};
	uint64_t mark;

	make_code(&code, &injection);
	memcpy(&mark, code.bytes, sizeof(mark));
	return mark;
}

/* Whether it is in an event stop already, which most threads are that are stopped for this. */
static bool is_in_event_stop(struct injection *injection)
{
	siginfo_t info = {0};

	if (ptrace(PTRACE_GETSIGINFO, injection->tid, NULL, &info) || info.si_code >> 8 != PTRACE_EVENT_STOP)
		return false;
	injection->group_stop = info.si_signo != SIGTRAP;
	return true;
}

/*
 * A restartable sequence (rseq(2)) that the thread stands in is aborted. The kernel does that only where it
 * finds the thread inside, on its way out of the kernel; but this one goes elsewhere first.
 */
static void abort_sequence(struct injection *injection)
{
	const pid_t tid = injection->tid;
	const uint64_t none = 0;
	struct __ptrace_rseq_configuration config = {0};
	struct rseq_cs sequence;
	uint64_t at, which;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, (void *)sizeof(config), &config) <= 0 ||
	    !config.rseq_abi_pointer)
		return;
	at = config.rseq_abi_pointer + offsetof(struct rseq, rseq_cs);
	if (memory_read(tid, at, &which, sizeof(which)) != sizeof(which) || !which ||
	    memory_read(tid, which, &sequence, sizeof(sequence)) != sizeof(sequence) ||
	    injection->regs.rip - sequence.start_ip >= sequence.post_commit_offset)
		return;
	injection_write(tid, at, &none, sizeof(none));
	injection->regs.rip = sequence.abort_ip;
	ptrace(PTRACE_SETREGS, tid, NULL, &injection->regs);
}

int injection_begin(struct injection *injection, int *signal)
{
	const pid_t tid = injection->tid;
	struct code code = {0};
	bool entering;
	int err = 0;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &injection->regs))
		return -errno;
	if (injection->regs.cs != USER_CODE_64)
		return -ENOTSUP;
	if (!is_in_event_stop(injection)) {
		entering = is_entering(tid);
		err = entering ? step_back_from_call(injection) : go_to_event_stop(injection, signal);
		if (!err && !entering && ptrace(PTRACE_GETREGS, tid, NULL, &injection->regs))
			err = -errno;
	}
	if (err)
		return err;
	if (call_restart_plainly(tid))
		injection->regs.rax = (unsigned long long)-ERESTARTNOHAND;
	abort_sequence(injection);
	if (ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(injection->mask), &injection->mask))
		return -errno;
	make_code(&code, injection);
	if (!injection->ours)
		return injection_write(tid, injection->at, code.bytes, sizeof(code.bytes));
	memcpy(injection->ours, code.bytes, sizeof(code.bytes));
	return 0;
}

long injection_call(struct injection *injection, long number, const uint64_t args[static 6])
{
	const uint64_t all = ~(uint64_t)0;
	struct user_regs_struct regs = injection->regs;
	int err;

	regs.orig_rax = (unsigned long long)-1;
	regs.rax = (unsigned long long)number;
	regs.rip = injection->at;
	regs.eflags &= ~(unsigned long long)ARCH_TRAP_FLAG;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.r10 = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	if (ptrace(PTRACE_SETREGS, injection->tid, NULL, &regs))
		return -errno;
	/* From here on the code that restores the thread is certain to run. */
	ptrace(PTRACE_SETSIGMASK, injection->tid, (void *)sizeof(all), &all);
	err = go_to(injection, true, NULL);
	if (!err) {
		ptrace(PTRACE_INTERRUPT, injection->tid, NULL, NULL);
		err = go_to(injection, false, NULL);
	}
	if (err)
		return err;
	ptrace(PTRACE_GETREGS, injection->tid, NULL, &regs);
	return (long)regs.rax;
}

void injection_end(const struct injection *injection)
{
	uint64_t pid;

	if (injection->ended)
		return;
	ptrace(PTRACE_SETSIGMASK, injection->tid, (void *)sizeof(injection->mask), &injection->mask);
	ptrace(PTRACE_SETREGS, injection->tid, NULL, &injection->regs);
	if (injection->stop_sent && !proc_status_number(injection->tid, "Tgid", 10, &pid))
		kill((pid_t)pid, SIGSTOP);
	if (injection->group_stop)
		ptrace(PTRACE_INTERRUPT, injection->tid, NULL, NULL);
}

int injection_write(pid_t tid, uint64_t to, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i += sizeof(long)) {
		long word;

		memcpy(&word, (const char *)bytes + i, sizeof(word));
		if (ptrace(PTRACE_POKEDATA, tid, (void *)(to + i), (void *)word))
			return -errno;
	}
	return 0;
}

/* ---- what the program has restricted ---- */

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

bool call_restart_plainly(pid_t tid)
{
	const struct filtered_call restart = {.number = SYS_restart_syscall};
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) || (long)regs.orig_rax < 0 ||
	    (long)regs.rax != -ERESTART_RESTARTBLOCK || are_let_pass(tid, filter_allows, &restart, 1))
		return false;
	regs.rax = (unsigned long long)-ERESTARTNOHAND;
	return !ptrace(PTRACE_SETREGS, tid, NULL, &regs);
}
