/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the call-stack engine share. The way of a branch:
 *
 *	piece.c		drops what changes no stack, does what needs no more than the piece's own
 *			frames, keeps the rest as steps
 *	piece_store.c	where pieces wait whose turn comes later
 *	rules.c		what each step does to the stack
 *	rules_outside.c	the same, of steps out of what is traced, and back
 *	stacks.c	joins pieces, begins and ends segments
 *	stitch.c	whether a segment goes on with the stack of the one before
 *	callers.c	the callers that a recorded stack tells
 *	inlined.c	the calls that were inlined, put in at the end
 *	lists/		slices and time stamps, packed where they are too many
 *	finish.c	gives slices their times, at the end
 *	stored.c	a thread of the timeline whose slices stay packed
 */
#pragma once

#include "stacks/inlined.h"
#include "stacks/moments.h"
#include "stacks/segment.h"
#include "stacks/stacks.h"

enum { INSN_BYTES_MAX = 15, SYSCALL_BYTES = 2 };

/* A branch that a piece cannot deal with alone. */
struct stack_step {
	struct branch branch;
	const struct symbol *from, *to; /* functions of the branch's addresses; NULL for an address of 0 */
	uint64_t moment;		/* reserved: at most one slice begins at it */
	uint64_t space;
};

struct step_run {
	struct stack_step step;
	size_t slice_cnt, frame_cnt; /* of the piece's, before the step */
};

/*
 * Between two steps a piece builds slices of its own, of depths from 1 on: the frame that the step leaves on
 * top (the base) has 0. Frames still open at the next step are handed over with it.
 */
struct stacks_piece {
	struct moments moments;
	struct step_run *runs;
	size_t run_cnt, run_cap;
	struct segment segment; /* slices and open frames of all runs, one after the other */
	struct inlined inlined; /* where control was in inlined calls */
	struct packed *packed;	/* it waits in a store (piece_store.c); NULL: it has its own memory */
};

/* What the piece holds is in its own memory again. 0 or -ENOMEM. */
int piece_unpack(struct stacks_piece *piece);

/* Why a segment ended: what the next one may have to do with it. */
enum pause {
	PAUSE_NONE,   /* nothing: the calls ended with it */
	PAUSE_GAP,    /* branches are missing */
	PAUSE_SWITCH, /* control moved to another stack */
};

/* A stack that control was moved away from. */
struct parked {
	struct frame *frames;
	size_t cnt;
};

struct stacks {
	const struct stacks_config *config;
	struct timeline_thread *thread;
	struct pack_store *store; /* of the lists below */
	struct slice_list slices; /* of segments that nothing more belongs to */
	struct moments moments;
	struct segment segment; /* what is being built */
	struct segment chain;	/* the segments before it that belong together */
	bool has_chain;
	struct segment earlier; /* a chain that ended at a gap before this one */
	bool has_earlier;
	uint64_t earlier_paused;
	enum pause pause;	/* between chain and segment */
	uint64_t paused;	/* the moment when the chain's frames paused */
	struct inlined inlined; /* where control was in inlined calls */
	struct parked *parked;
	size_t parked_cnt, parked_cap;
	uint64_t space;
	bool no_memory;
};

/* ip is the first byte of the function. */
static inline bool begins(const struct symbol *symbol, uint64_t ip)
{
	return ip == symbol->start && symbol_is_function(symbol);
}

/* Whether a jump inside the function may be a raise. */
bool may_raise(const struct branch *branch, const struct symbol *symbol);

/*
 * A jump from `from` to `ip`, which is in `to`, is a call: code without names has pushed the return address.
 */
bool calls_by_jump(const struct symbol *from, const struct symbol *to, uint64_t ip);

/* The call leads into the middle of the function that it stands in. */
bool calls_inside(const struct symbol *symbol, const struct branch *branch);

/* Where code goes on after a branch out of the trace or into the kernel, if nothing else happens. */
uint64_t resume_after(const struct branch *branch);

/* Whether the frame's return leads to `to`. */
bool returns_to(const struct frame *frame, uint64_t to);

/* Control is now at a place whose function is `symbol`: whichever frame is on top, it must be that one's. */
void rules_apply(struct stacks *stacks, const struct stack_step *step);

/* The segment ends here; the next begins. */
void stacks_pause(struct stacks *stacks, enum pause why, uint64_t moment);

/*
 * If it is certain how the stack before the last gap goes on in the segment, the segment takes it in now:
 * true.
 */
bool stacks_join_now(struct stacks *stacks);

/* The text becomes the thread's. */
void stacks_note(struct stacks *stacks, uint64_t moment, char *text);

/*
 * The slices, of which none is packed, and the instants are the thread's, and their moments become
 * nanoseconds. 0 or -ENOMEM.
 */
int thread_finish(struct timeline_thread *thread, struct slice_list *slices, const struct moments *moments,
		  const struct stacks_config *config);
