/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces are joined by applying their steps to the thread's stack, in order; what a piece built between two
 * steps lies on top of the frame that the step left there, so that only its depths have to be raised:
 *
 *	the stack	main  read  parse			(depths 0 1 2)
 *	the piece	step "return to read", slices e f	(depths 1 2)
 *	together	main  read  e  f			(depths 0 1 2 3)
 *
 * Segments that belong together (stitch.c) form a chain, and share their depths; a chain is written when it
 * is known that nothing more belongs to it.
 */
#include "stacks/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/spill.h"
#include "stacks/callers.h"
#include "stacks/stacks_internal.h"
#include "stacks/stitch.h"
#include "stacks/stored.h"

enum { PARKED_MAX = 4096 };

/* ---- chains ---- */

static void parked_release(struct stacks *stacks, size_t i)
{
	free(stacks->parked[i].frames);
	memmove(&stacks->parked[i], &stacks->parked[i + 1],
		(--stacks->parked_cnt - i) * sizeof(*stacks->parked));
}

static void park(struct stacks *stacks)
{
	const struct segment *chain = &stacks->chain;
	struct parked parked = {.cnt = chain->frame_cnt};

	if (stacks->parked_cnt == PARKED_MAX)
		parked_release(stacks, 0);
	parked.frames = calloc(parked.cnt + 1, sizeof(*parked.frames));
	if (parked.frames && parked.cnt)
		memcpy(parked.frames, chain->frames, parked.cnt * sizeof(*parked.frames));
	if (!parked.frames || ARRAY_PUSH(stacks->parked, stacks->parked_cnt, stacks->parked_cap, parked)) {
		free(parked.frames);
		stacks->no_memory = true;
	}
}

/*
 * A chain that nothing went on with is kept until the next one ends, too: that may have returned by then to
 * where the calls of the earlier one were made. True: the two are one now.
 */
static bool join_earlier(struct stacks *stacks)
{
	struct joint joint = {0};

	if (!stacks->has_earlier || !stacks->has_chain ||
	    !stitch_match(&joint, stacks->earlier.frames, stacks->earlier.frame_cnt, &stacks->chain, false))
		return false;
	stitch_join(&stacks->earlier, &stacks->chain, &joint, stacks->earlier_paused);
	segment_release(&stacks->chain);
	stacks->chain = stacks->earlier;
	stacks->earlier = (struct segment){0};
	stacks->has_earlier = false;
	return true;
}

/* Nothing more belongs to the segment, which paused at that moment. */
static void write_out(struct stacks *stacks, struct segment *segment, uint64_t paused)
{
	if (callers_add(segment, paused, &stacks->moments, stacks->config))
		stacks->no_memory = true;
	segment_close(segment, paused);
	if (segment_write(segment, &stacks->slices))
		stacks->no_memory = true;
	segment_release(segment);
}

static void write_earlier(struct stacks *stacks)
{
	if (stacks->has_earlier)
		write_out(stacks, &stacks->earlier, stacks->earlier_paused);
	stacks->has_earlier = false;
}

static void write_chain(struct stacks *stacks)
{
	if (!join_earlier(stacks))
		write_earlier(stacks);
	if (stacks->has_chain)
		write_out(stacks, &stacks->chain, stacks->paused);
	stacks->has_chain = false;
}

/* The segment goes on with nothing before it. */
static void start_chain(struct stacks *stacks)
{
	if (stacks->has_chain && stacks->pause == PAUSE_GAP) {
		write_earlier(stacks);
		stacks->earlier = stacks->chain;
		stacks->earlier_paused = stacks->paused;
		stacks->has_earlier = true;
	} else if (stacks->has_chain) {
		write_chain(stacks);
	}
	stacks->chain = stacks->segment;
	stacks->segment = (struct segment){0};
	stacks->has_chain = true;
}

/* The segment goes on with a stack that was put aside. */
static void resume_parked(struct stacks *stacks, size_t index, const struct joint *joint)
{
	struct segment segment = stacks->segment;

	write_chain(stacks);
	stacks->segment = (struct segment){0};
	segment_init(&stacks->chain, segment.start);
	stacks->chain.slices.store = stacks->store;
	stitch_reopen(&stacks->chain, stacks->parked[index].frames, joint->keep);
	stitch_join(&stacks->chain, &segment, joint, segment.start);
	segment_release(&segment);
	stacks->has_chain = true;
	parked_release(stacks, index);
}

