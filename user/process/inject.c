/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything happens between two event stops (PTRACE_EVENT_STOP), in which the kernel handles signals: there
 * it restarts a system call that it has interrupted, from the registers at that moment. All signals are
 * blocked meanwhile, so that none is delivered; SIGSTOP, which cannot be blocked, is sent again.
 *
 * 	event stop -> registers of the call -> its entry -> its exit -> event stop -> own registers
 *
 * The syscall instruction is followed by code that undoes a call, restores mask and registers and jumps back
 * to where the thread was. It runs only if we die before we can do the same by ptrace. Whoever comes next may
 * find the thread still in it: so before other code takes its place, that thread is made to be where it would
 * be behind it. Else there is no code at all between an end and the next begin.
 *
 * Single-stepping over the call was rejected: the kernel forces the step's SIGTRAP on the thread, and resets
 * its action where that ignores it.
 */
#include "process/inject.h"

#include <errno.h>
#include <linux/rseq.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
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
#include "process/proc_wait.h"

enum { SYSCALL_STOP = SIGTRAP | 0x80, USER_CODE_64 = 0x33, OWN_REGS = 9 };

/* ---- the code ---- */

/* None of these instructions changes flags or memory. */
struct __attribute__((packed)) code {
	uint8_t begins[sizeof(uint64_t)];
	uint8_t undo_way[sizeof(uint64_t)];
	/* mov $value, %register, and syscall */
	uint8_t undo_to_eax[1];
	uint32_t undo_number;
	uint8_t undo_to_esi[1];
	uint32_t undo_second;
	uint8_t undo[2];
	/* mov $value, %register, and syscall: rt_sigprocmask(SIG_SETMASK, &mask, NULL, 8) */
	uint8_t to_rsi[2];
	uint64_t mask_at;
	uint8_t to_eax[1];
	uint32_t number;
	uint8_t to_edi[1];
	uint32_t how;
	uint8_t to_edx[1];
	uint32_t old;
	uint8_t to_r10d[2];
	uint32_t size;
	uint8_t set_mask[2];
	struct __attribute__((packed)) {
		uint8_t to[2];
		uint64_t value;
	} own[OWN_REGS];
	uint8_t jump[6]; /* jmp *0(%rip) */
	uint64_t rip;
	uint8_t nothing[11];
	uint64_t undone;
	uint64_t mask;
};

_Static_assert(sizeof(struct code) == INJECTION_BYTES, "what others reserve for it");

/* syscall: the one that is wanted; jmp over letters, by which the code is known. */
static const uint8_t begins[sizeof(uint64_t)] = {0x0f, 0x05, 0xeb, 4, 't', 'c', 'a', 'm'};

/* Where the undoing call gets its first argument from: one word, so that it is never half of two. */
static const uint8_t undo_ways[][sizeof(uint64_t)] = {
	/* jmp behind that call */
	[UNDO_NOTHING] = {0xeb, offsetof(struct code, to_rsi) - offsetof(struct code, undo_way) - 2},
	/* mov %rax, %rdi; nopl */
	[UNDO_RESULT] = {0x48, 0x89, 0xc7, 0x0f, 0x1f, 0x44, 0, 0},
	/* mov .undone(%rip), %rdi; nop */
	[UNDO_KNOWN] = {0x48, 0x8b, 0x3d, offsetof(struct code, undone) - offsetof(struct code, undo_way) - 7,
			0, 0, 0, 0x90},
};

/* The registers of the two calls, and how a value gets there (mov). */
static const struct {
	uint8_t to[2];
	size_t at;
} own_regs[OWN_REGS] = {
#define OWN(rex, opcode, reg)                                         \
	{                                                             \
		{rex, opcode}, offsetof(struct user_regs_struct, reg) \
	}
	OWN(0x48, 0xb8, rax), OWN(0x48, 0xb9, rcx), OWN(0x48, 0xba, rdx),
	OWN(0x48, 0xbe, rsi), OWN(0x48, 0xbf, rdi), OWN(0x49, 0xb8, r8),
	OWN(0x49, 0xb9, r9),  OWN(0x49, 0xba, r10), OWN(0x49, 0xbb, r11),
#undef OWN
};

