/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctf/ctf_stack.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

enum { WORD_FRAMES = 1 + UINT8_MAX }; /* at most */

int ctf_stack_init(struct ctf_stack *stack)
{
	stack->cache = calloc(1, sizeof(*stack->cache));
	return stack->cache ? 0 : -ENOMEM;
}

void ctf_stack_release(struct ctf_stack *stack)
{
	free(stack->frames);
	free(stack->cache);
	*stack = (struct ctf_stack){0};
}

/* For the frames of one more word. */
static int make_room(struct ctf_stack *stack, size_t cnt, size_t *room)
{
	size_t cap = stack->cap;
	int err;

	if (cnt + WORD_FRAMES - cap > *room)
		return -EBADMSG;
	err = array_reserve(&stack->frames, &stack->cap, cnt + WORD_FRAMES, sizeof(*stack->frames));
	*room -= stack->cap - cap < *room ? stack->cap - cap : *room;
	return err;
}

int ctf_stack_get(struct ctf_stack *stack, struct cursor *cursor, uint64_t common, unsigned int words,
		  size_t *room)
{
	struct ctf_cache *cache = stack->cache;
	bool known = common <= stack->cnt;
	size_t cnt = known ? common : stack->cnt;
	struct cursor c = *cursor;
	unsigned int entry = 0;

	while (words-- && !c.bad) {
		uint16_t word = cursor_u16(&c);
		enum ctf_word tag = word & CTF_MISS;
		unsigned int run = tag == CTF_RUN ? cursor_u8(&c) : tag & 1;
		int err = cnt + WORD_FRAMES > stack->cap ? make_room(stack, cnt, room) : 0;

		if (err)
			return err;
		cache->next[entry] = word >> CTF_WORD_BITS;
		entry = word >> CTF_WORD_BITS;
		if (tag == CTF_MISS) {
			cache->codes[entry] = cursor_u64(&c);
			run = 0;
		}
		stack->frames[cnt++] = cache->codes[entry];
		while (run--) {
			entry = cache->next[entry];
			stack->frames[cnt++] = cache->codes[entry];
		}
	}
	if (known)
		stack->cnt = cnt;
	*cursor = c;
	return 0;
}

void ctf_stack_skip(struct cursor *cursor, unsigned int words)
{
	static const uint8_t behind[] = {[CTF_HIT] = 0, [CTF_HIT_1] = 0, [CTF_RUN] = 1, [CTF_MISS] = 8};

	while (words-- && !cursor->bad)
		cursor_take(cursor, behind[cursor_u16(cursor) & CTF_MISS]);
}
