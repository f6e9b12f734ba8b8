/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A browser has room for some millions of slices only. All threads get the same share; what one does not need
 * is the others'.
 */
#include "output/html_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* How many slices each thread may have, so that all have max together. */
static size_t thread_share(const struct timeline *timeline, size_t max)
{
	size_t low = 0, high = max;

	while (low <= high) {
		size_t sum = 0, share = low + (high - low) / 2;

		for (size_t i = 0; i < timeline->thread_cnt; i++) {
			size_t cnt = timeline->threads[i].slice_cnt;

			sum += cnt < share ? cnt : share;
		}
		if (sum <= max)
			low = share + 1;
		else
			high = share - 1;
	}
	return low - 1;
}

/* Three quarters of the share lie before the first hit, the rest behind it. */
static void choose_range(const struct timeline *timeline, const struct timeline_thread *thread, size_t share,
			 struct html_part *part)
{
	size_t middle = timeline->hit_cnt ? timeline_thread_begun(thread, timeline->hits[0].time_ns)
					  : thread->slice_cnt;

	part->from = 0;
	part->to = thread->slice_cnt;
	if (thread->slice_cnt <= share)
		return;
	part->from = middle > share / 4 * 3 ? middle - share / 4 * 3 : 0;
	if (part->from > thread->slice_cnt - share)
		part->from = thread->slice_cnt - share;
	part->to = part->from + share;
}

/* What is open where the range begins. */
static int find_open(const struct timeline_thread *thread, struct html_part *part)
{
	size_t depth = part->from < thread->slice_cnt ? thread->slices[part->from].depth : 0;
	int err = array_reserve(&part->open, &part->open_cap, depth, sizeof(*part->open));

	if (err)
		return err;
	part->open_cnt = depth;
	for (size_t i = part->from; i-- > 0 && depth;)
		if (thread->slices[i].depth == depth - 1)
			part->open[--depth] = i;
	return 0;
}

void html_parts_free(struct html_part *parts, size_t cnt)
{
	for (size_t i = 0; parts && i < cnt; i++)
		free(parts[i].open);
	free(parts);
}

int html_parts_choose(const struct timeline *timeline, size_t max, struct html_part **ret_parts,
		      size_t *ret_left_out)
{
	size_t share = thread_share(timeline, max), left_out = 0;
	struct html_part *parts = calloc(timeline->thread_cnt + 1, sizeof(*parts));
	int err = parts ? 0 : -ENOMEM;

	for (size_t i = 0; i < timeline->thread_cnt && !err; i++) {
		choose_range(timeline, &timeline->threads[i], share, &parts[i]);
		err = find_open(&timeline->threads[i], &parts[i]);
		left_out += timeline->threads[i].slice_cnt - html_part_slice_cnt(&parts[i]);
	}
	if (err) {
		html_parts_free(parts, timeline->thread_cnt);
		return err;
	}
	*ret_parts = parts;
	*ret_left_out = left_out;
	return 0;
}
