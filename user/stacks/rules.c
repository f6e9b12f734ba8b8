/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each branch does to the call stack.
 *
 *	call		the callee is pushed, with the address its return leads to. A call to the next
 *			instruction (get-pc) is none. One into the middle of its own function is none either:
 *			that is how inline retpolines put an address on the stack; the frame remembers it.
 *	return		to the frame, from the top outwards, whose return address it is: all frames up to it
 *			end. With no frame left: into a caller that has been there since the segment began
 *			(inferred). No such frame: the unwinding rule; to the first byte of a function: a jump
 *			(retpolines), or a call, if the frame remembers an address from a call into its own
 *			middle (inline retpolines); inside the function on top, whose own return leads
 *			elsewhere: a jump (push, ret); else control has moved to another stack.
 *	jump		inside a function: nothing. To another: the unwinding rule, if the jump is
 *			indirect; else the top ends and the other goes on in its place (tail call, PLT
 *			stub, a part of the function that the compiler moved away). From a JIT compiler's
 *			code without names to the first byte of a function: a call (the JVM's interpreter
 *			pushes the return address itself).
 *	kernel, trace	entries, exits, ends and starts of tracing: rules_outside.c.
 *	gap		the segment ends; stitch.c finds out what goes on behind it.
 *
 * The unwinding rule, for control that arrives in the middle of a function that is open further out. Of its
 * frames, from the top outwards, it is
 *	- the one that called setjmp returning to there (longjmp);
 *	- the one whose current call has its landing pad or exception handler there, by the tables of the
 *	  program (C++, Rust) or the shape of its code (OCaml): exact in recursions, too. A frame whose call
 *	  has its handler elsewhere cannot be it;
 *	- else the innermost one of that function.
 * An exception handler of which no frame is known ends the segment, as an error would: its frame lies below
 * all that the segment knows, or was never seen, and any place given to it would be an invented order of
 * calls.
 *
 * Moving to another stack (coroutines, goroutines): out of a function known to do that, and by returns that
 * fit nothing else. The old stack is put aside, and a segment begins without a gap.
 *
 * Rejected: matching by stack depth alone, which one lost return derails for good; taking the top's place
 * after each return that does not match, which turns unwinding into stairs of calls that never happened.
 */
#include <string.h>

#include "stacks/rules.h"

struct frame *rules_push_call(struct stacks *stacks, const struct stack_step *step, uint64_t return_address)
{
	struct frame *frame =
		segment_push(&stacks->segment, SLICE_CALL, step->to, step->branch.to, step->moment);

	if (frame)
		frame->return_address = return_address;
	return frame;
}

void rules_settle(struct stacks *stacks, const struct stack_step *step)
{
	const struct frame *top = segment_top(&stacks->segment);

	if (!top)
		segment_infer(&stacks->segment, step->to, step->branch.to);
	else if (!is_same(step, top))
		segment_replace(&stacks->segment, step->to, step->branch.to, step->moment);
}

void rules_settle_from(struct stacks *stacks, const struct stack_step *step)
{
	if (!stacks->segment.frame_cnt && step->from)
		segment_infer(&stacks->segment, step->from, step->branch.from);
}

/* ---- unwinding ---- */

static enum landing landing(const struct stacks *stacks, uint64_t call_ip, const struct stack_step *step)
{
	const struct stacks_config *config = stacks->config;

	if (!config->landing)
		return LANDING_UNKNOWN;
	return config->landing(config->ctx, call_ip, step->branch.to, step->branch.tsc);
}

/* Whether the call that frame i is in comes down at step->to, where there is a handler. */
static enum landing frame_landing(const struct stacks *stacks, size_t i, const struct stack_step *step)
{
	const struct segment *segment = &stacks->segment;

	if (i + 1 == segment->frame_cnt)
		return landing(stacks, step->branch.from, step);
	if (!segment->frames[i + 1].return_address)
		return LANDING_UNKNOWN;
	return landing(stacks, segment->frames[i + 1].return_address - 1, step);
}

