/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies of stacks, which share what they have in common: from one sample of a thread to the next most of a
 * stack stays. Memory is cut by address into pages of STACK_PAGE bytes. A stack is the numbers of its pages.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { STACK_PAGE = 64 };

struct stack_page {
	uint8_t bytes[STACK_PAGE];
};

/* All zero: empty. Arrays of base/spill.h. */
struct stack_pool {
	struct stack_page *pages;
	size_t page_cnt, page_cap;
	uint32_t *numbers; /* of the pages of one stack after the other */
	size_t number_cnt, number_cap;
};

/* The number of a new page with these bytes. 0 or -ENOMEM. */
int stack_pool_keep(struct stack_pool *pool, const uint8_t bytes[static STACK_PAGE], uint32_t *ret_number);

/* The next page of the stack that is added is this one. 0 or -ENOMEM. */
int stack_pool_add(struct stack_pool *pool, uint32_t number);

/* Copies `size` bytes of the stack whose numbers begin at `first`, from byte `skip` of its first page on. */
void stack_pool_read(const struct stack_pool *pool, size_t first, size_t skip, uint8_t *bytes, size_t size);

/* What it holds. */
size_t stack_pool_bytes(const struct stack_pool *pool);

void stack_pool_release(struct stack_pool *pool);
