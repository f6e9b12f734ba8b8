/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between two ticks nobody knows when a call began, nor whether there was one call or there were some from
 * the same place:
 *
 *	ticks		serve read	serve read	serve read	serve
 *	calls		[read]		[read]		[ read          ]
 *	the hit						begin ......... end
 */
#include "rebuild/samples/returned_call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Which frame of the item's is the call's; item->cnt: none. */
static size_t frame_of(const struct sampled_item *item, uint64_t cfa)
{
	size_t i = 0;

	while (i < item->cnt && (!item->cfas || item->cfas[i] != cfa))
		i++;
	return i;
}

static size_t first_since(const struct sample_items *items, uint64_t begin_ns)
{
	size_t i = items->cnt;

	while (i && items->items[i - 1].start >= begin_ns)
		i--;
	return i;
}

static int insert(struct sample_items *items, size_t at, struct sampled_item item)
{
	int err = ARRAY_PUSH(items->items, items->cnt, items->cap, item);

	if (err)
		return err;
	if (at && item.start < items->items[at - 1].end)
		item.start = item.end = items->items[at - 1].end;
	memmove(&items->items[at + 1], &items->items[at], (items->cnt - 1 - at) * sizeof(item));
	items->items[at] = item;
	return 0;
}

/* It was within the call until now. */
static int add_end(struct sample_items *items, const struct sample_context *context, uint64_t end_ns,
		   const struct sampled_item *within)
{
	struct sample_stack stack = {.cnt = within->cnt, .reached = within->reached};

	stack.ips = calloc(2 * stack.cnt, sizeof(*stack.ips));
	if (!stack.ips)
		return -ENOMEM;
	stack.cfas = stack.ips + stack.cnt;
	memcpy(stack.ips, within->ips, stack.cnt * sizeof(*stack.ips));
	memcpy(stack.cfas, within->cfas, stack.cnt * sizeof(*stack.cfas));
	return sample_items_hit(items, context, end_ns, &stack, false);
}

int returned_call_add(struct sample_items *items, const struct sample_context *context,
		      const struct returned_call *call)
{
	size_t first = first_since(items, call->begin_ns), frame = 0, i = first;
	struct sampled_item begin = {.start = call->begin_ns, .end = call->begin_ns, .is_begin = true};
	const struct sampled_item *seen;
	int err;

	while (i < items->cnt && (frame = frame_of(&items->items[i], call->cfa)) == items->items[i].cnt)
		i++;
	if (i == items->cnt)
		return 0;
	seen = &items->items[i];
	begin.ips = seen->ips + frame;
	begin.cfas = seen->cfas + frame;
	begin.cnt = seen->cnt - frame;
	begin.reached = seen->reached;
	err = insert(items, first, begin);
	return err ? err : add_end(items, context, call->end_ns, &begin);
}
