/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread stands where the program does, or is given the registers that it would have there natively:
 *
 *	at or in a copied instruction, faulting		its guest address
 *	between the gate and the kernel			before or behind the guest's system call
 *	where the runtime restores the registers	what it restores
 *	where it lets a signal come that has waited	the same
 *	where it enters the runtime			where that begins
 *	where sigreturn leads				where it would have led
 *	elsewhere in the cache or the runtime		not yet
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "arch/arch.h"
#include "source/translate/translate_internal.h"
#include "translate/slot.h"

/* In an indirect call, rcx and rax are in use when the return address is pushed. */
static void restore_spilled(const struct context *context, pid_t tid, struct user_regs_struct *regs)
{
	enum { PUSH_RAX = 0x50 };
	long byte;

	errno = 0;
	byte = ptrace(PTRACE_PEEKTEXT, tid, (void *)regs->rip, NULL) & 0xff;
	if (errno || byte != PUSH_RAX)
		return;
	regs->rcx = context->rcx;
	regs->rax = context->rax;
}

void guest_state_saved(const struct context *context, uint64_t rip, struct user_regs_struct *regs)
{
	const uint64_t *saved = context->regs;

	regs->rax = saved[0], regs->rcx = saved[1], regs->rdx = saved[2], regs->rbx = saved[3];
	regs->rsp = stack_pointer_of(context, saved[4]), regs->rbp = saved[5], regs->rsi = saved[6],
	regs->rdi = saved[7];
	regs->r8 = saved[8], regs->r9 = saved[9], regs->r10 = saved[10], regs->r11 = saved[11];
	regs->r12 = saved[12], regs->r13 = saved[13], regs->r14 = saved[14], regs->r15 = saved[15];
	regs->eflags = context->flags;
	regs->rip = rip;
	regs->orig_rax = (unsigned long long)-1;
}

static void take_spilled(const struct context *context, struct user_regs_struct *regs)
{
	regs->rax = context->rax;
	regs->rdx = context->rdx;
}

/*
 * Before the system call whose instruction the runtime has at `call`. `saved`: rax and rdx are from there on.
 */
static void settle_before(const struct translate_thread *thread, uint64_t at, uint64_t saved, uint64_t call,
			  struct user_regs_struct *regs)
{
	const struct context *context = arena_context(thread->process->arena, thread->slot);

	if (at >= saved && at < call)
		take_spilled(context, regs);
	regs->rip = context->syscall_next - ARCH_SYSCALL_SIZE;
	regs->rsp = stack_pointer_of(context, regs->rsp);
}

static void settle_behind(struct context *context, struct user_regs_struct *regs)
{
	regs->rip = regs->rcx = context->syscall_next;
	context->owed_result = regs->rax;
}

/* Behind a call that makes a thread, in one of both. */
static void settle_birth(struct context *context, struct user_regs_struct *regs)
{
	if (regs->rax)
		context->birth = (int64_t)regs->rax;
	regs->r15 = context->r15;
	settle_behind(context, regs);
}

static bool settle_in_runtime(const struct translate_thread *thread, uint64_t at,
			      struct user_regs_struct *regs)
{
	const struct arena *arena = thread->process->arena;
	const struct runtime_header *header = arena_header(arena);
	struct context *context = arena_context(arena, thread->slot);

	if ((at >= header->restore && at < header->restored) || at == header->landed) {
		guest_state_saved(context, context->here, regs);
	} else if (at == header->sigreturned) {
		regs->rip = context->returned;
		arena_append(thread->process->arena, thread->slot, regs->rip, RING_GO);
	} else if (at == header->start) {
		regs->rip = context->next;
		arena_append(thread->process->arena, thread->slot, regs->rip, RING_GO);
	} else if (at == header->gate) {
		regs->rip = regs->rcx - ARCH_SYSCALL_SIZE;
	} else if (at > header->gate && at < header->syscalled) {
		settle_before(thread, at, header->syscall_saved, header->syscalled - ARCH_SYSCALL_SIZE, regs);
	} else if (at >= header->syscalled && at < header->after_end) {
		if (at >= header->after_saved)
			take_spilled(context, regs);
		settle_behind(context, regs);
	} else if (at >= header->go_birth && at < header->born) {
		if (at >= header->birth_saved)
			regs->r15 = context->r15;
		settle_before(thread, at, header->birth_saved, header->born - ARCH_SYSCALL_SIZE, regs);
	} else if (at >= header->born && at < header->born_end) {
		settle_birth(context, regs);
	} else if (at >= header->stamp && at < header->stamp_end) {
		if (at >= header->stamp_saved)
			take_spilled(context, regs);
		regs->rcx = context->rcx;
		regs->rip = context->stamp_guest;
	} else {
		return false;
	}
	return true;
}

bool guest_state(const struct translate_thread *thread, int fault, bool again, struct user_regs_struct *regs)
{
	struct arena *arena = thread->process->arena;
	uint64_t at = regs->rip - arena_shared(arena)->runtime;
	struct host_place place;

	if (!arena_is_ours(arena, regs->rip))
		return true;
	if (at < arena_header(arena)->end)
		return settle_in_runtime(thread, at, regs);
	if (regs->rip - NOPS_AT < NOPS_MAX * NOP_SIZE) {
		/* Behind the nop, it is a matter of one more jump. */
		if ((regs->rip - NOPS_AT) % NOP_SIZE)
			return false;
		regs->rip = arena_probe(arena, (regs->rip - NOPS_AT) / NOP_SIZE);
		return true;
	}
	/* Behind a breakpoint: int3, int 3 */
	for (unsigned int len = 1; fault == SIGTRAP && len <= 2; len++)
		if (arena_find_place(arena, regs->rip - len, &place) && place.is_exact) {
			regs->rip = place.guest + (again ? 0 : len);
			return true;
		}
	if (!arena_find_place(arena, regs->rip, &place) || (!place.is_exact && !fault))
		return false;
	arena_append_steps(arena, thread->slot, &place);
	if (fault && place.is_check) {
		/* There is no code any more. */
		regs->rcx = arena_context(arena, thread->slot)->rcx;
		regs->rax = arena_context(arena, thread->slot)->rax;
	} else if (!place.is_exact) {
		restore_spilled(arena_context(arena, thread->slot), thread->tid, regs);
	}
	regs->rip = place.guest;
	return true;
}
