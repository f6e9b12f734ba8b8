/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A piece of a thread's branches, built without knowing the stack that it begins with. Most branches need no
 * more than the frames that the piece itself has pushed: a call, the return from it, a system call, a jump
 * inside the function on top. They are done here, on any thread. What needs more (a return past the
 * beginning, unwinding, signals) is kept as a step, for the one who knows the stack (stacks.c).
 *
 *	branches	ret	call f	call g	ret	ret	jump h		call i
 *	here		step	push f	push g	pop	pop	step		push i
 *	the piece	step 1, slices f g; step 2, slice i, which is still open
 *
 * What is done here does to the stack exactly what rules.c would; so it does not matter where a trace is cut.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stacks/stacks_internal.h"

enum { LOOKUPS = 2048 }; /* a power of two */

struct builder {
	const struct stacks_config *config;
	struct stacks_piece *piece;
	const struct symbol
		*base; /* the function of the frame that the last step left on top; NULL: unknown */
	size_t floor;  /* frames of the piece that were handed over with steps */
	uint64_t space;
	const struct symbol *lookups[LOOKUPS]; /* by address */
	uint64_t at;			       /* where control went last; 0: unknown */
};

static const struct symbol *symbol_at(struct builder *builder, const struct branch *branch, uint64_t ip)
{
	const struct symbol **slot = &builder->lookups[(ip >> 4 ^ ip >> 13) % LOOKUPS];

	if (!ip)
		return NULL;
	if (!*slot || !symbol_owns(*slot, ip))
		*slot = builder->config->symbol_at(builder->config->ctx, ip, branch->tsc);
	return *slot;
}

/* The piece's own top, or NULL: the base. */
static struct frame *own_top(struct builder *builder)
{
	struct segment *segment = &builder->piece->segment;

	return segment->frame_cnt > builder->floor ? segment_top(segment) : NULL;
}

static const struct symbol *top_symbol(struct builder *builder)
{
	const struct frame *top = own_top(builder);

	return top ? top->symbol : builder->base;
}

static bool covers(const struct symbol *symbol, uint64_t ip)
{
	return symbol && symbol_owns(symbol, ip);
}

static uint64_t space_at(const struct builder *builder, uint64_t tsc)
{
	const struct stacks_config *config = builder->config;

	return config->space_at ? config->space_at(config->ctx, tsc) : 0;
}

/* ---- what can be done here; false: it cannot ---- */

/* The frame that stands on the piece's base has depth 1, whatever is below. */
static void settle(struct builder *builder, struct frame *frame)
{
	struct segment *segment = &builder->piece->segment;

	if (!frame || segment->frame_cnt - 1 != builder->floor)
		return;
	frame->depth = 1;
	segment_slice(segment, frame)->depth = 1;
}

static struct frame *push(struct builder *builder, enum slice_kind kind, const struct symbol *symbol,
			  uint64_t ip)
{
	struct stacks_piece *piece = builder->piece;
	struct frame *frame =
		segment_push(&piece->segment, kind, symbol, ip, moments_reserve(&piece->moments));

	settle(builder, frame);
	return frame;
}

static bool call_here(struct builder *builder, const struct branch *branch)
{
	uint64_t return_address = branch->from_len ? branch->from + branch->from_len : 0;
	const struct symbol *symbol;
	struct frame *frame;

	if (return_address == branch->to)
		return true;
	symbol = symbol_at(builder, branch, branch->to);
	if (symbol->role == SYMBOL_SETJMP || calls_inside(symbol, branch))
		return false;
	frame = push(builder, SLICE_CALL, symbol, branch->to);
	if (frame) {
		frame->call_from = branch->from;
		frame->return_address = return_address;
	}
	return true;
}

static bool return_here(struct builder *builder, const struct branch *branch)
{
	struct segment *segment = &builder->piece->segment;
	const struct frame *top = own_top(builder), *caller;
	const struct symbol *symbol;

	if (!top || !top->symbol || !returns_to(top, branch->to) || top->symbol->role == SYMBOL_SWITCH)
		return false;
	caller = segment->frame_cnt - 1 > builder->floor ? top - 1 : NULL;
	symbol = caller ? caller->symbol : builder->base;
	if (!covers(symbol, branch->to) &&
	    !symbol_same_function(symbol, symbol_at(builder, branch, branch->to)))
		return false;
	segment_pop(segment, moments_now(&builder->piece->moments));
	return true;
}

