/* SPDX-License-Identifier: BSD-2-Clause */
/* Which slices a page has where there are too many. */
#pragma once

#include "model/timeline.h"

/* The slices of a thread that are written: those open where the rest begins, and the rest. */
struct html_part {
	size_t *open;
	size_t open_cnt, open_cap;
	size_t from, to;
};

static inline size_t html_part_slice_cnt(const struct html_part *part)
{
	return part->open_cnt + part->to - part->from;
}

static inline const struct slice *html_part_slice(const struct timeline_thread *thread,
						  const struct html_part *part, size_t i)
{
	return &thread->slices[i < part->open_cnt ? part->open[i] : part->from + i - part->open_cnt];
}

/*
 * The part of each thread, `max` slices together but for the open ones; *ret_left_out: how many are in none.
 * 0 or -ENOMEM.
 */
int html_parts_choose(const struct timeline *timeline, size_t max, struct html_part **ret_parts,
		      size_t *ret_left_out);

/* `parts` may be NULL. */
void html_parts_free(struct html_part *parts, size_t cnt);
