/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The packets of an instruction follow from its kind and from where control went. If these contradict each
 * other (a restartable sequence was aborted, a transaction failed, the code has changed), an asynchronous
 * event like an interrupt follows the instruction: FUP, TIP.PGD, and TIP.PGE at the new place.
 */
#include "source/step/step_thread.h"

#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

enum { OVERFLOW_LENGTH = 40 };

/* While an overflow lasts, nothing is written. */
static bool losing(const struct step_thread *thread)
{
	return thread->overflow_left > 0;
}

static void log_instruction(struct step_thread *thread)
{
	thread->instruction_cnt++;
	if (thread->log)
		fprintf(thread->log, "%d %lx %lx%s\n", thread->base.tid, (unsigned long)thread->insn.ip,
			(unsigned long)ptrace(PTRACE_PEEKUSER, thread->base.tid,
					      offsetof(struct user_regs_struct, rsp), NULL),
			losing(thread) ? " lost" : "");
}

/* The next instruction. A decoder can switch to changed code only at a PSB. */
static void go_to(struct step_thread *thread, struct code_store *code, uint64_t tsc, uint64_t ip)
{
	thread->insn = code_store_insn(code, ip, tsc);
	if (thread->change_cnt == code_store_change_cnt(code))
		return;
	thread->change_cnt = code_store_change_cnt(code);
	thread->encoder.psb_wanted = true;
}

void step_thread_enter(struct step_thread *thread, struct code_store *code, uint64_t tsc, uint64_t ip)
{
	go_to(thread, code, tsc, ip);
	if (losing(thread))
		thread->encoder.enabled = true; /* unknown until the overflow's end gives the address */
	else
		encoder_enable(&thread->encoder, tsc, ip);
	thread->in_kernel = false;
	thread->unsure = false;
}

static void disable(struct step_thread *thread, uint64_t tsc)
{
	if (losing(thread))
		thread->encoder.enabled = false;
	else
		encoder_disable(&thread->encoder, tsc);
}

void step_thread_interrupt(struct step_thread *thread, uint64_t tsc)
{
	if (!thread->encoder.enabled)
		return;
	if (losing(thread)) {
		encoder_overflow(&thread->encoder, tsc, thread->insn.ip);
		thread->overflow_left = 0;
	}
	encoder_disable_async(&thread->encoder, tsc, thread->insn.ip);
}

void step_thread_leave(struct step_thread *thread, uint64_t tsc)
{
	switch (thread->insn.kind) {
	case INSN_SYSCALL:
	case INSN_BREAK:
		log_instruction(thread);
		disable(thread, tsc);
		thread->in_kernel = true;
		break;
	case INSN_UNKNOWN:
		/* A decoder will not have its bytes either. */
		step_thread_interrupt(thread, tsc);
		thread->in_kernel = true;
		break;
	default:
		break;
	}
}

/* The packets of one executed instruction. False: control did not go where the instruction says. */
static bool report(struct encoder *encoder, const struct insn *insn, uint64_t tsc, uint64_t to)
{
	uint64_t next = insn->ip + insn->len;

	switch (insn->kind) {
	case INSN_COND:
		encoder_conditional(encoder, tsc, to != next);
		return to == next || to == insn->target;
	case INSN_JUMP:
		return to == insn->target;
	case INSN_CALL:
		encoder_push_return(encoder, next);
		return to == insn->target;
	case INSN_CALL_INDIRECT:
		encoder_push_return(encoder, next);
		encoder_indirect(encoder, tsc, to);
		return true;
	case INSN_JUMP_INDIRECT:
	case INSN_FAR:
		encoder_indirect(encoder, tsc, to);
		return true;
	case INSN_RETURN:
		encoder_return(encoder, tsc, to);
		return true;
	default:
		return to == next;
	}
}

/* Where the instruction alone would have led. */
static uint64_t expected(const struct insn *insn, uint64_t to)
{
	if (insn->kind == INSN_JUMP || insn->kind == INSN_CALL)
		return insn->target;
	if (insn->kind == INSN_COND && to != insn->ip + insn->len)
		return insn->target;
	return insn->ip + insn->len;
}

static bool makes_packet(const struct insn *insn)
{
	switch (insn->kind) {
	case INSN_COND:
	case INSN_JUMP_INDIRECT:
	case INSN_CALL_INDIRECT:
	case INSN_RETURN:
		return true;
	default:
		return false;
	}
}

/*
 * Begins and ends artificial overflows. Each begins right after a branch with a packet: a decoder stops
 * there, too, so that it misses exactly the lost instructions.
 */
static void overflow(struct step_thread *thread, const struct insn *done, uint64_t tsc, uint64_t ip)
{
	if (losing(thread)) {
		if (--thread->overflow_left == 0)
			encoder_overflow(&thread->encoder, tsc, ip);
		return;
	}
	if (thread->instruction_cnt < thread->overflow_next || !makes_packet(done))
		return;
	encoder_flush(&thread->encoder);
	thread->overflow_next = thread->instruction_cnt + thread->overflow_every;
	thread->overflow_left = OVERFLOW_LENGTH;
}

void step_thread_retire(struct step_thread *thread, struct code_store *code, uint64_t tsc, uint64_t ip)
{
	const struct insn insn = thread->insn;

	log_instruction(thread);
	if (insn.kind == INSN_MOV_SS) {
		/* The trap is held back for one instruction: two were executed. */
		go_to(thread, code, tsc, insn.ip + insn.len);
		if (thread->insn.kind != INSN_MOV_SS) {
			step_thread_retire(thread, code, tsc, ip);
			return;
		}
	}
	if (!losing(thread) && !report(&thread->encoder, &insn, tsc, ip)) {
		encoder_disable_async(&thread->encoder, tsc, expected(&insn, ip));
		encoder_enable(&thread->encoder, tsc, ip);
	}
	go_to(thread, code, tsc, ip);
	if (thread->overflow_every)
		overflow(thread, &insn, tsc, ip);
	if (!losing(thread))
		encoder_boundary(&thread->encoder, tsc, ip);
}
