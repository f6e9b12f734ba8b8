/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A segment: the calls of one thread between two gaps, while they are being put together. It knows nothing of
 * branches: frames are pushed, popped, replaced and inferred. Times are moments (stacks/moments.h).
 *
 * Depths are relative while it is built, since nobody knows yet how many callers will turn out to have been
 * there before it began:
 *
 *	depth	 0	. . . . f		first function seen, in the middle
 *		-1	. g . . . . .		f returned into g: g was open from the beginning on (inferred)
 *		-2	h . . . . . . .		then g into h
 *
 * At the end the outermost becomes 0, and the inferred frames go in front.
 *
 * In memory: 40 bytes a slice and 24 bytes a time stamp, where they are not packed, 88 bytes an open frame;
 * nothing for a branch that changes no stack.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "base/spill.h"
#include "stacks/lists/slice_list.h"

/* An inline retpoline makes two. */
enum { LOCAL_CALLS_MAX = 2 };

struct frame {
	const struct symbol *symbol; /* NULL for pseudo frames */
	uint64_t return_address;     /* where its return leads to; 0: unknown */
	uint64_t call_from;	     /* the call instruction, where its length is unknown */
	uint64_t resume; /* where the code under it goes on: pseudo frames, signal handlers, kernel entries */
	uint64_t setjmp; /* it called setjmp, which returns to here */
	uint64_t local[LOCAL_CALLS_MAX]; /* where its calls into its own middle return to, innermost last */
	size_t slice; /* index in segment.slices, or of segment.inferred (see is_inferred) */
	int32_t depth;
	uint8_t kind;	   /* enum slice_kind */
	bool kernel_entry; /* entered from user mode, or from interrupted kernel code */
	bool is_inferred;
	bool is_restorer; /* a signal handler has returned into it; it calls sigreturn */
	uint8_t local_cnt;
};

struct segment {
	uint64_t start; /* moment: inferred frames begin here */
	struct slice_list slices;
	struct slice *
		/* innermost first: in the order they were found; .ip: where they were returned into */
		inferred;
	size_t inferred_cnt, inferred_cap;
	struct frame *frames; /* open now, outermost first */
	size_t frame_cnt, frame_cap;
	int32_t outer;	/* depth of a frame that would be the caller of everything seen so far */
	bool no_memory; /* sticks */
};

void segment_init(struct segment *segment, uint64_t start);
void segment_release(struct segment *segment);

/* The innermost open frame, or NULL. Valid until the next push. */
static inline struct frame *segment_top(struct segment *segment)
{
	return segment->frame_cnt ? &segment->frames[segment->frame_cnt - 1] : NULL;
}

/* The slice of a frame of this segment. */
static inline struct slice *segment_slice(struct segment *segment, const struct frame *frame)
{
	return frame->is_inferred ? &segment->inferred[frame->slice]
				  : slice_list_at(&segment->slices, frame->slice);
}

/* One more, on top, to be filled in. NULL: no memory. */
static inline struct frame *segment_add_frame(struct segment *segment)
{
	if (segment->frame_cnt == segment->frame_cap &&
	    array_reserve(&segment->frames, &segment->frame_cap, segment->frame_cnt + 1,
			  sizeof(*segment->frames))) {
		segment->no_memory = true;
		return NULL;
	}
	return &segment->frames[segment->frame_cnt++];
}

/* Slice and frame are written where they stay: to copy what was written just before takes longer. */
static inline struct frame *segment_push(struct segment *segment, enum slice_kind kind,
					 const struct symbol *symbol, uint64_t ip, uint64_t moment)
{
	const struct frame *top = segment_top(segment);
	int32_t depth = top ? top->depth + 1 : segment->outer + 1;
	struct slice_list *slices = &segment->slices;
	size_t index = slice_list_cnt(slices);
	struct frame *frame;

	if (SPILL_PUSH(slices->items, slices->cnt, slices->cap,
		       ((struct slice){.start_ns = moment,
				       .end_ns = moment,
				       .symbol = symbol,
				       .ip = ip,
				       .depth = (uint32_t)depth,
				       .kind = (uint8_t)kind}))) {
		segment->no_memory = true;
		return NULL;
	}
	frame = segment_add_frame(segment);
	if (frame)
		*frame = (struct frame){
			.slice = index, .symbol = symbol, .depth = depth, .kind = (uint8_t)kind};
	return frame;
}

static inline void segment_pop(struct segment *segment, uint64_t moment)
{
	struct frame *top = segment_top(segment);

	if (!top)
		return;
	segment_slice(segment, top)->end_ns = moment;
	segment->frame_cnt--;
}

/* Pops until `keep` frames are open. */
void segment_pop_to(struct segment *segment, size_t keep, uint64_t moment);

/* The top ends, and another function goes on in its place: tail call. */
void segment_replace(struct segment *segment, const struct symbol *symbol, uint64_t ip, uint64_t moment);

/*
 * The caller of all that is open: this function, which goes on at `ip`, must have been there since the
 * beginning.
 */
void segment_infer(struct segment *segment, const struct symbol *symbol, uint64_t ip);

/*
 * Closes everything: what is open now stays open beyond the end. A pause that nothing came after tells
 * nothing and goes.
 */
void segment_close(struct segment *segment, uint64_t moment);

/*
 * Appends the slices, in order and with final depths (times are still moments), to those of the thread; the
 * segment may lose them. 0 or -ENOMEM.
 */
int segment_write(struct segment *segment, struct slice_list *slices);

/* Packs slices that nobody looks at soon; `all`: every one. 0 or -ENOMEM. */
int segment_pack(struct segment *segment, bool all);
