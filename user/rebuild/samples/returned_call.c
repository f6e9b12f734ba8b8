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

#include "arch/arch.h"
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

/* The call and its callers as a sample from `first` on shows them, if one does. */
static int look_up(const struct sample_items *items, size_t first, struct sample_stack *stack)
{
	uint64_t cfa = stack->cfas[0];
	const struct sampled_item *seen;
	size_t frame = 0;

	while (first < items->cnt && (frame = frame_of(&items->items[first], cfa)) == items->items[first].cnt)
		first++;
	if (first == items->cnt)
		return 0;
	seen = &items->items[first];
	free(stack->ips);
	if (sample_stack_new(stack, seen->cnt - frame))
		return -ENOMEM;
	stack->reached = seen->reached;
	memcpy(stack->ips, seen->ips + frame, stack->cnt * sizeof(*stack->ips));
	memcpy(stack->cfas, seen->cfas + frame, stack->cnt * sizeof(*stack->cfas));
	return 0;
}

/*
 * The call's return has a probe, which is a breakpoint. Where that has been met and is not dealt with yet,
 * the thread is one byte behind it: in the next function, if the return is the call's last instruction.
 */
static void take_back(struct sample_items *items, size_t first, const struct sample_context *context,
		      const struct returned_call *call)
{
	const struct symbol *symbol;

	if (!call->stack.ips[0])
		return;
	symbol = context->symbol_at(context->ctx, items->pid, call->stack.ips[0], call->end_ns);
	for (size_t i = first; i < items->cnt && symbol; i++) {
		const struct sampled_item *item = &items->items[i];
		size_t frame = frame_of(item, call->stack.cfas[0]);
		uint64_t *ip = (uint64_t *)item->ips + frame; /* of a block of the items' own */

		if (frame < item->cnt && (!frame || arch_is_kernel(ip[-1])) &&
		    context->symbol_at(context->ctx, items->pid, *ip, item->start) != symbol &&
		    context->symbol_at(context->ctx, items->pid, *ip - 1, item->start) == symbol)
			--*ip;
	}
}

int returned_call_add(struct sample_items *items, const struct sample_context *context,
		      struct returned_call *call)
{
	size_t first = first_since(items, call->begin_ns);
	struct sampled_item begin;
	int err;

	take_back(items, first, context, call);
	err = look_up(items, first, &call->stack);
	if (err)
		return err;
	if (!call->stack.ips[0]) {
		free(call->stack.ips);
		return 0;
	}
	err = sample_items_hit(items, context, call->end_ns, &call->stack, false);
	if (err)
		return err;
	begin = items->items[items->cnt - 1];
	begin.start = begin.end = call->begin_ns;
	begin.is_begin = true;
	return insert(items, first, begin);
}
