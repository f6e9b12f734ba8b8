/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From one sample of a thread to the next most of its stack stays. So each page is compared with the last one
 * that stood at its address. Where two have the same place among those, less is shared, and nothing is wrong.
 */
#include "recording/perf_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/hash_index.h"

enum { PLACES = 1 << 18 };

/* `last` is the one of its place. */
static int keep_page(struct stack_pool *pool, uint32_t *last, const uint8_t page[static STACK_PAGE])
{
	uint32_t number = *last - 1;
	int err = 0;

	if (!*last || memcmp(pool->pages[number].bytes, page, STACK_PAGE) != 0)
		err = stack_pool_keep(pool, page, &number);
	*last = number + 1;
	return err ? err : stack_pool_add(pool, number);
}

int perf_stacks_keep(struct perf_stacks *stacks, struct snapshot *snapshot, struct stack_sample *sample)
{
	const uint8_t *bytes = sample->stack;
	uint64_t at = sample->regs[HIT_SP], end = at + sample->stack_size,
		 thread = hash_number(0, (uint32_t)sample->tid);
	int err = 0;

	if (!stacks->last)
		stacks->last = calloc(PLACES, sizeof(*stacks->last));
	if (!stacks->last)
		return -ENOMEM;
	sample->pool = &snapshot->stacks;
	sample->pool_first = snapshot->stacks.number_cnt;
	while (at != end && !err) {
		uint8_t page[STACK_PAGE] = {0};
		size_t skip = at % STACK_PAGE, part = STACK_PAGE - skip, place;

		if (part > end - at)
			part = end - at;
		memcpy(page + skip, bytes, part);
		place = hash_number(thread, at / STACK_PAGE) % PLACES;
		err = keep_page(&snapshot->stacks, &stacks->last[place], page);
		bytes += part;
		at += part;
	}
	sample->stack = NULL;
	return err;
}

void perf_stacks_release(struct perf_stacks *stacks)
{
	free(stacks->last);
}