/*
 * One past the frame that step->to is in the middle of, or 0. What lies below a kernel entry is out of reach;
 * what returns is left.
 */
static size_t find_unwound(const struct stacks *stacks, const struct stack_step *step, bool is_handler)
{
	const struct segment *segment = &stacks->segment;
	bool leaves = step->branch.kind == BRANCH_RETURN && segment->frame_cnt;
	/* A JIT compiler's code without names is many functions: a jump there mostly ends a call's way. */
	bool is_known = step->branch.kind == BRANCH_RETURN || !step->to->is_region;
	size_t innermost = 0;

	for (size_t i = segment->frame_cnt - leaves; i > 0; i--) {
		const struct frame *frame = &segment->frames[i - 1];
		enum landing found = is_handler ? frame_landing(stacks, i - 1, step) : LANDING_UNKNOWN;

		if (frame->setjmp == step->branch.to || found == LANDING_YES)
			return i;
		if (found == LANDING_UNKNOWN && !innermost && is_known && is_same(step, frame))
			innermost = i;
		if (frame->kernel_entry)
			break;
	}
	return innermost;
}

bool rules_unwind(struct stacks *stacks, const struct stack_step *step)
{
	bool is_handler = landing(stacks, 0, step) == LANDING_YES;
	size_t open = enters(step) ? 0 : find_unwound(stacks, step, is_handler);

	/* The frame may lie below a gap. */
	if (!open && !enters(step) && stacks_join_now(stacks))
		open = find_unwound(stacks, step, is_handler);
	if (open) {
		segment_pop_to(&stacks->segment, open, step->moment);
		rules_settle(stacks, step); /* it may go on in a part that was moved out of it */
		return true;
	}
	if (!is_handler)
		return false;
	stacks_note(stacks, step->moment, strdup("[gap: an exception for an unknown caller]"));
	stacks_pause(stacks, PAUSE_NONE, step->moment);
	segment_infer(&stacks->segment, step->to, step->branch.to);
	return true;
}

/* ---- other stacks ---- */

/* Go grows a stack and then begins the function again that found it too small. */
static bool retry_after_growth(struct stacks *stacks, const struct stack_step *step)
{
	struct segment *segment = &stacks->segment;
	uint64_t return_address;

	for (size_t i = segment->frame_cnt; i > 1; i--) {
		if (segment->frames[i - 1].symbol &&
		    segment->frames[i - 1].symbol->role == SYMBOL_GO_MORESTACK &&
		    is_same(step, &segment->frames[i - 2])) {
			return_address = segment->frames[i - 2].return_address;
			segment_pop_to(segment, i - 2, step->moment);
			rules_push_call(stacks, step, return_address);
			return true;
		}
	}
	return false;
}

static void switch_stack(struct stacks *stacks, const struct stack_step *step)
{
	if (enters(step) && retry_after_growth(stacks, step))
		return;
	stacks_pause(stacks, PAUSE_SWITCH, step->moment);
	segment_infer(&stacks->segment, step->to, step->branch.to);
	if (!stacks->segment.no_memory)
		stacks->segment.inferred[0].flags = 0;
}

static bool leaves_for_other_stack(const struct frame *top, const struct stack_step *step)
{
	return top && top->symbol && top->symbol->role == SYMBOL_SWITCH && step->to->role != SYMBOL_SWITCH;
}

/* ---- calls, returns, jumps ---- */

bool calls_inside(const struct symbol *symbol, const struct branch *branch)
{
	return branch->from_len && symbol_owns(symbol, branch->to) && symbol_owns(symbol, branch->from) &&
	       symbol->named && !begins(symbol, branch->to);
}

static void remember_local(struct frame *frame, uint64_t return_address)
{
	if (frame->local_cnt == LOCAL_CALLS_MAX) {
		memmove(frame->local, frame->local + 1, (LOCAL_CALLS_MAX - 1) * sizeof(*frame->local));
		frame->local_cnt--;
	}
	frame->local[frame->local_cnt++] = return_address;
}