static unsigned long long *own_reg(struct user_regs_struct *regs, size_t i)
{
	return (unsigned long long *)((char *)regs + own_regs[i].at);
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

static void make_code(struct code *code, const struct injection *injection)
{
	struct user_regs_struct regs = before_call(&injection->regs);

	*code = (struct code){
		.undo_to_eax = {0xb8},
		.undo_number = injection->undo_number,
		.undo_to_esi = {0xbe},
		.undo_second = injection->undo_second,
		.undo = {0x0f, 0x05},
		.undone = injection->undone,
		.to_rsi = {0x48, 0xbe},
		.mask_at = injection->at + offsetof(struct code, mask),
		.to_eax = {0xb8},
		.number = SYS_rt_sigprocmask,
		.to_edi = {0xbf},
		.how = SIG_SETMASK,
		.to_edx = {0xba},
		.to_r10d = {0x41, 0xba},
		.size = sizeof(code->mask),
		.set_mask = {0x0f, 0x05},
		.jump = {0xff, 0x25},
		.rip = regs.rip,
		.mask = injection->mask,
	};
	memcpy(code->begins, begins, sizeof(begins));
	memcpy(code->undo_way, undo_ways[injection->undo], sizeof(code->undo_way));
	for (size_t i = 0; i < OWN_REGS; i++) {
		memcpy(code->own[i].to, own_regs[i].to, sizeof(own_regs[i].to));
		code->own[i].value = *own_reg(&regs, i);
	}
}

/* What the code would do, for a thread that stands in it. */
static void take_from_code(const struct code *code, struct user_regs_struct *regs)
{
	for (size_t i = 0; i < OWN_REGS; i++)
		*own_reg(regs, i) = code->own[i].value;
	regs->rip = code->rip;
	regs->orig_rax = (unsigned long long)-1;
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
	memory_poke(tid, at, &none, sizeof(none));
	injection->regs.rip = sequence.abort_ip;
	ptrace(PTRACE_SETREGS, tid, NULL, &injection->regs);
}

/* ---- what one has left that was killed ---- */

bool injection_stop(pid_t tid)
{
	enum { TRIES = 1000 };
	const struct timespec moment = {.tv_nsec = 1000000};
	siginfo_t info = {0};

	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return false;
	for (int i = 0; i < TRIES && !info.si_pid; i++) {
		if (i)
			nanosleep(&moment, NULL);
		if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | WNOHANG | WNOWAIT | __WALL))
			return false;
	}
	return info.si_pid;
}

bool injection_is_left(pid_t tid, uint64_t at)
{
	uint8_t mark[sizeof(begins)];

	return memory_read(tid, at, mark, sizeof(mark)) == sizeof(mark) &&
	       !memcmp(mark, begins, sizeof(mark));
}

static bool is_inside(const struct injection *injection, uint64_t ip)
{
	return ip - injection->at < INJECTION_BYTES;
}

static int take_back(const struct injection *injection, const struct code *left, pid_t tid)
{
	struct user_regs_struct regs;
	struct proc_wait wait;
	uint64_t mask = left->mask;

	if (!proc_wait_read(tid, &wait) && !is_inside(injection, wait.ip))
		return 0;
	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) &&
	    (!injection_stop(tid) || ptrace(PTRACE_GETREGS, tid, NULL, &regs)))
		return proc_has_ended(tid) ? 0 : -EBUSY;
	if (!is_inside(injection, regs.rip))
		return 0;
	take_from_code(left, &regs);
	if (ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof(mask), &mask) ||
	    ptrace(PTRACE_SETREGS, tid, NULL, &regs))
		return -errno;
	return 0;
}

/* The code stays until then, should we be killed, too. */
static int take_all_back(struct injection *injection)
{
	CLEANUP(closedirp) DIR *threads = proc_threads(injection->tid);
	struct code left;
	int err = 0;

	if (!threads || memory_read(injection->tid, injection->at, &left, sizeof(left)) != sizeof(left))
		return -EBUSY;
	for (pid_t tid; !err && (tid = proc_next(threads));)
		err = take_back(injection, &left, tid);
	if (!err && ptrace(PTRACE_GETREGS, injection->tid, NULL, &injection->regs))
		err = -errno;
	return err;
}