static bool jump_here(struct builder *builder, const struct branch *branch)
{
	const struct frame *top = own_top(builder);
	const struct symbol *from = top_symbol(builder), *to;

	if (may_raise(branch, from))
		return false;
	if (covers(from, branch->to))
		return true;
	to = symbol_at(builder, branch, branch->to);
	if (symbol_same_function(from, to))
		return true;
	if (!top || !top->symbol || !begins(to, branch->to) || top->symbol->role == SYMBOL_SWITCH ||
	    calls_by_jump(from, to, branch->to))
		return false;
	segment_replace(&builder->piece->segment, to, branch->to, moments_reserve(&builder->piece->moments));
	settle(builder, segment_top(&builder->piece->segment));
	return true;
}

static bool end_here(struct builder *builder, const struct branch *branch)
{
	struct frame *frame;

	if (branch->kind != BRANCH_SYSCALL && branch->kind != BRANCH_INTERRUPT)
		return false;
	frame = push(builder, branch->kind == BRANCH_SYSCALL ? SLICE_SYSCALL : SLICE_UNTRACED, NULL,
		     branch->from);
	if (frame)
		frame->resume = resume_after(branch);
	return true;
}

static bool start_here(struct builder *builder, const struct branch *branch)
{
	struct segment *segment = &builder->piece->segment;
	const struct frame *top = own_top(builder), *below;
	const struct symbol *symbol, *to;

	if (!top || top->symbol || !branch->to || space_at(builder, branch->tsc) != builder->space)
		return false;
	below = segment->frame_cnt - 1 > builder->floor ? top - 1 : NULL;
	symbol = below ? below->symbol : builder->base;
	/* Not from what is remembered: the kernel may have changed what is mapped. */
	to = builder->config->symbol_at(builder->config->ctx, branch->to, branch->tsc);
	if (branch->to != top->resume && (!symbol_same_function(symbol, to) || begins(to, branch->to)))
		return false;
	segment_pop(segment, moments_now(&builder->piece->moments));
	return true;
}

static bool do_here(struct builder *builder, const struct branch *branch)
{
	if (!top_symbol(builder) && !(branch->flags & BRANCH_TRACE_START))
		return false;
	if (branch->flags & BRANCH_TRACE_START)
		return start_here(builder, branch);
	if (branch->flags & BRANCH_TRACE_END)
		return end_here(builder, branch);
	if (!branch->to)
		return branch->kind != BRANCH_GAP;
	switch (branch->kind) {
	case BRANCH_CALL:
		return call_here(builder, branch);
	case BRANCH_RETURN:
		return return_here(builder, branch);
	case BRANCH_JUMP:
	case BRANCH_COND:
	case BRANCH_TX_ABORT:
		return jump_here(builder, branch);
	default:
		return false;
	}
}

/* ---- the rest ---- */

/* The frames up to here are handed over with the step. */
static int push_run(struct builder *builder, const struct stack_step *step)
{
	struct stacks_piece *piece = builder->piece;
	struct step_run run = {
		.step = *step,
		.slice_cnt = piece->segment.slices.cnt,
		.frame_cnt = piece->segment.frame_cnt,
	};

	builder->floor = run.frame_cnt;
	return ARRAY_PUSH(piece->runs, piece->run_cnt, piece->run_cap, run);
}

static int keep_step(struct builder *builder, const struct branch *branch)
{
	struct stacks_piece *piece = builder->piece;
	struct stack_step step = {.branch = *branch,
				  .from = symbol_at(builder, branch, branch->from),
				  .to = symbol_at(builder, branch, branch->to),
				  .moment = branch->kind == BRANCH_GAP ? moments_barrier(&piece->moments)
								       : moments_reserve(&piece->moments),
				  .space = space_at(builder, branch->tsc)};

	builder->base = step.to;
	if (branch->kind == BRANCH_GAP || branch->kind == BRANCH_NONE || branch->flags & BRANCH_TRACE_END)
		builder->base = NULL; /* what is on top need not be the function that code goes on in */
	return push_run(builder, &step);
}

/* ---- inlined calls ---- */

enum { RUNS_MAX = 64 }; /* of one block; what is beyond is not shown */

