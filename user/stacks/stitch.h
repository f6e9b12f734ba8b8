/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a segment goes on with a call stack that paused before it; the rules are in stitch.c. */
#pragma once

#include <stdbool.h>

#include "stacks/segment.h"

/* How the frames of the old stack and those that the segment inferred fit together. */
struct joint {
	bool found;
	size_t keep;  /* so many frames of the old stack are still there, from the outermost on */
	size_t inner; /* so many inferred frames, from the innermost on, lie above them: called in between */
	size_t verified;      /* return addresses that agree */
	struct frame resumed; /* of a switch: the frame that inferred frame 0 carries on */
};

/*
 * Looks for a better joint than *best, and puts it there: true. `is_switch`: control moved at once, nothing
 * was called in between.
 */
bool stitch_match(struct joint *best, const struct frame *old, size_t old_cnt, const struct segment *segment,
		  bool is_switch);

/* The chain goes on with the segment, which is used up. Frames that did not last end at `paused`. */
void stitch_join(struct segment *chain, struct segment *segment, const struct joint *joint, uint64_t paused);

/* Opens the first `keep` frames of a stack put aside anew, in an empty chain. */
void stitch_reopen(struct segment *chain, const struct frame *frames, size_t keep);
