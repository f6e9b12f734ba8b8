/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's exit_ptrace() does less than PTRACE_DETACH: a thread in the middle of a step takes its debug
 * exception, and a held one continues with the SIGTRAP that it was held for. A signal handler survives both.
 * The kernel clears a trap flag that it knows to be forced before it calls the handler
 * (arch/x86/kernel/signal.c); the handler clears one that the kernel considers the program's. Handler and
 * action are in the padding after the vDSO, which every process has mapped, and stay there:
 *
 * 	end of the vDSO - 512   handler | sigreturn | action | ... | code of an injected call
 *
 * Rejected: a page of our own, which the program would find among its mappings; a guard process that takes
 * over the threads, and stopping the process by SIGSTOP: both come too late for a thread that is held for its
 * SIGTRAP.
 */
#include "process/shield.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/log.h"
#include "process/inject.h"
#include "process/memory.h"
#include "process/proc_status.h"

/* Offsets from the beginning of the shield. */
enum {
	RESTORER = 16,
	ACTION = 32,
	SHIELD_BYTES = 512,
	CALL = SHIELD_BYTES - INJECTION_BYTES, /* where everybody's stands: what one left the next finds */
	SCRATCH_BYTES = 4096,
	SA_RESTORER_FLAG = 0x04000000, /* asm/signal.h */
};

#define TRAP_MASK (1ull << (SIGTRAP - 1))

static const uint8_t handler_code[RESTORER] = {
	0x48, 0x81, 0xa2, 0xb0, 0, 0, 0, 0xff, 0xfe, 0xff, 0xff, /* andq $~TF, eflags of (%rdx) */
	0xc3,							 /* ret */
};

static const uint8_t restorer_code[ACTION - RESTORER] = {
	0x48, 0xc7, 0xc0, SYS_rt_sigreturn, 0, 0, 0, /* mov $SYS_rt_sigreturn, %rax */
	0x0f, 0x05,				     /* syscall */
};

_Static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_EFL]) == 0xb0, "the handler clears TF there");
_Static_assert(ACTION + sizeof(struct trap_action) <= CALL, "there is room for all");

static bool is_in_set(pid_t tid, const char *set)
{
	uint64_t mask = 0;

	return !proc_status_number(tid, set, 16, &mask) && mask & TRAP_MASK;
}

/* ---- where ---- */