int injection_begin(struct injection *injection, int *signal)
{
	const pid_t tid = injection->tid;
	struct code code;
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
	if (!err && !injection->ours && injection_is_left(tid, injection->at))
		err = take_all_back(injection);
	if (err)
		return err;
	if (call_restart_plainly(tid))
		injection->regs.rax = (unsigned long long)-ERESTARTNOHAND;
	abort_sequence(injection);
	if (ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(injection->mask), &injection->mask))
		return -errno;
	make_code(&code, injection);
	if (!injection->ours)
		return memory_poke(tid, injection->at, &code, sizeof(code));
	memcpy(injection->ours, &code, sizeof(code));
	return 0;
}

/* The thread goes on at `ip`, in the code, up to behind the next call there, whose result that is. */
static long call_at(struct injection *injection, uint64_t ip, struct user_regs_struct *regs)
{
	const uint64_t all = ~(uint64_t)0;
	int err;

	regs->orig_rax = (unsigned long long)-1;
	regs->rip = ip;
	regs->eflags &= ~(unsigned long long)ARCH_TRAP_FLAG;
	if (ptrace(PTRACE_SETREGS, injection->tid, NULL, regs))
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
	ptrace(PTRACE_GETREGS, injection->tid, NULL, regs);
	return (long)regs->rax;
}

long injection_call(struct injection *injection, long number, const uint64_t args[static 6])
{
	struct user_regs_struct regs = injection->regs;

	regs.rax = (unsigned long long)number;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.r10 = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	return call_at(injection, injection->at, &regs);
}

/* The way comes last. */
static int set_undo(struct injection *injection, enum injection_undo undo, uint64_t undone)
{
	const size_t way = offsetof(struct code, undo_way),
		     at[] = {offsetof(struct code, undone), way + 8, way + 16, way};
	struct code code;
	int err = 0;

	injection->undo = undo;
	injection->undone = undone;
	make_code(&code, injection);
	for (size_t i = 0; i < ARRAY_SIZE(at) && !err; i++)
		err = memory_poke(injection->tid, injection->at + at[i], (uint8_t *)&code + at[i], 8);
	return err;
}

long injection_call_undone(struct injection *injection, long number, const uint64_t args[static 6],
			   long undo_number, uint32_t undo_second)
{
	long result;
	int err;

	injection->undo_number = (uint32_t)undo_number;
	injection->undo_second = undo_second;
	err = set_undo(injection, UNDO_RESULT, 0);
	result = err ? err : injection_call(injection, number, args);
	if (!injection->ended)
		err = set_undo(injection, result < 0 ? UNDO_NOTHING : UNDO_KNOWN, (uint64_t)result);
	return err ? err : result;
}

void injection_undo(struct injection *injection)
{
	struct user_regs_struct regs = injection->regs;

	if (!injection->ended)
		call_at(injection, injection->at + offsetof(struct code, undo_way), &regs);
	if (!injection->ended)
		set_undo(injection, UNDO_NOTHING, 0);
}

void injection_end(const struct injection *injection)
{
	const uint8_t nothing[INJECTION_BYTES] = {0};
	uint64_t pid;

	if (injection->ended)
		return;
	ptrace(PTRACE_SETSIGMASK, injection->tid, (void *)sizeof(injection->mask), &injection->mask);
	ptrace(PTRACE_SETREGS, injection->tid, NULL, &injection->regs);
	if (!injection->ours) {
		/* The mark goes last. */
		memory_poke(injection->tid, injection->at + sizeof(uint64_t), nothing,
			    sizeof(nothing) - sizeof(uint64_t));
		memory_poke(injection->tid, injection->at, nothing, sizeof(uint64_t));
	}
	if (injection->stop_sent && !proc_status_number(injection->tid, "Tgid", 10, &pid))
		kill((pid_t)pid, SIGSTOP);
	if (injection->group_stop)
		ptrace(PTRACE_INTERRUPT, injection->tid, NULL, NULL);
}
