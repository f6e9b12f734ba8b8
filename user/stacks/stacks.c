/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each branch does to the call stack.
 *
 *	call		the callee is pushed, with the address its return leads to. A call to the next instruction (get-pc) is none.
 *	return		to the frame, from the top outwards, whose return address it is: all frames up to it end. So exceptions and longjmp that come
 *			back by a return close what they skip. No such frame: the top ends, and the landing rule applies.
 *	jump		inside a function: nothing. To another: if it lands in the middle of a function that is open further out, back to
 *			that (longjmp, landing pads); else the top ends and the other goes on in its place (tail call, PLT stub).
 *	end of tracing	a pseudo frame: "[syscall]", or "[untraced]" for anything else.
 *	start		the pseudo frame ends. In the function that was left: it goes on. At the first byte of another function: a signal
 *			handler, on top of what was interrupted. Else: back to the frame that was interrupted there (sigreturn), or to
 *			one of that function; or the landing rule.
 *	kernel entry	(kernel traced) a frame on top that only the matching exit closes, with all that is still open above it.
 *	gap		everything ends; a new segment begins.
 *
 * Landing rule, when control arrives in a function for a reason not understood: nothing open: it has been open since the segment began
 * (inferred). Open as the top: it goes on. Open further out: everything above ends. Else it takes the top's place. Thus no order of
 * calls is invented that the branches do not show. Rejected: matching by stack depth alone, which one lost return derails for good.
 *
 * Times: packets tell the time less often than branches happen. Branches with one time stamp share the time up to the next one
 * evenly, in order; those after the last stamp keep it.
 */
#include "stacks/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stacks/segment.h"

enum { INSN_MAX = 15 };

struct builder {
	const struct stacks_config *config;
	struct timeline_thread *thread;
	struct segment segment;
	const struct symbol *cached; /* the last symbol looked up */
	uint64_t time_ns;	     /* of the branch at hand */
	uint64_t tsc;
	uint64_t space;
	bool begun; /* the segment has seen a branch */
};

static const struct symbol *symbol_at(struct builder *builder, uint64_t ip)
{
	const struct symbol *cached = builder->cached;

	if (!cached || ip < cached->start || ip >= cached->end)
		builder->cached = cached = builder->config->symbol_at(builder->config->ctx, ip, builder->tsc);
	return cached;
}

/* A compiler moves a function's unlikely parts out of it, as "NAME.cold": still the same call. */
static bool same_function(const struct symbol *a, const struct symbol *b)
{
	const char *cold;
	size_t len;

	if (a == b)
		return true;
	if (!a || !b)
		return false;
	cold = strstr(a->name, ".cold");
	len = cold ? (size_t)(cold - a->name) : strlen(a->name);
	if (!cold) {
		cold = strstr(b->name, ".cold");
		return cold && (size_t)(cold - b->name) == len && !strncmp(a->name, b->name, len);
	}
	return !strncmp(a->name, b->name, len) && (!b->name[len] || !strncmp(b->name + len, ".cold", 5));
}

/* Index past the innermost open frame of the function, or 0; what lies below a kernel entry is out of reach. */
static size_t find_open(const struct segment *segment, const struct symbol *symbol)
{
	for (size_t i = segment->frame_cnt; i > 0; i--) {
		if (same_function(segment->frames[i - 1].symbol, symbol))
			return i;
		if (segment->frames[i - 1].kernel_entry)
			return 0;
	}
	return 0;
}

static bool returns_to(const struct frame *frame, uint64_t to)
{
	if (frame->return_address)
		return frame->return_address == to;
	return frame->call_from && to > frame->call_from && to - frame->call_from <= INSN_MAX;
}

/* Index of the innermost frame that returns there, or SIZE_MAX. */
static size_t find_caller(const struct segment *segment, uint64_t to)
{
	for (size_t i = segment->frame_cnt; i > 0; i--) {
		if (returns_to(&segment->frames[i - 1], to))
			return i - 1;
		if (segment->frames[i - 1].kernel_entry)
			break;
	}
	return SIZE_MAX;
}

/* The landing rule. */
static void land(struct builder *builder, const struct symbol *symbol, uint64_t ip)
{
	struct segment *segment = &builder->segment;
	size_t open;

	if (!segment->frame_cnt) {
		segment_infer(segment, symbol);
		return;
	}
	open = find_open(segment, symbol);
	if (open)
		segment_pop_to(segment, open, builder->time_ns);
	else
		segment_replace(segment, symbol, ip, builder->time_ns);
}

/* The function at `ip` is running: before its own branch is looked at, it must be the top. */
static void settle(struct builder *builder, uint64_t ip)
{
	struct frame *top = segment_top(&builder->segment);

	if (!ip)
		return;
	if (!top)
		segment_infer(&builder->segment, symbol_at(builder, ip));
}