/* The segment is complete: it becomes part of the chain, or begins one. */
static void settle_segment(struct stacks *stacks)
{
	bool is_switch = stacks->pause == PAUSE_SWITCH;
	struct joint best = {0};
	size_t parked = SIZE_MAX;

	if (stacks->has_chain && stacks->pause != PAUSE_NONE &&
	    !stitch_match(&best, stacks->chain.frames, stacks->chain.frame_cnt, &stacks->segment,
			  is_switch) &&
	    join_earlier(stacks))
		stitch_match(&best, stacks->chain.frames, stacks->chain.frame_cnt, &stacks->segment,
			     is_switch);
	for (size_t i = stacks->parked_cnt; is_switch && i > 0; i--)
		if (stitch_match(&best, stacks->parked[i - 1].frames, stacks->parked[i - 1].cnt,
				 &stacks->segment, true))
			parked = i - 1;
	if (is_switch && stacks->has_chain && (!best.found || parked != SIZE_MAX))
		park(stacks);
	if (!best.found)
		start_chain(stacks);
	else if (parked != SIZE_MAX)
		resume_parked(stacks, parked, &best);
	else
		stitch_join(&stacks->chain, &stacks->segment, &best, stacks->paused);
	segment_release(&stacks->segment);
	if (stacks->chain.no_memory)
		stacks->no_memory = true;
}

static void begin_segment(struct stacks *stacks, uint64_t moment)
{
	segment_init(&stacks->segment, moment);
	stacks->segment.slices.store = stacks->store;
}

bool stacks_join_now(struct stacks *stacks)
{
	struct joint joint = {0};

	if (!stacks->has_chain || stacks->pause != PAUSE_GAP)
		return false;
	stitch_match(&joint, stacks->chain.frames, stacks->chain.frame_cnt, &stacks->segment, false);
	if (!joint.found || !joint.verified)
		return false;
	stitch_join(&stacks->chain, &stacks->segment, &joint, stacks->paused);
	segment_release(&stacks->segment);
	stacks->segment = stacks->chain;
	stacks->chain = (struct segment){0};
	stacks->has_chain = false;
	stacks->pause = PAUSE_NONE;
	return true;
}

static bool is_empty(const struct segment *segment)
{
	return !slice_list_cnt(&segment->slices) && !segment->inferred_cnt;
}

void stacks_pause(struct stacks *stacks, enum pause why, uint64_t moment)
{
	if (stacks->segment.no_memory)
		stacks->no_memory = true;
	if (!is_empty(&stacks->segment)) {
		settle_segment(stacks);
		stacks->paused = moment;
		stacks->pause = why;
	} else if (why != PAUSE_SWITCH) {
		stacks->pause = why; /* of two pauses on end the chain ended at the first */
	}
	if (why == PAUSE_NONE) {
		write_chain(stacks);
		while (stacks->parked_cnt)
			parked_release(stacks, stacks->parked_cnt - 1);
	}
	segment_release(&stacks->segment);
	begin_segment(stacks, moment);
}

static void add_instant(struct stacks *stacks, uint64_t moment, char *text, bool is_event)
{
	struct timeline_thread *thread = stacks->thread;
	struct instant instant = {.time_ns = moment, .text = text, .is_event = is_event};

	if (!text || ARRAY_PUSH(thread->instants, thread->instant_cnt, thread->instant_cap, instant)) {
		free(text);
		stacks->no_memory = true;
	}
}

void stacks_note(struct stacks *stacks, uint64_t moment, char *text)
{
	add_instant(stacks, moment, text, false);
}

/* ---- pieces ---- */

static void apply(struct stacks *stacks, const struct stack_step *step)
{
	const struct stacks_config *config = stacks->config;

	if (step->branch.kind == BRANCH_EVENT) {
		add_instant(stacks, step->moment, branch_event_text(&step->branch), true);
		return;
	}
	if (step->branch.kind != BRANCH_GAP) {
		rules_apply(stacks, step);
		return;
	}
	stacks_note(stacks, step->moment,
		    config->gap_text ? config->gap_text(config->ctx, &step->branch)
				     : branch_gap_text(&step->branch));
	stacks_pause(stacks, step->branch.gap == GAP_SNAPSHOT ? PAUSE_NONE : PAUSE_GAP, step->moment);
}

/* The piece's slices [from, to) and frames [open_from, open_to) lie on the stack's top. */
static int lay(struct stacks *stacks, const struct segment *piece, size_t from, size_t to, size_t open_from,
	       size_t open_to, uint64_t offset)
{
	struct segment *segment = &stacks->segment;
	const struct frame *top = segment_top(segment);
	int32_t depth = top ? top->depth : segment->outer;
	struct slice_list *slices = &segment->slices;
	size_t before = slice_list_cnt(slices);

	if (from == to)
		return 0;
	if (spill_reserve(&slices->items, &slices->cap, slices->cnt + to - from, sizeof(struct slice)) ||
	    array_reserve(&segment->frames, &segment->frame_cap, segment->frame_cnt + open_to - open_from,
			  sizeof(struct frame)))
		return -ENOMEM;
	/* Changed where it stays: a copy that is changed before it is stored waits for its own parts. */
	for (size_t i = from; i < to; i++) {
		struct slice *slice = &slices->items[slices->cnt++];

		*slice = piece->slices.items[i];
		slice->start_ns += offset;
		slice->end_ns += offset;
		slice->depth = (uint32_t)((int32_t)slice->depth + depth);
	}
	for (size_t i = open_from; i < open_to; i++) {
		struct frame frame = piece->frames[i];

		frame.slice = frame.slice - from + before;
		frame.depth += depth;
		segment->frames[segment->frame_cnt++] = frame;
	}
	return 0;
}

