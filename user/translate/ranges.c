/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which memory has code that is in no file, and which of that may change without a call that would tell, for
 * it is writable or may be written through another mapping; and which is known to be executable. The list is
 * in order of address; its ranges do not overlap. If it is full, what is between two of them counts as well:
 * that only makes code there slower.
 */
#include "translate/runtime.h"

static struct range *ranges(void)
{
	return (struct range *)(ARENA_BASE + ARENA_RANGES);
}

static void insert_at(uint32_t i, struct range range)
{
	for (uint32_t j = shared()->range_cnt++; j > i; j--)
		ranges()[j] = ranges()[j - 1];
	ranges()[i] = range;
}

static void remove_at(uint32_t i)
{
	for (shared()->range_cnt--; i < shared()->range_cnt; i++)
		ranges()[i] = ranges()[i + 1];
}

const struct range *range_behind(uint64_t addr)
{
	uint32_t low = 0, high = shared()->range_cnt;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (ranges()[middle].end > addr)
			high = middle;
		else
			low = middle + 1;
	}
	return low < shared()->range_cnt ? &ranges()[low] : NULL;
}

bool range_is_checked(uint64_t start, uint64_t end)
{
	const struct range *end_of_list = ranges() + shared()->range_cnt;

	for (const struct range *range = range_behind(start); range && range < end_of_list; range++)
		if (range->start < end && range->is_checked)
			return true;
	return false;
}

static void join_nearest(void)
{
	uint32_t nearest = 0;

	for (uint32_t i = 1; i + 1 < shared()->range_cnt; i++)
		if (ranges()[i + 1].start - ranges()[i].end <
		    ranges()[nearest + 1].start - ranges()[nearest].end)
			nearest = i;
	ranges()[nearest + 1].start = ranges()[nearest].start;
	ranges()[nearest + 1].is_checked = 1;
	remove_at(nearest);
}

static void cut_out(uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < shared()->range_cnt;) {
		struct range before = ranges()[i], after = before;

		if (before.end <= start || before.start >= end) {
			i++;
			continue;
		}
		before.end = start;
		after.start = end;
		remove_at(i);
		if (after.start < after.end)
			insert_at(i, after);
		if (before.start < before.end)
			insert_at(i++, before);
	}
}

void range_mark(uint64_t start, uint64_t end, enum range_kind kind)
{
	const struct range fresh = {start, end, kind == RANGE_CHECKED};
	uint32_t i = 0;

	if (start >= end)
		return;
	cut_out(start, end);
	if (kind == RANGE_NONE)
		return;
	while (i < shared()->range_cnt && ranges()[i].start < start)
		i++;
	insert_at(i, fresh);
	if (i + 1 < shared()->range_cnt && ranges()[i + 1].start == end &&
	    ranges()[i + 1].is_checked == fresh.is_checked) {
		ranges()[i].end = ranges()[i + 1].end;
		remove_at(i + 1);
	}
	if (i && ranges()[i - 1].end == start && ranges()[i - 1].is_checked == fresh.is_checked) {
		ranges()[i - 1].end = ranges()[i].end;
		remove_at(i);
	}
	/* Cutting out may need one more. */
	if (shared()->range_cnt + 2 > RANGES_MAX)
		join_nearest();
}

/* ---- what may be executed ---- */

bool executable_find(uint64_t guest, uint64_t *ret_end)
{
	for (uint32_t i = 0; i < EXECUTABLE_MAX; i++) {
		*ret_end = shared()->executable[i].end;
		if (guest >= shared()->executable[i].start && guest < *ret_end)
			return true;
	}
	return false;
}

void executable_note(uint64_t start, uint64_t end)
{
	uint32_t place = shared()->executable_cnt++ % EXECUTABLE_MAX;

	shared()->executable[place].start = start;
	shared()->executable[place].end = end;
}

void executable_forget(uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < EXECUTABLE_MAX; i++)
		if (shared()->executable[i].start < end && start < shared()->executable[i].end)
			shared()->executable[i].end = 0;
}
