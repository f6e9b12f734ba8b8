/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A value's bytes, as condition_emit() makes the kernel write them:
 *
 *	number	| 1; 0: unreadable | 64 bits |
 *	text	| its length and 1; below 1: unreadable | text |
 *
 * A text that is longer than wanted has one byte more.
 */
#include "condition/prints.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "condition/condition_tree.h"
#include "model/hit.h"

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

void prints_place(struct prints *prints, struct print_item *item)
{
	item->offset = prints->bytes;
	/* One byte for the end of the text, one to tell that it is longer. */
	if (!item->lack)
		prints->bytes += 8 + (item->is_text ? (item->max + 2 + 7) & ~7u : 8);
}

static int text_value(const struct print_item *item, const uint8_t *bytes, int64_t size, char **ret_text)
{
	bool is_longer = size > item->max + 1;
	int len = (int)(is_longer ? item->max : size - 1);

	return asprintf(ret_text, "%.*s%s", len, (const char *)bytes, is_longer ? "..." : "") < 0 ? -ENOMEM
												  : 0;
}

static const char *name_of(const struct elf_enum *constants, uint64_t number, uint64_t mask)
{
	for (size_t i = 0; i < constants->cnt; i++)
		if (!((constants->constants[i].value ^ number) & mask))
			return constants->constants[i].name;
	return NULL;
}

/* "READ | WRITE", if all constants are single bits and make up the number. NULL without an error: not so. */
static int flags_of(const struct elf_enum *constants, uint64_t number, char **ret_text)
{
	CLEANUP(freep) char *text = NULL;

	*ret_text = NULL;
	for (size_t i = 0; i < constants->cnt; i++) {
		uint64_t bit = constants->constants[i].value;
		char *longer;

		if (bit & (bit - 1))
			return 0;
		if (!(number & bit))
			continue;
		number &= ~bit;
		if (asprintf(&longer, "%s%s%s", text ? text : "", text ? " | " : "",
			     constants->constants[i].name) < 0)
			return -ENOMEM;
		free(text);
		text = longer;
	}
	if (!number)
		*ret_text = TAKE_PTR(text);
	return 0;
}

/* As wide as the value is, since a constant may be given as a signed or as an unsigned number. */
static int constant_value(const struct condition_node *node, uint64_t number, char **ret_text)
{
	uint64_t mask = node->type.size < 8 ? (1ull << 8 * node->type.size) - 1 : UINT64_MAX;
	const char *name = name_of(node->constants, number, mask);
	CLEANUP(freep) char *flags = NULL;
	int err = name ? 0 : flags_of(node->constants, number & mask, &flags);

	*ret_text = NULL;
	if (err || (!name && !flags))
		return err;
	return asprintf(ret_text, node->type.is_signed ? "%s (%" PRId64 ")" : "%s (%" PRIu64 ")",
			name ? name : flags, number) < 0
		       ? -ENOMEM
		       : 0;
}

static int number_value(const struct condition_node *node, uint64_t number, char **ret_text,
			enum value_kind *ret_kind)
{
	struct value_type type = node->type;
	int err = node->constants ? constant_value(node, number, ret_text) : 0, len;

	if (err || *ret_text)
		return err;
	*ret_kind = type.depth				    ? VALUE_POINTER
		    : type.is_signed || number <= INT64_MAX ? VALUE_NUMBER
							    : VALUE_TEXT;
	len = type.depth       ? asprintf(ret_text, "0x%" PRIx64, number)
	      : type.is_signed ? asprintf(ret_text, "%" PRId64, (int64_t)number)
			       : asprintf(ret_text, "%" PRIu64, number);

	return len < 0 ? -ENOMEM : 0;
}

/* The address says more than that there is no text. */
static int address_value(const struct print_item *item, const struct caught_hit *hit, char **ret_text)
{
	uint64_t address = hit->args[item->address_arg - 1];

	return asprintf(ret_text, address ? "%#" PRIx64 " (unreadable)" : "NULL", address) < 0 ? -ENOMEM : 0;
}

static int lack_value(const char *why, char **ret_text)
{
	return asprintf(ret_text, "? (%s)", why) < 0 ? -ENOMEM : 0;
}

int prints_value(const struct prints *prints, size_t nth, const struct caught_hit *hit, const uint8_t *bytes,
		 char **ret_text, enum value_kind *ret_kind)
{
	const struct print_item *item = &prints->items[nth];
	int64_t state;
	uint64_t number;

	*ret_kind = VALUE_TEXT;
	if (item->lack)
		return lack_value(item->lack, ret_text);
	if (item->is_result && !(hit->hit.action & HIT_RETURN))
		return lack_value("the call ended in a jump to another function", ret_text);
	bytes += item->offset;
	memcpy(&state, bytes, sizeof(state));
	memcpy(&number, bytes + sizeof(state), sizeof(number));
	*ret_text = NULL;
	if (state < 1)
		return item->address_arg ? address_value(item, hit, ret_text) : 0;
	return item->is_text ? text_value(item, bytes + sizeof(state), state, ret_text)
			     : number_value(item->root, number, ret_text, ret_kind);
}
