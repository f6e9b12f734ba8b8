/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel builds a handler's frame of the registers that a thread has. So a thread that is about to be
 * sent into a handler must stand at an instruction of the program, whose own registers it is given
 * (guest_state.c); elsewhere the signal waits. Behind the frame's making it is caught once more, to go on in
 * the runtime at the handler's first instruction.
 *
 * A signal that waits blocks all others, so that the kernel keeps these, in its order. The thread comes to
 * the runtime at once, or with the next word of the ring, which is led to the ring's end for that. There the
 * runtime sends itself a stand-in, in place of which the signal is delivered: it has no place in a queue that
 * may be full, or behind others. Without us, the runtime sends it again. What an instruction may raise cannot
 * be blocked: that instruction is executed once more, behind the signal that waited.
 *
 * Stepping the thread on was rejected: it may wait for a lock whose holder is stopped, too, and would not
 * survive our death.
 */
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <x86intrin.h>

#include "process/inject.h"
#include "process/memory.h"
#include "process/proc_status.h"
#include "source/translate/translate_internal.h"
#include "translate/offsets.h"

_Static_assert(sizeof(siginfo_t) == SIGINFO_BYTES, "as the kernel has it");

static bool is_caught(pid_t tid, int signal)
{
	uint64_t caught;

	return !proc_status_number(tid, "SigCgt", 16, &caught) && caught >> (signal - 1) & 1;
}

/*
 * A signal that an instruction raises kills the program where it is blocked. (SIGSYS is raised by a system
 * call; the thread makes none while a signal waits.)
 */
static bool is_blockable(int signal)
{
	return signal != SIGSEGV && signal != SIGBUS && signal != SIGFPE && signal != SIGILL &&
	       signal != SIGTRAP;
}

/* Of the instruction at hand, not somebody's sending. */
static bool is_fault(const siginfo_t *info)
{
	return !is_blockable(info->si_signo) && info->si_code > 0;
}

/* What no handler takes, and nobody ignores. */
static bool is_fatal(pid_t tid, int signal)
{
	const uint64_t harmless = 1ull << (SIGCHLD - 1) | 1ull << (SIGCONT - 1) | 1ull << (SIGURG - 1) |
				  1ull << (SIGWINCH - 1) | 1ull << (SIGSTOP - 1) | 1ull << (SIGTSTP - 1) |
				  1ull << (SIGTTIN - 1) | 1ull << (SIGTTOU - 1);
	uint64_t ignored;

	return !(harmless >> (signal - 1) & 1) && !proc_status_number(tid, "SigIgn", 16, &ignored) &&
	       !(ignored >> (signal - 1) & 1);
}

/* Whether it has a context that tells of it. */
static bool is_translated(const struct translate_thread *thread)
{
	return thread && !thread->dead && thread->slot >= 0 && thread->process->arena;
}

/* A thread that the runtime gives back is in it for some instructions more. */
static bool is_native(const struct translate_thread *thread, const struct user_regs_struct *regs)
{
	return arena_context(thread->process->arena, thread->slot)->why &&
	       !arena_is_ours(thread->process->arena, regs->rip);
}

/* ---- signals that wait ---- */

/*
 * Does what is left of the three instructions that append a word (translate/emit.h): what they have read of
 * the ring's position is what it is.
 */
static void complete_word(const struct translate_thread *thread, struct user_regs_struct *regs)
{
	enum { STORE_LENGTH = 7, ADD_LENGTH = 4, SAVE_LENGTH = 9, WORD_AT = 3 };
	static const uint8_t store[] = {0x65, 0xc7, 0x01}, add[] = {0x48, 0x8d, 0x49, 0x04},
			     save[] = {0x65, 0x48, 0x89, 0x0c, 0x25};
	struct context *context = arena_context(thread->process->arena, thread->slot);
	uint8_t bytes[STORE_LENGTH + ADD_LENGTH + SAVE_LENGTH];
	const uint8_t *at = bytes;

	if (memory_read(thread->tid, regs->rip, bytes, sizeof(bytes)) != sizeof(bytes))
		return;
	if (!memcmp(at, store, sizeof(store)) && !memcmp(at + STORE_LENGTH, add, sizeof(add))) {
		memcpy((uint8_t *)context + (int64_t)regs->rcx, at + WORD_AT, sizeof(uint32_t));
		at += STORE_LENGTH;
	}
	if (!memcmp(at, add, sizeof(add)) && !memcmp(at + ADD_LENGTH, save, sizeof(save))) {
		regs->rcx += sizeof(uint32_t);
		at += ADD_LENGTH;
	}
	if (!memcmp(at, save, sizeof(save)) &&
	    !memcmp(at + sizeof(save), &(uint32_t){CTX_POS}, sizeof(uint32_t))) {
		context->pos = (int64_t)regs->rcx;
		at += SAVE_LENGTH;
	}
	regs->rip += (uint64_t)(at - bytes);
}

