/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stitching. Of the stack before a gap every open frame is known, with the address that its return leads to.
 * Of the stack behind it those frames are known that control has returned into since, with the address of
 * each return:
 *
 *	before	main  serve  read  parse		each frame's return address: -  m1  s7  r4
 *	behind	skip, returned to read at r4, returned to serve at s7, ...
 *
 *	main  serve  read  parse
 *	      serve  read  skip			the two lie over each other so: read and
 *						serve are the same calls
 *
 * Frames kept ("main serve read") lasted through the gap; above them old ones ended in it ("parse") and new
 * ones began ("skip"). The innermost kept frame may have gone on in the gap, so only its function can be
 * compared. A frame further out waited for a call of its own all the time: the return into it must lead to
 * where that call was made. So each pair beyond the first gives a return address that agrees (verified) or
 * rejects the joint.
 *
 * Of several joints wins the one with the most return addresses verified, then with the fewest calls made in
 * the gap, then with the most frames kept. Accepted without one verified: that the function which runs behind
 * the gap is one that was open before it, the top or one further out (it was returned to); that the outermost
 * frame known goes on below what was called in the gap, which says nothing about callers.
 *
 * Rejected: either, in a recursion (which of its frames it is, nobody knows; a wrong one would be calls that
 * never happened); any other call made in the gap below which nothing is verified (the frame under it may
 * have been called by another since, and would be shown in a place where it was not); joining where behind
 * the gap a function begins of which no return is seen; matching names of a common outermost part without
 * return addresses. Where nothing is accepted, the old frames end at the gap, and those behind it begin
 * there, marked inferred.
 *
 * A switch to another stack is a gap in which nothing is called or lost: the innermost frame must be one that
 * waited for the call that moved away (its return address is where control arrives), or, with return
 * addresses verified further out, one of that function (recovery from a panic). The frame begins anew as a
 * slice where it carries on, so that the time between belongs to whoever ran.
 *
 * Verification costs frames times frames at worst (deep recursion); COMPARISONS_MAX bounds it, and what is
 * best so far is taken.
 */
#include "stacks/stitch.h"

#include <errno.h>

#include "base/array.h"
#include "stacks/stacks_internal.h"

enum { COMPARISONS_MAX = 1 << 20 };

/* ---- matching ---- */

static bool has_return(const struct frame *frame)
{
	return frame->return_address || frame->call_from;
}

/*
 * The inferred frames from `inner` on over the old frames from keep - 1 outwards: how many return addresses
 * agree; false: they differ.
 */
static bool verify(const struct frame *old, size_t keep, const struct segment *segment, size_t inner,
		   size_t *ret_verified, size_t *budget)
{
	size_t verified = 0;

	for (size_t d = 0; d < keep && inner + d < segment->inferred_cnt; d++) {
		const struct frame *frame = &old[keep - 1 - d];
		const struct slice *inferred = &segment->inferred[inner + d];

		if (!*budget)
			return false;
		--*budget;
		if (!symbol_same_function(frame->symbol, inferred->symbol))
			return false;
		if (d && has_return(&old[keep - d])) {
			if (!returns_to(&old[keep - d], inferred->ip))
				return false;
			verified++;
		}
	}
	*ret_verified = verified;
	return true;
}

static bool is_better(const struct joint *a, const struct joint *b)
{
	if (!b->found || a->verified != b->verified)
		return !b->found || a->verified > b->verified;
	if (a->inner != b->inner)
		return a->inner < b->inner;
	return false; /* more frames kept are tried first */
}

/* The frame kept innermost waited for a call that returns to where the segment begins. */
static bool waited_there(const struct frame *old, size_t old_cnt, size_t keep, const struct segment *segment)
{
	uint64_t ip = segment->inferred[0].ip;

	return keep < old_cnt &&
	       (returns_to(&old[keep], ip) || (old[keep].kernel_entry && old[keep].resume == ip));
}

/* No other frame is of the same function as the one kept innermost. */
static bool is_unique(const struct frame *old, size_t old_cnt, size_t keep)
{
	for (size_t i = 0; i < old_cnt; i++)
		if (i != keep - 1 && symbol_same_function(old[i].symbol, old[keep - 1].symbol))
			return false;
	return true;
}

static bool is_acceptable(const struct joint *joint, bool waited, bool is_switch, const struct frame *old,
			  size_t old_cnt)
{
	if (joint->verified > 0)
		return true;
	return !is_switch && (!joint->inner || joint->keep == 1) && !waited &&
	       is_unique(old, old_cnt, joint->keep);
}

