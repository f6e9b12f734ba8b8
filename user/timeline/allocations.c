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

/* There are a few functions. */
static int item_of(struct allocations *allocations, const char *function, size_t *ret_item)
{
	const struct allocation_sum fresh = {.function = function};

	for (*ret_item = 0; *ret_item < allocations->cnt; ++*ret_item)
		if (!strcmp(allocations->items[*ret_item].function, function))
			return 0;
	return ARRAY_PUSH(allocations->items, allocations->cnt, allocations->cap, fresh);
}

static int add_begin(struct allocations *allocations, const struct instant *instant)
{
	struct allocation_sum *sum;
	size_t item;
	int err = item_of(allocations, instant->name, &item);

	if (err)
		return err;
	sum = &allocations->items[item];
	sum->cnt++;
	sum->live_cnt++;
	sum->bytes += bytes_of(instant);
	sum->live_bytes += bytes_of(instant);
	return hash_index_add(&allocations->begun, hash_number(0, instant->number), item);
}

static void add_end(struct allocations *allocations, const struct instant *instant)
{
	size_t at = 0, item = hash_index_next(&allocations->begun, hash_number(0, instant->number), &at);

	if (item == HASH_INDEX_END)
		return; /* of another thread, or before the trace */
	allocations->items[item].live_cnt--;
	allocations->items[item].live_bytes -= bytes_of(instant);
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
	return err;
}

static int compare(const void *left, const void *right)
{
	const struct allocation_sum *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return strcmp(a->function, b->function);
}

void allocations_sort(struct allocations *allocations)
{
	sort_array(allocations->items, allocations->cnt, sizeof(*allocations->items), compare);
}

void allocations_release(struct allocations *allocations)
{
	free(allocations->items);
	hash_index_release(&allocations->begun);
	*allocations = (struct allocations){0};
}