static void on_call(struct stacks *stacks, const struct stack_step *step)
{
	const struct branch *branch = &step->branch;
	uint64_t return_address = branch->from_len ? branch->from + branch->from_len : 0;
	struct frame *frame;

	rules_settle_from(stacks, step);
	if (return_address == branch->to)
		return;
	frame = segment_top(&stacks->segment);
	if (frame && is_same(step, frame) && calls_inside(step->to, branch)) {
		remember_local(frame, return_address);
		return;
	}
	if (step->to->role == SYMBOL_SETJMP && segment_top(&stacks->segment))
		segment_top(&stacks->segment)->setjmp = return_address;
	frame = rules_push_call(stacks, step, return_address);
	if (frame)
		frame->call_from = branch->from;
}

bool returns_to(const struct frame *frame, uint64_t to)
{
	if (frame->return_address)
		return frame->return_address == to;
	return frame->call_from && to > frame->call_from && to - frame->call_from <= INSN_BYTES_MAX;
}

size_t rules_find_callee(const struct segment *segment, uint64_t to)
{
	for (size_t i = segment->frame_cnt; i > 0; i--) {
		if (returns_to(&segment->frames[i - 1], to))
			return i - 1;
		if (segment->frames[i - 1].kernel_entry)
			break;
	}
	return SIZE_MAX;
}

/* Into a caller that the segment has not seen yet. */
static bool leaves_last_frame(const struct stacks *stacks, const struct stack_step *step)
{
	const struct segment *segment = &stacks->segment;

	return segment->frame_cnt <= 1 && !enters(step) && landing(stacks, 0, step) != LANDING_YES &&
	       !(segment->frame_cnt && segment->frames[0].kernel_entry);
}

/*
 * A return that takes an address which a call into the function's own middle has left on the stack; true: it
 * was no more than that.
 */
static bool return_from_local(struct stacks *stacks, const struct stack_step *step)
{
	struct frame *top = segment_top(&stacks->segment);

	if (!top || !top->local_cnt || rules_find_callee(&stacks->segment, step->branch.to) != SIZE_MAX)
		return false;
	top->local_cnt--;
	if (top->local[top->local_cnt] == step->branch.to)
		return true;
	/*
	 * Another address was put in its place: what is below is where the function that it leads to returns
	 * to.
	 */
	if (!top->local_cnt || !enters(step))
		return is_same(step, top) && !enters(step);
	rules_push_call(stacks, step, top->local[--top->local_cnt]);
	return true;
}

/* The function on top returns elsewhere, as is known: an address was put on the stack to jump there. */
static bool jumps_inside(const struct stacks *stacks, const struct stack_step *step)
{
	const struct segment *segment = &stacks->segment;
	const struct frame *top = segment->frame_cnt ? &segment->frames[segment->frame_cnt - 1] : NULL;

	return top && top->return_address && is_same(step, top) && !enters(step) &&
	       top->setjmp != step->branch.to && landing(stacks, 0, step) != LANDING_YES;
}

/*
 * From a JIT compiler's code without names to such code: the JVM's interpreter puts an address on the stack
 * and jumps to the method. One more caller without a name would say nothing.
 */
static bool stays_in_regions(const struct stack_step *step)
{
	return step->from && step->from->is_region && step->to->is_region;
}

static void on_return(struct stacks *stacks, const struct stack_step *step)
{
	struct segment *segment = &stacks->segment;
	struct frame *top;
	size_t callee;

	rules_settle_from(stacks, step);
	if (return_from_local(stacks, step))
		return;
	callee = rules_find_callee(segment, step->branch.to);
	if (leaves_for_other_stack(segment_top(segment), step)) {
		switch_stack(stacks, step);
	} else if (callee != SIZE_MAX) {
		segment_pop_to(segment, callee, step->moment);
		rules_settle(stacks, step);
	} else if (jumps_inside(stacks, step)) {
		return;
	} else if (stays_in_regions(step)) {
		rules_settle(stacks, step);
	} else if (leaves_last_frame(stacks, step)) {
		segment_pop(segment, step->moment);
		segment_infer(segment, step->to, step->branch.to);
	} else if (rules_unwind(stacks, step)) {
		return;
	} else if (enters(step) || segment_top(segment)->kernel_entry) {
		rules_settle(stacks, step);
		top = segment_top(segment);
		if (top)
			top->is_restorer = top->resume && !top->kernel_entry;
	} else {
		switch_stack(stacks, step);
	}
}