/* What nobody looks at soon need not be in memory as it is. */
static int shorten(struct stacks *stacks)
{
	struct stamp_list *stamps = &stacks->moments.stamps;
	int err = stamp_list_is_long(stamps) ? stamp_list_pack(stamps, false) : 0;

	if (!err)
		err = segment_pack(&stacks->segment, false);
	if (!err)
		err = segment_pack(&stacks->chain, false);
	if (!err)
		err = segment_pack(&stacks->earlier, false);
	if (err || !slice_list_is_long(&stacks->slices))
		return err;
	return slice_list_pack(&stacks->slices, NULL, 0, false);
}

int stacks_append(struct stacks *stacks, struct stacks_piece *piece)
{
	uint64_t offset;
	bool first = !stacks->moments.begun;
	int err = piece_unpack(piece);

	if (!err)
		err = moments_append(&stacks->moments, &piece->moments, &offset);
	if (!err)
		err = inlined_append(&stacks->inlined, &piece->inlined, offset);
	if (first && !err)
		begin_segment(stacks, offset);
	for (size_t i = 0; i < piece->run_cnt && !err; i++) {
		const struct step_run *run = &piece->runs[i], *next = run + 1;
		bool last = i + 1 == piece->run_cnt;
		struct stack_step step = run->step;

		step.moment += offset;
		apply(stacks, &step);
		err = lay(stacks, &piece->segment, run->slice_cnt,
			  last ? piece->segment.slices.cnt : next->slice_cnt, run->frame_cnt,
			  last ? piece->segment.frame_cnt : next->frame_cnt, offset);
		if (!err)
			err = shorten(stacks);
	}
	stacks_piece_free(piece);
	return err || stacks->no_memory || stacks->segment.no_memory || stacks->moments.no_memory ? -ENOMEM
												  : 0;
}

/* ---- life ---- */

int stacks_new(struct stacks **ret_stacks, const struct stacks_config *config, struct timeline_thread *thread)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return -ENOMEM;
	stacks->config = config;
	stacks->thread = thread;
	stacks->store = pack_store_new();
	if (!stacks->store) {
		free(stacks);
		return -ENOMEM;
	}
	stacks->slices.store = stacks->moments.stamps.store = stacks->store;
	begin_segment(stacks, 0);
	*ret_stacks = stacks;
	return 0;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	while (stacks->parked_cnt)
		parked_release(stacks, stacks->parked_cnt - 1);
	free(stacks->parked);
	segment_release(&stacks->segment);
	segment_release(&stacks->chain);
	segment_release(&stacks->earlier);
	moments_release(&stacks->moments);
	inlined_release(&stacks->inlined);
	slice_list_release(&stacks->slices);
	pack_store_free(stacks->store);
	free(stacks);
}

bool stacks_first_tsc(const struct stacks *stacks, uint64_t *ret_tsc)
{
	*ret_tsc = stacks->moments.first_tsc;
	return stacks->moments.begun;
}

int stacks_finish(struct stacks *stacks)
{
	if (!stacks->moments.begun)
		return 0;
	stacks_pause(stacks, PAUSE_NONE, moments_now(&stacks->moments));
	if (stacks->no_memory || stacks->moments.no_memory)
		return -ENOMEM;
	if (inlined_insert(&stacks->inlined, &stacks->slices))
		return -ENOMEM;
	inlined_release(&stacks->inlined);
	if (stacks->slices.block_cnt || stacks->moments.stamps.block_cnt)
		return stored_new(stacks->thread, &stacks->slices, &stacks->moments, stacks->config,
				  &stacks->store);
	return thread_finish(stacks->thread, &stacks->slices, &stacks->moments, stacks->config);
}

int stacks_build(const struct stacks_config *config, const struct branch_list *branches,
		 struct timeline_thread *thread)
{
	CLEANUP(stacks_freep) struct stacks *stacks = NULL;
	struct stacks_piece *piece;
	int err = stacks_new(&stacks, config, thread);

	if (!err)
		err = stacks_piece_new(&piece, config, branches->items, branches->cnt);
	if (!err)
		err = stacks_append(stacks, piece);
	return err ? err : stacks_finish(stacks);
}