static bool is_empty(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

/* Padding, or what a shield or an injected call has left. */
static bool is_place(pid_t tid, uint64_t at)
{
	uint64_t words[SHIELD_BYTES / sizeof(uint64_t)];

	for (size_t i = 0; i < SHIELD_BYTES / sizeof(uint64_t); i++) {
		errno = 0;
		words[i] = (uint64_t)ptrace(PTRACE_PEEKDATA, tid, (void *)(at + i * sizeof(uint64_t)), NULL);
		if (errno)
			return false;
	}
	return is_empty((uint8_t *)words, sizeof(words)) ||
	       !memcmp(words, handler_code, sizeof(handler_code)) || injection_is_left(tid, at + CALL);
}

void shield_hide(uint8_t *vdso, size_t size)
{
	if (size >= SHIELD_BYTES && !memcmp(vdso + size - SHIELD_BYTES, handler_code, sizeof(handler_code)))
		memset(vdso + size - SHIELD_BYTES, 0, SHIELD_BYTES);
}

static bool calls_are_allowed(pid_t tid)
{
	static const struct filtered_call calls[] = {
		{.number = SYS_rt_sigaction, .args = {SIGTRAP}},
		{.number = SYS_rt_sigprocmask},
		{.number = SYS_mmap, .args = {0, 0, PROT_READ | PROT_WRITE}},
		{.number = SYS_munmap}};

	return injection_is_survived(tid, calls, ARRAY_SIZE(calls));
}

/* ---- the calls ---- */

static long call_sigaction(struct injection *injection, uint64_t action, uint64_t old)
{
	const uint64_t args[6] = {SIGTRAP, action, old, sizeof(uint64_t)};

	return injection_call(injection, SYS_rt_sigaction, args);
}

/* The kernel reports an action only by writing it into the process's memory. */
static int ask(struct injection *injection, struct trap_action *ret_action)
{
	const uint64_t map[6] = {
		0, SCRATCH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0};
	long scratch = injection_call_undone(injection, SYS_mmap, map, SYS_munmap, SCRATCH_BYTES);
	uint64_t words[sizeof(*ret_action) / sizeof(uint64_t)];
	long err;

	if (scratch < 0 && scratch > -SCRATCH_BYTES)
		return (int)scratch;
	err = call_sigaction(injection, 0, (uint64_t)scratch);
	errno = 0;
	for (size_t i = 0; !err && i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = (uint64_t)ptrace(PTRACE_PEEKDATA, injection->tid,
					    (void *)((uint64_t)scratch + i * sizeof(words[0])), NULL);
	if (!err)
		err = -errno;
	if (!err)
		memcpy(ret_action, words, sizeof(*ret_action));
	injection_undo(injection);
	return (int)err;
}

static int set_action(struct injection *injection, uint64_t at, const struct trap_action *action)
{
	int err = memory_poke(injection->tid, at + ACTION, action, sizeof(*action));

	return err ? err : (int)call_sigaction(injection, at + ACTION, 0);
}

static int put_up(struct injection *injection, uint64_t at)
{
	/* The handler uses the thread's alternate stack, if it has one: other stacks may be small. */
	const struct trap_action action = {.handler = at,
					   .flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_RESTORER_FLAG,
					   .restorer = at + RESTORER,
					   .mask = ~(uint64_t)0};
	/* A translating trailcam that was killed may have left a name there. */
	const uint8_t nothing[CALL - ACTION - sizeof(action)] = {0};
	int err = memory_poke(injection->tid, at, handler_code, sizeof(handler_code));

	if (!err)
		err = memory_poke(injection->tid, at + RESTORER, restorer_code, sizeof(restorer_code));
	if (!err)
		err = memory_poke(injection->tid, at + CALL - sizeof(nothing), nothing, sizeof(nothing));
	return err ? err : set_action(injection, at, &action);
}

/*
 * Reads the action from the kernel, which is the program's own as long as no shield is up.
 */
static int note_action(struct shield *shield, struct injection *injection, uint64_t at)
{
	const struct trap_action standard = {.handler = (uint64_t)SIG_DFL},
				 ignored = {.handler = (uint64_t)SIG_IGN};
	int err;

	if (!is_in_set(injection->tid, "SigCgt")) {
		if (is_in_set(injection->tid, "SigIgn"))
			shield->action = ignored;
		else if (shield->action.handler != (uint64_t)SIG_IGN) /* which a step may have reset */
			shield->action = standard;
		return 0;
	}
	err = shield->known ? 0 : ask(injection, &shield->action);
	shield->known = !err;
	if (!err && shield->action.handler == at)
		shield->action = standard; /* of a tracer that was killed */
	return err;
}

void shield_raise(struct shield *shield, pid_t tid, uint64_t vdso_end, struct shield_end *ret_end)
{
	uint64_t at = vdso_end - SHIELD_BYTES;
	struct injection injection = {.tid = tid, .at = at + CALL};
	int err;

	if (!vdso_end || !calls_are_allowed(tid) || !is_place(tid, at)) {
		shield->impossible = true;
		return;
	}
	err = injection_begin(&injection, NULL);
	if (!err) {
		err = note_action(shield, &injection, at);
		if (!err)
			err = put_up(&injection, at);
		injection_end(&injection);
	}
	if (err)
		log_debug("thread %d gets no shield: %s", tid, strerror(-err));
	else
		shield->at = at;
	shield->impossible = err;
	*ret_end = (struct shield_end){injection.ended, injection.status};
}

void shield_lower(struct shield *shield, pid_t tid, int signal, struct shield_end *ret_end)
{
	struct injection injection = {.tid = tid, .at = shield->at + CALL};
	int err = injection_begin(&injection, &signal);

	if (!err) {
		set_action(&injection, shield->at, &shield->action);
		injection_end(&injection);
	}
	shield->at = 0;
	*ret_end = (struct shield_end){injection.ended, injection.status};
}

/*
 * Sends the thread, which is in an event stop, a SIGTRAP with `info`, and waits for its stop.
 */
static void stop_for_trap(pid_t tid, siginfo_t *info, struct shield_end *ret_end)
{
	const uint64_t all_but_it = ~TRAP_MASK;
	uint64_t mask, pid = 0;

	ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(mask), &mask);
	ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof(all_but_it), &all_but_it);
	proc_status_number(tid, "Tgid", 10, &pid);
	syscall(SYS_tgkill, (pid_t)pid, tid, SIGTRAP);
	do {
		ptrace(PTRACE_CONT, tid, NULL, NULL);
		if (waitpid(tid, &ret_end->status, __WALL) != tid)
			return;
		ret_end->ended = !WIFSTOPPED(ret_end->status);
	} while (!ret_end->ended && ret_end->status >> 8 != SIGTRAP);
	if (ret_end->ended)
		return;
	ptrace(PTRACE_SETSIGINFO, tid, NULL, info);
	ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof(mask), &mask);
}

void shield_give_way(struct shield *shield, pid_t tid, bool forced, struct shield_end *ret_end)
{
	struct trap_action own = shield->action;
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info))
		return;
	if (forced && own.handler == (uint64_t)SIG_IGN)
		shield->action.handler = (uint64_t)SIG_DFL;
	shield_lower(shield, tid, 0, ret_end);
	shield->action = own;
	if (!ret_end->ended)
		stop_for_trap(tid, &info, ret_end);
}
