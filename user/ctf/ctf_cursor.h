/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and writes numbers and texts of memtrace's CTF: little-endian, unaligned. */
#pragma once

#include "base/cursor.h"

/* A first byte up to 252 is the number itself; the others say how many bytes follow. */
enum { CTF_VINT_U16 = 253, CTF_VINT_I32, CTF_VINT_I64 };

static inline int64_t ctf_get_vint(struct cursor *cursor)
{
	uint8_t first = cursor_u8(cursor);

	switch (first) {
	case CTF_VINT_U16:
		return cursor_u16(cursor);
	case CTF_VINT_I32:
		return (int32_t)cursor_u32(cursor);
	case CTF_VINT_I64:
		return (int64_t)cursor_u64(cursor);
	default:
		return first;
	}
}

/* The text points into the input. */
static inline const char *ctf_get_text(struct cursor *cursor)
{
	const uint8_t *nul = memchr(cursor->at, 0, cursor_left(cursor));
	const char *text = (const char *)cursor->at;

	if (!nul) {
		cursor->bad = true;
		return "";
	}
	cursor->at = nul + 1;
	return text;
}

/* Write at `at`, which has room, and return the end. */
#define CTF_PUT(name, type)                                  \
	static inline uint8_t *name(uint8_t *at, type value) \
	{                                                    \
		memcpy(at, &value, sizeof(value));           \
		return at + sizeof(value);                   \
	}

CTF_PUT(ctf_put_u8, uint8_t)
CTF_PUT(ctf_put_u16, uint16_t)
CTF_PUT(ctf_put_u32, uint32_t)
CTF_PUT(ctf_put_u64, uint64_t)

static inline uint8_t *ctf_put_vint(uint8_t *at, int64_t value)
{
	if (value >= 0 && value < CTF_VINT_U16)
		return ctf_put_u8(at, (uint8_t)value);
	if (value >= 0 && value <= UINT16_MAX)
		return ctf_put_u16(ctf_put_u8(at, CTF_VINT_U16), (uint16_t)value);
	if (value >= INT32_MIN && value <= INT32_MAX)
		return ctf_put_u32(ctf_put_u8(at, CTF_VINT_I32), (uint32_t)value);
	return ctf_put_u64(ctf_put_u8(at, CTF_VINT_I64), (uint64_t)value);
}

static inline uint8_t *ctf_put_text(uint8_t *at, const char *text)
{
	size_t size = strlen(text) + 1;

	memcpy(at, text, size);
	return at + size;
}
