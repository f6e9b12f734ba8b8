/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/hit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/containers/arena.h"
#include "base/containers/packed.h"

_Static_assert(sizeof(struct hit) == 96, "there may be a million of them");

struct hit_words {
	struct arena arena; /* the hits, and their states */
	size_t bytes;	    /* taken from it */
	struct word_pool stacks;
};

int hit_list_new(struct hit_list **ret_list)
{
	CLEANUP(hit_list_freep) struct hit_list *list = calloc(1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	list->owner_cnt = 1;
	list->words = calloc(1, sizeof(*list->words));
	if (!list->words)
		return -ENOMEM;
	*ret_list = TAKE_PTR(list);
	return 0;
}

struct hit_list *hit_list_share(struct hit_list *list)
{
	list->owner_cnt++;
	return list;
}

void hit_list_free(struct hit_list *list)
{
	if (!list || --list->owner_cnt)
		return;
	if (list->words) {
		arena_release(&list->words->arena);
		word_pool_release(&list->words->stacks);
	}
	free(list->words);
	free(list->hits);
	free(list);
}

size_t hit_list_bytes(const struct hit_list *list)
{
	return list->cnt * sizeof(*list->hits) + list->words->bytes;
}

static void *take(struct hit_words *words, size_t size)
{
	words->bytes += size;
	return arena_take(&words->arena, size);
}

int hit_list_change(struct hit_list *list, struct hit *hit, const struct caught_hit *caught)
{
	uint8_t packed[PACKED_MAX(HIT_STATE_CNT)];
	struct hit changed = caught->hit;
	size_t size = packed_put(packed, caught->state, HIT_STATE_CNT);
	uint8_t *state = take(list->words, size);

	if (!state)
		return -ENOMEM;
	memcpy(state, packed, size);
	changed.state = state;
	changed.stack = word_pool_keep(&list->words->stacks, caught->stack, changed.stack_cnt);
	if (!changed.stack)
		return -ENOMEM;
	*hit = changed;
	return 0;
}

int hit_list_add(struct hit_list *list, const struct caught_hit *caught)
{
	struct hit *hit = take(list->words, sizeof(*hit));
	int err = hit ? hit_list_change(list, hit, caught) : -ENOMEM;

	return err ? err : ARRAY_PUSH(list->hits, list->cnt, list->cap, hit);
}

uint64_t hit_reg(const struct hit *hit, enum hit_reg reg)
{
	return packed_nth(hit->state, HIT_STATE_CNT, reg);
}

uint64_t hit_arg(const struct hit *hit, unsigned int nth)
{
	return packed_nth(hit->state, HIT_STATE_CNT, HIT_REG_CNT + nth);
}

void hit_unpack(const struct hit *hit, struct caught_hit *ret_caught)
{
	ret_caught->hit = *hit;
	packed_get(hit->state, ret_caught->state, HIT_STATE_CNT);
	memcpy(ret_caught->stack, hit->stack, hit->stack_cnt * sizeof(*hit->stack));
}

bool hit_has_registers(const struct hit *hit)
{
	return hit->stack_cnt && hit->stack[0];
}

bool hit_is_return(const struct hit *hit)
{
	return hit->return_address && hit->return_address == hit_reg(hit, HIT_IP);
}

const char *hit_reg_name(enum hit_reg reg)
{
	return arch_register_names[reg][0];
}
