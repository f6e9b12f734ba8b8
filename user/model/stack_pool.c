/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/stack_pool.h"

#include <errno.h>
#include <string.h>

#include "base/spill.h"

int stack_pool_keep(struct stack_pool *pool, const uint8_t bytes[static STACK_PAGE], uint32_t *ret_number)
{
	if (pool->page_cnt > UINT32_MAX ||
	    spill_reserve(&pool->pages, &pool->page_cap, pool->page_cnt + 1, sizeof(*pool->pages)))
		return -ENOMEM;
	memcpy(pool->pages[pool->page_cnt].bytes, bytes, STACK_PAGE);
	*ret_number = (uint32_t)pool->page_cnt++;
	return 0;
}

int stack_pool_add(struct stack_pool *pool, uint32_t number)
{
	return SPILL_PUSH(pool->numbers, pool->number_cnt, pool->number_cap, number);
}

void stack_pool_read(const struct stack_pool *pool, size_t first, size_t skip, uint8_t *bytes, size_t size)
{
	for (size_t done = 0, piece; done < size; done += piece, first++, skip = 0) {
		piece = STACK_PAGE - skip < size - done ? STACK_PAGE - skip : size - done;
		memcpy(bytes + done, pool->pages[pool->numbers[first]].bytes + skip, piece);
	}
}

size_t stack_pool_bytes(const struct stack_pool *pool)
{
	return pool->page_cnt * sizeof(*pool->pages) + pool->number_cnt * sizeof(*pool->numbers);
}

void stack_pool_release(struct stack_pool *pool)
{
	spill_free(pool->pages);
	spill_free(pool->numbers);
	*pool = (struct stack_pool){0};
}