/*
 * The time of a call (translate/block.c) that is on its way to the ring will be told once more: from where
 * its position is read.
 */
static void repeat_time(pid_t tid, struct user_regs_struct *regs)
{
	enum { READ_LENGTH = 9, SAVE_AT = 33 };
	/* rdtsc; mov gs:[rcx], eax; lea rcx, [rcx + 4]; jrcxz */
	static const uint8_t first[] = {0x0f, 0x31, 0x65, 0x89, 0x01, 0x48, 0x8d, 0x49, 0x04, 0xe3};
	uint8_t bytes[SAVE_AT + sizeof(first)];

	if (memory_read(tid, regs->rip - SAVE_AT, bytes, sizeof(bytes)) != sizeof(bytes))
		return;
	for (unsigned int i = 0; i <= SAVE_AT; i++) {
		if (memcmp(bytes + i, first, sizeof(first)))
			continue;
		regs->rip -= SAVE_AT - i + READ_LENGTH;
		return;
	}
}

/*
 * Whether the thread is about to come to the runtime, behind a word: at lea ecx, [rcx * 8] or one of those
 * behind it, or where that leads to. Where it only seems so, it comes there a thousand words later.
 */
static bool is_on_its_way(const struct context *context, const struct user_regs_struct *regs, pid_t tid)
{
	static const uint8_t scale[] = {0x8d, 0x0c}, look[] = {0x0f, 0xb7, 0xc9, 0xe3},
			     leave[] = {0x65, 0xff, 0x24, 0x25};
	uint8_t bytes[4] = {0};

	memory_read(tid, regs->rip, bytes, sizeof(bytes));
	return !(context->pos % TIME_OFTEN) &&
	       (!memcmp(bytes, scale, sizeof(scale)) || !memcmp(bytes, look, sizeof(look)) ||
		*bytes == look[3] || !memcmp(bytes, leave, sizeof(leave)));
}

/* The thread comes to the runtime as soon as it can, and looks at what it is asked. */
static void call_in(const struct translate_thread *thread, struct user_regs_struct *regs)
{
	const struct arena *arena = thread->process->arena;
	struct context *context = arena_context(arena, thread->slot);

	context->asked = 1;
	if (regs->rip - arena_shared(arena)->runtime < arena_header(arena)->end || context->held_pos)
		return;
	repeat_time(thread->tid, regs);
	complete_word(thread, regs);
	ptrace(PTRACE_SETREGS, thread->tid, NULL, regs);
	if (is_on_its_way(context, regs, thread->tid))
		return;
	memcpy(&context->held_word, (uint8_t *)context - sizeof(uint32_t), sizeof(uint32_t));
	context->held_pos = context->pos;
	context->pos = -(int64_t)sizeof(uint32_t);
}

static void set_mask(const struct translate_thread *thread, uint64_t mask)
{
	ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof(mask), &mask);
}

/*
 * One that is not caught: should the program be sent a real one, which does not queue beside it, nobody
 * misses that. A thread waits for one that it blocks, perhaps. If there is none, the signal itself: another
 * of its number that is sent before it has come does not queue beside it natively either. 0: it does.
 */
static uint32_t choose_stand_in(pid_t tid, uint32_t signal, uint64_t blocked)
{
	uint64_t used = 0;
	uint32_t harmless;

	proc_status_number(tid, "SigCgt", 16, &used);
	harmless = stand_in_beside(used | blocked);
	return harmless ? harmless : signal < __SIGRTMIN ? signal : 0;
}

/* The signal waits, and all others behind it. */
static void hold_back(const struct translate_thread *thread, const siginfo_t *info,
		      struct user_regs_struct *regs)
{
	struct context *context = arena_context(thread->process->arena, thread->slot);
	uint64_t others = 0;

	for (int signal = 1; signal < NSIG; signal++)
		others |= is_blockable(signal) ? 1ull << (signal - 1) : 0;
	ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)sizeof(context->mask), &context->mask);
	memcpy(context->signal, info, sizeof(*info));
	context->stand_in = choose_stand_in(thread->tid, (uint32_t)info->si_signo, context->mask);
	context->has_signal = 1;
	call_in(thread, regs);
	set_mask(thread, context->mask | others);
}

/* The signal is blocked, too, so that the kernel queues it again. */
static void hold_behind(const struct translate_thread *thread, int signal)
{
	uint64_t mask;

	if (!ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)sizeof(mask), &mask))
		set_mask(thread, mask | 1ull << (signal - 1));
}

