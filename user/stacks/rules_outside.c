/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What becomes of the call stack where control leaves what is traced, and where it comes back.
 *
 *	end of tracing	a pseudo frame: "[syscall]", or "[untraced]" for anything else. A return that ends
 *			tracing ends its frame first.
 *	start		the pseudo frame ends. Where it was left, or in the function that was left: it goes
 *			on. Where a frame was interrupted, or elsewhere in its function: back to that
 *			(sigreturn). At the first byte of another function: a signal handler, on top of what
 *			was interrupted, or, behind a sigreturn, in the place of the handler before it. Else:
 *			the unwinding rule, or the top's place is taken (an rseq abort, a restart elsewhere).
 *	kernel entry	(kernel traced) a frame on top that only the matching exit closes, with all that is
 *			still open above it. An exit to user code closes every entry since user code ran; one
 *			to kernel code those above the entry that interrupted it there.
 */
#include "stacks/rules.h"

static bool is_user(uint64_t ip)
{
	return ip < 1ull << 63;
}

uint64_t resume_after(const struct branch *branch)
{
	if (branch->kind == BRANCH_INTERRUPT || branch->kind == BRANCH_NONE)
		return branch->from;
	if (branch->kind == BRANCH_SYSCALL && !branch->from_len)
		return branch->from + SYSCALL_BYTES;
	return branch->from + branch->from_len;
}

void rules_on_kernel_entry(struct stacks *stacks, const struct stack_step *step)
{
	const struct branch *branch = &step->branch;
	struct frame *frame;

	rules_settle_from(stacks, step);
	frame = rules_push_call(stacks, step, 0);
	if (!frame)
		return;
	frame->kernel_entry = true;
	frame->resume = resume_after(branch);
}

/*
 * Index of the entry that an exit to `to` belongs to, or 0 where none was seen: then all that is open is the
 * kernel's.
 */
static size_t find_entry(const struct segment *segment, uint64_t to)
{
	size_t innermost = SIZE_MAX;

	for (size_t i = segment->frame_cnt; i > 0; i--) {
		const struct frame *frame = &segment->frames[i - 1];

		if (!frame->kernel_entry)
			continue;
		if (is_user(to) ? is_user(frame->resume) : frame->resume == to)
			return i - 1;
		if (innermost == SIZE_MAX)
			innermost = i - 1;
	}
	return innermost == SIZE_MAX || is_user(to) ? 0 : innermost;
}

/*
 * One past the frame on which a handler was put when it was interrupted at step->to, or else in the same
 * function: the handler may have led elsewhere. Or 0.
 */
static size_t find_interrupted(const struct segment *segment, const struct stack_step *step)
{
	for (size_t i = segment->frame_cnt; i > 1; i--)
		if (segment->frames[i - 1].resume == step->branch.to)
			return i - 1;
	for (size_t i = segment->frame_cnt; i > 1 && !enters(step); i--)
		if (segment->frames[i - 1].resume && is_same(step, &segment->frames[i - 2]))
			return i - 1;
	return 0;
}

/* One past the frame to which a call has returned during the pause, or 0. */
static size_t find_returned(const struct segment *segment, uint64_t to)
{
	size_t callee = rules_find_callee(segment, to);

	return callee == SIZE_MAX ? 0 : callee;
}

/*
 * Code goes on at step->to after a pause that began where `resume` would be next; 0: unknown. `by_call`: it
 * may have been a sigreturn.
 */
static void resume_at(struct stacks *stacks, const struct stack_step *step, uint64_t resume, bool by_call)
{
	struct segment *segment = &stacks->segment;
	uint64_t to = step->branch.to;
	const struct frame *top = segment_top(segment);
	struct frame *handler;
	size_t interrupted;

	if (top && (to == resume || (is_same(step, top) && !enters(step))))
		return;
	/* A signal may have come before the first instruction of a function, too. */
	interrupted = find_interrupted(segment, step);
	if (enters(step) && !(by_call && interrupted)) {
		if (by_call && top && top->is_restorer) {
			resume = top->resume;
			segment_pop(segment, step->moment);
		}
		handler = rules_push_call(stacks, step, 0);
		if (handler)
			handler->resume = resume;
		return;
	}
	if (!interrupted)
		interrupted = find_returned(segment, to);
	if (interrupted)
		segment_pop_to(segment, interrupted, step->moment);
	if (interrupted)
		rules_settle(stacks, step);
	else if (!rules_unwind(stacks, step) && (symbol_is_function(step->to) || !segment_top(segment)))
		rules_settle(stacks, step);
}

void rules_on_kernel_exit(struct stacks *stacks, const struct stack_step *step)
{
	struct segment *segment = &stacks->segment;
	size_t entry;
	uint64_t resume = 0;

	rules_settle_from(stacks, step);
	entry = find_entry(segment, step->branch.to);
	if (entry < segment->frame_cnt && segment->frames[entry].kernel_entry)
		resume = segment->frames[entry].resume;
	segment_pop_to(segment, entry, step->moment);
	/*
	 * Into a function that the kernel was entered from before anything was seen: at its first byte, it
	 * did not begin just now.
	 */
	if (!resume && !segment_top(segment))
		segment_infer(segment, step->to, step->branch.to);
	else
		resume_at(stacks, step, resume, true);
}

void rules_on_trace_end(struct stacks *stacks, const struct stack_step *step)
{
	const struct branch *branch = &step->branch;
	struct segment *segment = &stacks->segment;
	struct frame *frame;

	rules_settle_from(stacks, step);
	if (branch->kind == BRANCH_RETURN && segment_top(segment) && segment_top(segment)->symbol)
		segment_pop(segment, step->moment);
	if (branch->kind == BRANCH_SYSRET)
		segment_pop_to(segment, 0, step->moment);
	frame = segment_push(segment, branch->kind == BRANCH_SYSCALL ? SLICE_SYSCALL : SLICE_UNTRACED, NULL,
			     branch->from, step->moment);
	if (!frame)
		return;
	frame->resume = resume_after(branch);
	if (branch->kind == BRANCH_CALL)
		frame->return_address = frame->resume;
}

/* The kernel, in which a gap began, goes back to exactly where it was entered from. */
static bool ends_kernel_gap(const struct stacks *stacks, const struct stack_step *step)
{
	const struct segment *chain = &stacks->chain;
	const struct frame *last = chain->frame_cnt ? &chain->frames[chain->frame_cnt - 1] : NULL;

	return !stacks->segment.frame_cnt && stacks->has_chain && stacks->pause == PAUSE_GAP && last &&
	       last->kernel_entry && last->resume == step->branch.to;
}

void rules_on_trace_start(struct stacks *stacks, const struct stack_step *step)
{
	const struct frame *top = segment_top(&stacks->segment);
	uint64_t resume = 0;
	bool by_call = false;

	if (step->space != stacks->space) {
		/* An exec ended every call of the program before it. */
		if (top)
			stacks_pause(stacks, PAUSE_NONE, step->moment);
		stacks->space = step->space;
		top = NULL;
	}
	if (top && !top->symbol) {
		resume = top->resume;
		by_call = segment_slice(&stacks->segment, top)->kind == SLICE_SYSCALL;
		segment_pop(&stacks->segment, step->moment);
	}
	if (!top && ends_kernel_gap(stacks, step))
		segment_infer(&stacks->segment, step->to, step->branch.to);
	else
		resume_at(stacks, step, resume, by_call);
}