bool stitch_match(struct joint *best, const struct frame *old, size_t old_cnt, const struct segment *segment,
		  bool is_switch)
{
	size_t inner_max = is_switch ? 1 : segment->inferred_cnt, budget = COMPARISONS_MAX;
	bool found = false;

	for (size_t inner = 0; inner < inner_max && inner < segment->inferred_cnt; inner++) {
		for (size_t keep = old_cnt; keep > 0; keep--) {
			struct joint joint = {.found = true, .keep = keep, .inner = inner};
			bool waited;

			if (!old[keep - 1].symbol ||
			    !verify(old, keep, segment, inner, &joint.verified, &budget))
				continue;
			waited = !inner && waited_there(old, old_cnt, keep, segment);
			joint.verified += waited;
			if (!is_better(&joint, best) ||
			    !is_acceptable(&joint, waited, is_switch, old, old_cnt))
				continue;
			if (is_switch) {
				joint.resumed = old[keep - 1];
				joint.keep--;
				joint.inner++;
			}
			*best = joint;
			found = true;
		}
	}
	return found;
}

/* ---- joining ---- */

/* The slices of the frames called in between, outermost first. */
static int move_inferred(struct segment *chain, const struct segment *segment, size_t inner, int32_t by)
{
	int err = 0;

	for (size_t i = inner; i-- > 0 && !err;) {
		struct slice slice = segment->inferred[i];

		slice.ip = 0;
		slice.depth += (uint32_t)by;
		err = slice_list_push(&chain->slices, &slice);
	}
	return err;
}

static int move_slices(struct segment *chain, struct segment *segment, int32_t by)
{
	bool pack = slice_list_makes_room(&chain->slices, &segment->slices);
	int err = pack ? segment_pack(chain, true) : 0;

	return err ? err : slice_list_append(&chain->slices, &segment->slices, by);
}

/*
 * The inferred frames from `inner` on are the chain's own, or turn out to be its callers. The last may still
 * be open.
 */
static int absorb(struct segment *chain, const struct segment *segment, size_t inner)
{
	const struct frame *bottom = segment->frame_cnt ? &segment->frames[0] : NULL;
	size_t open = bottom && bottom->is_inferred ? bottom->slice : SIZE_MAX;

	for (size_t i = inner; i < segment->inferred_cnt; i++) {
		if (!chain->frame_cnt) {
			segment_infer(chain, segment->inferred[i].symbol, segment->inferred[i].ip);
			if (chain->no_memory)
				return -ENOMEM;
		}
		if (i != open)
			segment_pop(chain, segment->inferred[i].end_ns);
	}
	return 0;
}

static int move_frames(struct segment *chain, const struct segment *segment, size_t before,
		       const struct joint *joint, int32_t by)
{
	if (array_reserve(&chain->frames, &chain->frame_cap, chain->frame_cnt + segment->frame_cnt,
			  sizeof(struct frame)))
		return -ENOMEM;
	for (size_t i = 0; i < segment->frame_cnt; i++) {
		struct frame frame = segment->frames[i];

		if (frame.is_inferred && frame.slice >= joint->inner)
			continue; /* the chain has it already */
		if (frame.is_inferred && !frame.slice && joint->resumed.symbol) {
			frame.return_address = joint->resumed.return_address;
			frame.call_from = joint->resumed.call_from;
			frame.resume = joint->resumed.resume;
			frame.setjmp = joint->resumed.setjmp;
		}
		frame.slice = frame.is_inferred ? before + joint->inner - 1 - frame.slice
						: before + joint->inner + frame.slice;
		frame.is_inferred = false;
		frame.depth += by;
		chain->frames[chain->frame_cnt++] = frame;
	}
	return 0;
}

void stitch_join(struct segment *chain, struct segment *segment, const struct joint *joint, uint64_t paused)
{
	size_t before = slice_list_cnt(&chain->slices);
	int32_t depth, by;

	/* When a call that did not last through a gap ended, is not known. */
	for (size_t i = joint->keep; i < chain->frame_cnt && !joint->resumed.symbol; i++)
		segment_slice(chain, &chain->frames[i])->flags |= SLICE_OPEN_END;
	segment_pop_to(chain, joint->keep, paused);
	depth = joint->keep ? segment_top(chain)->depth : chain->outer;
	by = depth + 1 + (int32_t)joint->inner;
	if (move_inferred(chain, segment, joint->inner, by) || absorb(chain, segment, joint->inner) ||
	    move_frames(chain, segment, before, joint, by) || move_slices(chain, segment, by) ||
	    segment->no_memory)
		chain->no_memory = true;
}

void stitch_reopen(struct segment *chain, const struct frame *frames, size_t keep)
{
	for (size_t i = 0; i < keep; i++) {
		struct frame *frame = segment_push(chain, (enum slice_kind)frames[i].kind, frames[i].symbol,
						   0, chain->start);
		size_t slice;
		int32_t depth;

		if (!frame)
			return;
		slice = frame->slice;
		depth = frame->depth;
		*frame = frames[i];
		frame->slice = slice;
		frame->depth = depth;
		frame->is_inferred = false;
		segment_slice(chain, frame)->flags = SLICE_INFERRED_START;
	}
}