/*
 * The signal that waited comes now; others do so behind it. It is waited for until has_come(): if we are
 * killed before the thread has it, the runtime sends it.
 */
static void take_held_back(struct translate_thread *thread, siginfo_t *ret_info)
{
	const struct context *context = arena_context(thread->process->arena, thread->slot);

	memcpy(ret_info, context->signal, sizeof(*ret_info));
	thread->comes = true;
	set_mask(thread, context->mask);
	ptrace(PTRACE_SETSIGINFO, thread->tid, NULL, ret_info);
}

/* Before the thread comes to the runtime again. */
static void has_come(struct translate_thread *thread)
{
	if (thread->comes)
		arena_context(thread->process->arena, thread->slot)->has_signal = 0;
	thread->comes = false;
}

/* ---- signals ---- */

/* What it tells of where the thread stands. */
static void settle_info(siginfo_t *info, uint64_t rip)
{
	if (is_fault(info) && info->si_signo != SIGSEGV && info->si_signo != SIGBUS && info->si_addr)
		info->si_addr = (void *)rip;
	if (info->si_signo == SIGSYS && info->si_code > 0)
		info->si_call_addr = (void *)rip;
}

/*
 * Lets the thread have the signal, now that its registers are the program's. They are set last: if we are
 * killed before, the runtime still has a signal that waited; if behind that, gs says that the thread is out.
 */
static int pass_settled(struct translate_thread *thread, const siginfo_t *info, struct user_regs_struct *regs)
{
	regs->gs_base = 0;
	ptrace(PTRACE_SETSIGINFO, thread->tid, NULL, info);
	if (is_caught(thread->tid, info->si_signo)) {
		thread->enters = true;
		ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
	}
	ptrace(PTRACE_SETREGS, thread->tid, NULL, regs);
	return info->si_signo;
}

/*
 * Where its trace stops, and when: without that, all since its last time would seem to be as early as that
 * was. The kernel tells no time of a signal; ours is a moment late.
 */
static void stop_trace(const struct translate_thread *thread, uint64_t rip, uint32_t tag)
{
	struct arena *arena = thread->process->arena;

	arena_append(arena, thread->slot, __rdtsc(), RING_TIME);
	arena_append(arena, thread->slot, rip, tag);
}

/*
 * The runtime has faulted while it read code, of which there is none: natively the program faults there, with
 * the same signal. `info` is that, or what comes first.
 */
static int pass_unmapped(struct translate_thread *thread, const siginfo_t *info,
			 struct user_regs_struct *regs)
{
	struct arena *arena = thread->process->arena;
	struct context *context = arena_context(arena, thread->slot);
	bool is_first = context->reading == context->going;
	bool arrives = context->entered == WHY_MISS || context->entered == WHY_WRAP_MISS;

	guest_state_saved(context, context->going, regs);
	if (context->has_lock)
		((struct shared *)arena->bytes)->lock = 0;
	context->has_lock = 0;
	context->is_reading = 0;
	stop_trace(thread, regs->rip, arrives ? RING_LEAVE : RING_STOP);
	/* Else its code ends within a block. */
	if (!is_first)
		context->why = GIVE_UNMAPPED;
	if (is_first || !is_fault(info))
		return pass_settled(thread, info, regs);
	ptrace(PTRACE_SETREGS, thread->tid, NULL, regs);
	return 0;
}

/* Whether it is one of the stand-ins in whose place a signal comes. */
static bool is_stand_in(const struct translate_thread *thread, int signal, uint64_t rip)
{
	const struct arena *arena = thread->process->arena;

	return (uint32_t)signal == arena_context(arena, thread->slot)->stand_in &&
	       rip == arena_shared(arena)->runtime + arena_header(arena)->landed;
}

/* Whether the thread, which is about to leave the runtime, has done what the trap is due behind. */
static bool comes_by_branch(const struct context *context)
{
	switch (context->entered) {
	case WHY_GO:
	case WHY_SYSCALL:
	case WHY_SIGRETURN:
	case WHY_REPORT:
		return false;
	default:
		return true;
	}
}

/*
 * The program has set the trap flag. From its next instruction on it goes on natively; in between, the trap
 * is one of the runtime's own instructions, and is passed over.
 */
static int pass_trace(struct translate_thread *thread, siginfo_t *info, struct user_regs_struct *regs)
{
	struct arena *arena = thread->process->arena;
	struct context *context = arena_context(arena, thread->slot);
	uint64_t at = regs->rip - arena_shared(arena)->runtime;
	bool is_due = at >= arena_header(arena)->end ||
		      (at >= arena_header(arena)->restore && at < arena_header(arena)->restored &&
		       comes_by_branch(context));

	if (context->has_signal || !guest_state(thread, 0, false, regs))
		return 0;
	if (!context->why)
		stop_trace(thread, regs->rip, RING_STOP);
	context->why = GIVE_TRAP;
	regs->gs_base = 0;
	settle_info(info, regs->rip);
	if (is_due)
		return pass_settled(thread, info, regs);
	ptrace(PTRACE_SETREGS, thread->tid, NULL, regs);
	return 0;
}