static void on_call(struct builder *builder, const struct branch *branch)
{
	struct frame *frame;

	settle(builder, branch->from);
	if (branch->from_len && branch->to == branch->from + branch->from_len)
		return;
	frame = segment_push(&builder->segment, SLICE_CALL, symbol_at(builder, branch->to), branch->to,
			     builder->time_ns);
	if (!frame)
		return;
	frame->call_from = branch->from;
	frame->return_address = branch->from_len ? branch->from + branch->from_len : 0;
}

static void on_return(struct builder *builder, const struct branch *branch)
{
	struct segment *segment = &builder->segment;
	size_t callee;

	settle(builder, branch->from);
	callee = find_caller(segment, branch->to);
	if (callee != SIZE_MAX) {
		segment_pop_to(segment, callee, builder->time_ns);
		if (!segment->frame_cnt)
			segment_infer(segment, symbol_at(builder, branch->to));
		return;
	}
	if (segment->frame_cnt > 1 && !segment_top(segment)->kernel_entry) {
		const struct symbol *symbol = symbol_at(builder, branch->to);
		struct frame *parent = segment_top(segment) - 1;

		if (same_function(parent->symbol, symbol))
			segment_pop(segment, builder->time_ns);
		else
			land(builder, symbol, branch->to);
		return;
	}
	if (segment->frame_cnt == 1) {
		segment_pop(segment, builder->time_ns);
		segment_infer(segment, symbol_at(builder, branch->to));
	}
}

static void on_jump(struct builder *builder, const struct branch *branch)
{
	struct segment *segment = &builder->segment;
	struct frame *top = segment_top(segment);
	const struct symbol *symbol;
	size_t open;

	if (top && top->symbol && branch->to >= top->symbol->start && branch->to < top->symbol->end)
		return;
	settle(builder, branch->from);
	symbol = symbol_at(builder, branch->to);
	top = segment_top(segment);
	if (!top || same_function(top->symbol, symbol))
		return;
	open = branch->to != symbol->start ? find_open(segment, symbol) : 0;
	if (open)
		segment_pop_to(segment, open, builder->time_ns);
	else
		segment_replace(segment, symbol, branch->to, builder->time_ns);
}

/* ---- in and out of the kernel, traced ---- */

static void on_kernel_entry(struct builder *builder, const struct branch *branch)
{
	struct frame *frame;

	settle(builder, branch->from);
	if (segment_top(&builder->segment))
		segment_top(&builder->segment)->interrupted = branch->from;
	frame = segment_push(&builder->segment, SLICE_CALL, symbol_at(builder, branch->to), branch->to,
			     builder->time_ns);
	if (frame)
		frame->kernel_entry = true;
}

static void resume_at(struct builder *builder, uint64_t to);

static void on_kernel_exit(struct builder *builder, const struct branch *branch)
{
	struct segment *segment = &builder->segment;
	size_t entry = segment->frame_cnt;

	while (entry > 0 && !segment->frames[entry - 1].kernel_entry)
		entry--;
	/* No entry seen: all that is open is the kernel's. */
	segment_pop_to(segment, entry ? entry - 1 : 0, builder->time_ns);
	if (branch->to)
		resume_at(builder, branch->to);
}

/* ---- tracing stops and starts ---- */

static void on_trace_end(struct builder *builder, const struct branch *branch)
{
	struct segment *segment = &builder->segment;
	enum slice_kind kind = branch->kind == BRANCH_SYSCALL ? SLICE_SYSCALL : SLICE_UNTRACED;

	settle(builder, branch->from);
	if (branch->kind == BRANCH_RETURN && segment->frame_cnt > 1)
		segment_pop(segment, builder->time_ns);
	if (branch->kind == BRANCH_INTERRUPT && segment_top(segment))
		segment_top(segment)->interrupted = branch->from;
	segment_push(segment, kind, NULL, 0, builder->time_ns);
}

static size_t find_interrupted(const struct segment *segment, uint64_t ip)
{
	for (size_t i = segment->frame_cnt; i > 0; i--)
		if (segment->frames[i - 1].interrupted == ip)
			return i;
	return 0;
}

/* User code goes on at `to`. */
static void resume_at(struct builder *builder, uint64_t to)
{
	struct segment *segment = &builder->segment;
	const struct symbol *symbol;
	struct frame *top;
	size_t open;

	builder->cached = NULL; /* the kernel may have changed what is mapped */
	symbol = symbol_at(builder, to);
	top = segment_top(segment);
	if (top && same_function(top->symbol, symbol) && (to != symbol->start || top->interrupted == to)) {
		top->interrupted = 0;
		return;
	}
	if (to == symbol->start) {
		/* A signal handler, or the very beginning. */
		segment_push(segment, SLICE_CALL, symbol, to, builder->time_ns);
		return;
	}
	open = find_interrupted(segment, to);
	if (open) {
		segment_pop_to(segment, open, builder->time_ns);
		segment_top(segment)->interrupted = 0;
		return;
	}
	land(builder, symbol, to);
}

