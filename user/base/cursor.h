/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads numbers that stand in memory one after the other, little-endian and unaligned. A read past the end
 * gives 0 and sets `bad`, as do all reads after it, so that a reader checks once, after a whole record. A
 * reader may also set `bad` itself.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static inline struct cursor cursor_of(const void *bytes, size_t size)
{
	return (struct cursor){.at = bytes, .end = (const uint8_t *)bytes + size};
}

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

/* The next `size` bytes, which stay where they are; NULL: there are not so many. */
static inline const uint8_t *cursor_take(struct cursor *cursor, uint64_t size)
{
	const uint8_t *at = cursor->at;

	if (cursor->bad || size > cursor_left(cursor)) {
		cursor->bad = true;
		return NULL;
	}
	cursor->at += size;
	return at;
}

#define CURSOR_NUMBER(type, name)                                       \
	static inline type name(struct cursor *cursor)                  \
	{                                                               \
		type value = 0;                                         \
		const uint8_t *at = cursor_take(cursor, sizeof(value)); \
                                                                        \
		if (at)                                                 \
			memcpy(&value, at, sizeof(value));              \
		return value;                                           \
	}

CURSOR_NUMBER(uint8_t, cursor_u8)
CURSOR_NUMBER(uint16_t, cursor_u16)
CURSOR_NUMBER(uint32_t, cursor_u32)
CURSOR_NUMBER(uint64_t, cursor_u64)
