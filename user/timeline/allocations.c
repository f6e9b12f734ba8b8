/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that one thread allocates is often freed by another: all beginnings are added first. */
#include "timeline/allocations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"

static uint64_t bytes_of(const struct instant *instant)
{
	for (size_t i = 0; i < instant->arg_cnt; i++)
		if (!strcmp(instant->args[i].name, INSTANT_ALLOC_BYTES))
			return instant->args[i].number;
	return 0;
}

static int site_of(struct allocations *allocations, const struct instant *instant, size_t *ret_site)
{
	const struct allocation_sum fresh = {.function = instant->name, .stack = instant->stack};
	const uint64_t hash = hash_number(hash_text(0, instant->name), (uintptr_t)instant->stack);
	size_t at = 0;
	int err;

	while ((*ret_site = hash_index_next(&allocations->site_index, hash, &at)) != HASH_INDEX_END)
		if (allocations->sites[*ret_site].stack == instant->stack &&
		    !strcmp(allocations->sites[*ret_site].function, instant->name))
			return 0;
	*ret_site = allocations->site_cnt;
	err = ARRAY_PUSH(allocations->sites, allocations->site_cnt, allocations->site_cap, fresh);
	return err ? err : hash_index_add(&allocations->site_index, hash, *ret_site);
}

static int add_begin(struct allocations *allocations, const struct instant *instant)
{
	struct allocation_sum *sum;
	size_t site;
	int err = site_of(allocations, instant, &site);

	if (err)
		return err;
	sum = &allocations->sites[site];
	sum->cnt++;
	sum->live_cnt++;
	sum->bytes += bytes_of(instant);
	sum->live_bytes += bytes_of(instant);
	return hash_index_add(&allocations->begun, hash_number(0, instant->number), site);
}

static void add_end(struct allocations *allocations, const struct instant *instant)
{
	size_t at = 0, site = hash_index_next(&allocations->begun, hash_number(0, instant->number), &at);

	if (site == HASH_INDEX_END)
		return; /* of another thread, or before the trace */
	allocations->sites[site].live_cnt--;
	allocations->sites[site].live_bytes -= bytes_of(instant);
}

/* There are a few functions. */
static int sum_up(struct allocations *allocations)
{
	allocations->cnt = 0;
	for (size_t i = 0; i < allocations->site_cnt; i++) {
		const struct allocation_sum *site = &allocations->sites[i];
		struct allocation_sum fresh = *site, *sum = allocations->items;

		fresh.stack = NULL;
		while (sum < allocations->items + allocations->cnt && strcmp(sum->function, site->function))
			sum++;
		if (sum == allocations->items + allocations->cnt) {
			if (ARRAY_PUSH(allocations->items, allocations->cnt, allocations->cap, fresh))
				return -ENOMEM;
			continue;
		}
		sum->cnt += site->cnt;
		sum->bytes += site->bytes;
		sum->live_cnt += site->live_cnt;
		sum->live_bytes += site->live_bytes;
	}
	return 0;
}

int allocations_add(struct allocations *allocations, const struct timeline *timeline, int32_t tid)
{
	int err = 0;

	for (size_t i = 0; i < timeline->thread_cnt; i++) {
		const struct timeline_thread *thread = &timeline->threads[i];

		for (size_t j = 0; j < thread->instant_cnt && !err && (!tid || thread->tid == tid); j++)
			if (thread->instants[j].number && !thread->instants[j].ends)
				err = add_begin(allocations, &thread->instants[j]);
	}
	for (size_t i = 0; i < timeline->thread_cnt && !err; i++)
		for (size_t j = 0; j < timeline->threads[i].instant_cnt; j++)
			if (timeline->threads[i].instants[j].number && timeline->threads[i].instants[j].ends)
				add_end(allocations, &timeline->threads[i].instants[j]);
	return err ? err : sum_up(allocations);
}

static int compare(const void *left, const void *right)
{
	const struct allocation_sum *a = left, *b = right;

	return ORDER_DOWN(a->bytes, b->bytes)
		       ?: strcmp(a->function, b->function)
		       ?: strcmp(a->stack ? a->stack->text : "", b->stack ? b->stack->text : "");
}

void allocations_sort(struct allocations *allocations)
{
	sort_array(allocations->items, allocations->cnt, sizeof(*allocations->items), compare);
	sort_array(allocations->sites, allocations->site_cnt, sizeof(*allocations->sites), compare);
}

void allocations_release(struct allocations *allocations)
{
	free(allocations->items);
	free(allocations->sites);
	hash_index_release(&allocations->site_index);
	hash_index_release(&allocations->begun);
	*allocations = (struct allocations){0};
}