/* `info` is of what the thread has stopped for; 0, or what it goes on with. */
static int pass(struct translate_thread *thread, siginfo_t *info, struct user_regs_struct *regs)
{
	struct arena *arena = thread->process->arena;
	const struct context *context = arena_context(arena, thread->slot);
	const int signal = info->si_signo, fault = is_fault(info) ? signal : 0;
	struct host_place place;

	if (signal == SIGTRAP && info->si_code == TRAP_TRACE)
		return pass_trace(thread, info, regs);
	if (context->has_signal && !fault && !is_stand_in(thread, signal, regs->rip)) {
		hold_behind(thread, signal);
		return signal;
	}
	if (context->has_signal)
		take_held_back(thread, info);
	if (!fault && !is_caught(thread->tid, info->si_signo) && !is_fatal(thread->tid, info->si_signo))
		return info->si_signo;
	if (fault && context->is_reading)
		return pass_unmapped(thread, info, regs);
	if (!guest_state(thread, fault, !is_fault(info), regs)) {
		if (!fault && is_caught(thread->tid, signal)) {
			hold_back(thread, info, regs);
			return 0;
		}
		if (arena_find_place(arena, regs->rip, &place))
			arena_append_steps(arena, thread->slot, &place);
		return info->si_signo;
	}
	settle_info(info, regs->rip);
	stop_trace(thread, regs->rip, RING_STOP);
	return pass_settled(thread, info, regs);
}

int translate_signal(struct translate *translate, pid_t tid, int signal)
{
	struct translate_thread *thread = translate_find(translate, tid);
	struct user_regs_struct regs;
	siginfo_t info;

	if (!is_translated(thread) || ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) ||
	    ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return signal;
	has_come(thread);
	if (is_native(thread, &regs))
		return signal;
	signal = pass(thread, &info, &regs);
	/* It is stopped once more where a handler begins. */
	if (!thread->enters)
		has_come(thread);
	return signal;
}

void translate_event_stop(struct translate *translate, pid_t tid)
{
	struct translate_thread *thread = translate_find(translate, tid);
	struct user_regs_struct regs;
	const struct arena *arena;
	struct context *context;

	if (!is_translated(thread) || !thread->enters || ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return;
	has_come(thread);
	thread->enters = false;
	arena = thread->process->arena;
	context = arena_context(arena, thread->slot);
	if (context->why)
		return;
	if ((long)regs.orig_rax >= 0 && call_is_restarted((long)regs.rax)) {
		/* Nobody catches the signal any more. */
		regs.rip = arena_shared(arena)->runtime + arena_header(arena)->syscalled;
	} else {
		context->next = regs.rip;
		regs.rip = arena_shared(arena)->runtime + arena_header(arena)->start;
		regs.orig_rax = (unsigned long long)-1;
	}
	regs.gs_base = context->self;
	ptrace(PTRACE_SETREGS, tid, NULL, &regs);
}

void translate_let_go(struct translate *translate, pid_t pid, pid_t tid, int signal)
{
	struct translate_thread *thread = translate_find(translate, tid);
	struct user_regs_struct regs;
	bool has_ended, waits;
	struct context *context;
	siginfo_t info;
	int status;

	/* Its birth may be known to nobody yet. That of a process is none of ours: it runs natively. */
	if (!thread && translate_find_process(translate, pid) &&
	    !translate_born(translate, pid, tid, &has_ended, &status))
		thread = translate_find(translate, tid);
	if (!is_translated(thread))
		return;
	arena_leave(thread->process->arena);
	has_come(thread);
	context = arena_context(thread->process->arena, thread->slot);
	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) || is_native(thread, &regs))
		return;
	/* What it is held for, or was held back, is for translate_signal(). */
	waits = context->has_signal ||
		(signal && !ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) && is_fault(&info));
	/* Behind the nop of a probe comes the instruction that has it: its probe is silent by now. */
	if (!waits && regs.rip - NOPS_AT < NOPS_MAX * NOP_SIZE)
		regs.rip = arena_probe(thread->process->arena, (regs.rip - NOPS_AT) / NOP_SIZE);
	else if (waits || !guest_state(thread, 0, false, &regs)) {
		call_in(thread, &regs);
		return;
	}
	context->why = GIVE_END;
	regs.gs_base = 0;
	ptrace(PTRACE_SETREGS, tid, NULL, &regs);
}
