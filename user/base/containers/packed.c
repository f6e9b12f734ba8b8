/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/containers/packed.h"

#include <string.h>

static size_t head_size(size_t cnt)
{
	return (cnt + 1) / 2;
}

static size_t length(const uint8_t *head, size_t nth)
{
	return head[nth / 2] >> nth % 2 * 4 & 15;
}

size_t packed_put(uint8_t *to, const uint64_t *words, size_t cnt)
{
	uint8_t *at = to + head_size(cnt);

	memset(to, 0, head_size(cnt));
	for (size_t i = 0; i < cnt; i++) {
		size_t size = 0;

		for (uint64_t rest = words[i]; rest; rest >>= 8, size++)
			*at++ = (uint8_t)rest;
		to[i / 2] |= (uint8_t)(size << i % 2 * 4);
	}
	return (size_t)(at - to);
}

size_t packed_size(const uint8_t *from, size_t room, size_t cnt)
{
	size_t size = head_size(cnt);

	if (room < size)
		return 0;
	for (size_t i = 0; i < cnt; i++) {
		if (length(from, i) > sizeof(uint64_t))
			return 0;
		size += length(from, i);
	}
	return size <= room ? size : 0;
}

static uint64_t word(const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | bytes[size];
	return value;
}

void packed_get(const uint8_t *from, uint64_t *ret_words, size_t cnt)
{
	const uint8_t *at = from + head_size(cnt);

	for (size_t i = 0; i < cnt; at += length(from, i), i++)
		ret_words[i] = word(at, length(from, i));
}

uint64_t packed_nth(const uint8_t *from, size_t cnt, size_t nth)
{
	const uint8_t *at = from + head_size(cnt);

	for (size_t i = 0; i < nth; i++)
		at += length(from, i);
	return word(at, length(from, nth));
}
