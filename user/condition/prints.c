/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A value's bytes, as condition_emit() makes the kernel write them:
 *
 *	number	| 1; 0: unreadable | 64 bits |
 *	text	| its bytes with the 0 behind it; below 1: unreadable | text; one byte more than wanted tells that it is longer |
 */
#include "condition/prints.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "condition/condition_tree.h"

void prints_free(struct prints *prints)
{
	if (!prints)
		return;
	for (size_t i = 0; i < prints->cnt; i++) {
		free(prints->items[i].name);
		node_free(prints->items[i].root);
	}
	free(prints);
}

size_t prints_cnt(const struct prints *prints)
{
	return prints->cnt;
}

const char *prints_name(const struct prints *prints, size_t nth)
{
	return prints->items[nth].name;
}

bool prints_ask_return(const struct prints *prints)
{
	return prints->asked.asks_return;
}

bool prints_ask_result(const struct prints *prints)
{
	return prints->asked.asks_result;
}

bool prints_read_memory(const struct prints *prints)
{
	return prints->asked.reads_memory;
}

uint32_t prints_ask_args(const struct prints *prints)
{
	return prints->asked.asks_args;
}

uint32_t prints_bytes(const struct prints *prints)
{
	return prints->bytes;
}

static int text_value(const struct print_item *item, const uint8_t *bytes, int64_t size, char **ret_text)
{
	bool is_longer = size > item->max + 1;
	int len = (int)(is_longer ? item->max : size - 1);

	return asprintf(ret_text, "%.*s%s", len, (const char *)bytes, is_longer ? "..." : "") < 0 ? -ENOMEM
												  : 0;
}

static int number_value(struct value_type type, uint64_t number, char **ret_text)
{
	int len = type.depth	   ? asprintf(ret_text, "0x%" PRIx64, number)
		  : type.is_signed ? asprintf(ret_text, "%" PRId64, (int64_t)number)
				   : asprintf(ret_text, "%" PRIu64, number);

	return len < 0 ? -ENOMEM : 0;
}

int prints_value(const struct prints *prints, size_t nth, const uint8_t *bytes, char **ret_text)
{
	const struct print_item *item = &prints->items[nth];
	int64_t state;
	uint64_t number;

	bytes += item->offset;
	memcpy(&state, bytes, sizeof(state));
	memcpy(&number, bytes + sizeof(state), sizeof(number));
	*ret_text = NULL;
	if (state < 1)
		return 0;
	return item->is_text ? text_value(item, bytes + sizeof(state), state, ret_text)
			     : number_value(item->root->type, number, ret_text);
}