/*
 * A jump whose target stands in the instruction leads to another part of the function, or to one called in
 * its place. An adapter leads on a call, and be it of a method that is open further out.
 */
static bool may_unwind(const struct branch *branch, const struct symbol *from)
{
	if (branch->kind != BRANCH_JUMP)
		return branch->kind == BRANCH_TX_ABORT;
	return (branch->flags & BRANCH_INDIRECT || !branch->from_len) &&
	       !(from && from->role == SYMBOL_ADAPTER);
}

/* OCaml raises by a jump, which may lead to the same function, called further out. */
bool may_raise(const struct branch *branch, const struct symbol *symbol)
{
	return branch->flags & BRANCH_INDIRECT && symbol->role == SYMBOL_OCAML;
}

bool calls_by_jump(const struct symbol *from, const struct symbol *to, uint64_t ip)
{
	return from && from->is_region && !to->is_region && begins(to, ip);
}

/* A region has called the top by a jump, which goes back by a jump, too: that call has ended. */
static bool jumps_back(const struct segment *segment, const struct stack_step *step)
{
	const struct frame *top;

	if (!step->to->is_region || segment->frame_cnt < 2)
		return false;
	top = &segment->frames[segment->frame_cnt - 1];
	return !top->return_address && !top->call_from && !top->resume && is_same(step, top - 1);
}

/* A JVM's method has called its own stub, which leads to an adapter: a call of what comes behind that. */
static bool calls_by_stub(struct stacks *stacks, const struct stack_step *step)
{
	struct frame *top = segment_top(&stacks->segment);

	if (step->to->role != SYMBOL_ADAPTER || !top || !top->local_cnt)
		return false;
	rules_push_call(stacks, step, top->local[--top->local_cnt]);
	return true;
}

static void on_jump(struct stacks *stacks, const struct stack_step *step)
{
	const struct frame *top;

	rules_settle_from(stacks, step);
	if (calls_by_stub(stacks, step))
		return;
	top = segment_top(&stacks->segment);
	if (top && is_same(step, top)) {
		if (may_raise(&step->branch, step->to) && landing(stacks, 0, step) == LANDING_YES)
			rules_unwind(stacks, step);
		return;
	}
	if (leaves_for_other_stack(top, step))
		switch_stack(stacks, step);
	else if (calls_by_jump(top ? top->symbol : NULL, step->to, step->branch.to))
		rules_push_call(stacks, step, 0);
	else if (jumps_back(&stacks->segment, step))
		segment_pop(&stacks->segment, step->moment);
	else if (!may_unwind(&step->branch, step->from) || !rules_unwind(stacks, step))
		rules_settle(stacks, step);
}

void rules_apply(struct stacks *stacks, const struct stack_step *step)
{
	if (step->branch.flags & BRANCH_TRACE_START) {
		if (step->to)
			rules_on_trace_start(stacks, step);
		return;
	}
	if (step->branch.flags & BRANCH_TRACE_END) {
		rules_on_trace_end(stacks, step);
		return;
	}
	if (!step->to)
		return;
	switch (step->branch.kind) {
	case BRANCH_CALL:
		on_call(stacks, step);
		break;
	case BRANCH_RETURN:
		on_return(stacks, step);
		break;
	case BRANCH_JUMP:
	case BRANCH_COND:
	case BRANCH_TX_ABORT:
		on_jump(stacks, step);
		break;
	case BRANCH_SYSCALL:
	case BRANCH_INTERRUPT:
		rules_on_kernel_entry(stacks, step);
		break;
	case BRANCH_SYSRET:
		rules_on_kernel_exit(stacks, step);
		break;
	default:
		break;
	}
}