static void on_trace_start(struct builder *builder, const struct branch *branch)
{
	struct segment *segment = &builder->segment;
	const struct frame *top = segment_top(segment);

	if (top && !top->symbol)
		segment_pop(segment, builder->time_ns);
	resume_at(builder, branch->to);
}

/* ---- segments ---- */

static int finish_segment(struct builder *builder)
{
	int err = segment_finish(&builder->segment, builder->time_ns, builder->thread);

	segment_release(&builder->segment);
	segment_init(&builder->segment, builder->time_ns);
	builder->begun = false;
	builder->cached = NULL;
	return err;
}

static int on_gap(struct builder *builder, const struct branch *branch)
{
	struct timeline_thread *thread = builder->thread;
	struct instant instant = {.time_ns = builder->time_ns};
	int err = finish_segment(builder);

	if (err)
		return err;
	if (branch->detail ? asprintf(&instant.text, "[gap: %s (%d)]", branch_gap_to_str(branch->gap),
				      branch->detail) < 0
			   : asprintf(&instant.text, "[gap: %s]", branch_gap_to_str(branch->gap)) < 0)
		return -ENOMEM;
	err = ARRAY_PUSH(thread->instants, thread->instant_cnt, thread->instant_cap, instant);
	if (err)
		free(instant.text);
	return err;
}

static void on_flow(struct builder *builder, const struct branch *branch)
{
	if (branch->flags & BRANCH_TRACE_START) {
		on_trace_start(builder, branch);
		return;
	}
	if (branch->flags & BRANCH_TRACE_END) {
		on_trace_end(builder, branch);
		return;
	}
	switch (branch->kind) {
	case BRANCH_CALL:
		on_call(builder, branch);
		break;
	case BRANCH_RETURN:
		on_return(builder, branch);
		break;
	case BRANCH_JUMP:
	case BRANCH_COND:
	case BRANCH_TX_ABORT:
		on_jump(builder, branch);
		break;
	case BRANCH_SYSCALL:
	case BRANCH_INTERRUPT:
		on_kernel_entry(builder, branch);
		break;
	case BRANCH_SYSRET:
		on_kernel_exit(builder, branch);
		break;
	default:
		break;
	}
}

/* An exec ends every call of the program before it. */
static int on_new_space(struct builder *builder)
{
	const struct stacks_config *config = builder->config;
	uint64_t space = config->space_at ? config->space_at(config->ctx, builder->tsc) : 0;
	int err = 0;

	if (space != builder->space && builder->segment.frame_cnt)
		err = finish_segment(builder);
	builder->space = space;
	return err;
}

static int on_branch(struct builder *builder, const struct branch *branch)
{
	int err = 0;

	builder->tsc = branch->tsc;
	if (branch->flags & BRANCH_TRACE_START)
		err = on_new_space(builder);
	if (err)
		return err;
	if (branch->kind == BRANCH_GAP)
		return on_gap(builder, branch);
	if (!builder->begun)
		builder->segment.start_ns = builder->time_ns;
	builder->begun = true;
	on_flow(builder, branch);
	return builder->segment.no_memory ? -ENOMEM : 0;
}

/* One past the last branch with the time stamp of branch i. */
static size_t batch_end(const struct branch_list *branches, size_t i)
{
	size_t end = i + 1;

	while (end < branches->cnt && branches->items[end].tsc == branches->items[i].tsc)
		end++;
	return end;
}

static int build_batch(struct builder *builder, const struct branch_list *branches, size_t from, size_t to)
{
	const struct stacks_config *config = builder->config;
	uint64_t start = config->time_ns(config->ctx, branches->items[from].tsc), next = start;

	if (to < branches->cnt)
		next = config->time_ns(config->ctx, branches->items[to].tsc);
	for (size_t i = from; i < to; i++) {
		unsigned __int128 share = (unsigned __int128)(next > start ? next - start : 0) * (i - from);
		uint64_t time_ns = start + (uint64_t)(share / (to - from));
		int err;

		builder->time_ns = time_ns > builder->time_ns ? time_ns : builder->time_ns;
		err = on_branch(builder, &branches->items[i]);
		if (err)
			return err;
	}
	return 0;
}

int stacks_build(const struct stacks_config *config, const struct branch_list *branches,
		 struct timeline_thread *thread)
{
	struct builder builder = {.config = config, .thread = thread};
	size_t next;
	int err = 0;

	segment_init(&builder.segment, 0);
	for (size_t i = 0; i < branches->cnt && !err; i = next) {
		next = batch_end(branches, i);
		err = build_batch(&builder, branches, i, next);
	}
	if (!err)
		err = finish_segment(&builder);
	segment_release(&builder.segment);
	return err;
}
