/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

size_t utf8_len(const char *text)
{
	static const struct {
		unsigned char mask, lead, len;
		uint32_t least;
	} forms[] = {
		{0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
	const unsigned char *at = (const unsigned char *)text;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		uint32_t code = at[0] & (unsigned char)~forms[i].mask;

		if ((at[0] & forms[i].mask) != forms[i].lead)
			continue;
		for (size_t j = 1; j < forms[i].len; j++) {
			if (!utf8_is_continued(text[j]))
				return 0;
			code = code << 6 | (at[j] & 0x3f);
		}
		if (code < forms[i].least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
			return 0;
		return forms[i].len;
	}
	return 0;
}

char *utf8_clean(const char *text, size_t max)
{
	size_t len = strnlen(text, max), used = 0;
	char *clean = malloc(3 * len + 1);

	for (const char *at = text; clean && *at;) {
		size_t step = utf8_len(at), add = step ? step : strlen(UTF8_REPLACEMENT);

		if (used + add > max)
			break;
		memcpy(clean + used, step ? at : UTF8_REPLACEMENT, add);
		used += add;
		at += step ? step : 1;
	}
	if (clean)
		clean[used] = '\0';
	return clean;
}
