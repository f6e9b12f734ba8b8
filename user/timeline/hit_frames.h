/* SPDX-License-Identifier: BSD-2-Clause */
/* The whole call stack of a hit: as it was recorded, and as the calls of its thread tell it. */
#pragma once

#include "model/timeline.h"

struct hit_frame {
	const struct symbol *symbol; /* NULL: unknown */
	uint64_t ip;		     /* as recorded; 0: only the calls tell this frame */
	bool is_open;		     /* a call of the thread that was open at the hit */
};

/*
 * The frames, innermost first. What both know is one frame; the order of each is kept. 0 or -ENOMEM.
 * *ret_frames is the caller's to free.
 */
int hit_frames_find(const struct timeline *timeline, const struct timeline_hit *hit,
		    struct hit_frame **ret_frames, size_t *ret_cnt);

/* Whether it is not known who called the outermost one of these frames of the hit. */
bool hit_frames_are_cut(const struct timeline_hit *hit, const struct hit_frame *frames, size_t cnt);