struct run {
	uint64_t ip;
	const struct inline_chain *chain;
};

static void see(struct builder *builder, const struct run *run, uint64_t tsc)
{
	struct stacks_piece *piece = builder->piece;

	if (run->chain->cnt || piece->inlined.cnt)
		inlined_see(&piece->inlined, run->chain, run->ip,
			    symbol_at(builder, &(struct branch){.tsc = tsc}, run->ip),
			    moments_reserve(&piece->moments));
}

static bool same_calls(const struct inline_chain *a, const struct inline_chain *b)
{
	return a->cnt == b->cnt && !memcmp(a->symbols, b->symbols, a->cnt * sizeof(struct symbol *));
}

/*
 * Control went from `at` straight to `to`. Compilers mix the instructions of a call they inlined with those
 * around it: out of a call and back into it within one block is taken for having been in it all the time.
 */
static void see_block(struct builder *builder, uint64_t at, uint64_t to, uint64_t tsc)
{
	struct run runs[RUNS_MAX];
	size_t cnt = 0;
	uint64_t end;

	for (; at && at <= to && cnt < RUNS_MAX; at = end) {
		runs[cnt] = (struct run){
			.ip = at, .chain = builder->config->inlines_at(builder->config->ctx, at, tsc, &end)};
		if (!runs[cnt].chain)
			break;
		cnt++;
	}
	for (size_t i = 0; i < cnt; i++) {
		see(builder, &runs[i], tsc);
		for (size_t j = cnt - 1; j > i; j--) {
			if (same_calls(runs[i].chain, runs[j].chain)) {
				i = j;
				break;
			}
		}
	}
}

/* Where control was before the branch, if anybody asked for inlined calls. */
static void see_before(struct builder *builder, const struct branch *branch)
{
	uint64_t from = branch->from;

	if (!builder->config->inlines_at || !from || branch->kind == BRANCH_GAP)
		return;
	see_block(builder, builder->at && builder->at <= from ? builder->at : from, from, branch->tsc);
}

/* And where it is after it. */
static void see_after(struct builder *builder, const struct branch *branch)
{
	if (!builder->config->inlines_at)
		return;
	builder->at = branch->to;
	see_block(builder, branch->to, branch->to, branch->tsc);
}

/* It changes no stack, but must be noted in its place. */
static int keep_event(struct builder *builder, const struct branch *branch)
{
	struct stack_step step = {.branch = *branch,
				  .moment = moments_reserve(&builder->piece->moments),
				  .space = builder->space};

	builder->base = top_symbol(builder);
	return push_run(builder, &step);
}

static int add(struct builder *builder, const struct branch *branch)
{
	int err;

	moments_see(&builder->piece->moments, branch->tsc);
	if (branch->kind == BRANCH_EVENT)
		return keep_event(builder, branch);
	if (branch->flags & BRANCH_TRACE_START)
		/* The kernel may have changed what is mapped. */
		for (size_t i = 0; i < LOOKUPS; i++)
			builder->lookups[i] = NULL;
	see_before(builder, branch);
	err = do_here(builder, branch) ? 0 : keep_step(builder, branch);
	see_after(builder, branch);
	return err;
}

int stacks_piece_new(struct stacks_piece **ret_piece, const struct stacks_config *config,
		     const struct branch *branches, size_t cnt)
{
	struct stacks_piece *piece = calloc(1, sizeof(*piece));
	struct builder builder = {.config = config, .piece = piece};
	int err = piece ? 0 : -ENOMEM;

	if (err)
		return err;
	segment_init(&piece->segment, 0);
	builder.space = cnt ? space_at(&builder, branches[0].tsc) : 0;
	for (size_t i = 0; i < cnt && !err; i++)
		err = add(&builder, &branches[i]);
	if (piece->segment.no_memory || piece->moments.no_memory || piece->inlined.no_memory)
		err = -ENOMEM;
	if (err) {
		stacks_piece_free(piece);
		return err;
	}
	*ret_piece = piece;
	return 0;
}

void stacks_piece_free(struct stacks_piece *piece)
{
	if (!piece)
		return;
	segment_release(&piece->segment);
	moments_release(&piece->moments);
	inlined_release(&piece->inlined);
	free(piece->runs);
	free(piece->packed);
	free(piece);
}
