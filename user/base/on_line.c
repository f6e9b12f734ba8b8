/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/on_line.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"

/* Of two or three bytes of UTF-8. */
static uint32_t code_point(const unsigned char *at, size_t len)
{
	return len == 2 ? (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu)
			: (at[0] & 0xfu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
}

static bool is_escaped(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {{0x80, 0x9f}, {0x2028, 0x202e}, {0x2066, 0x2069}};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/* Length of what may be shown as it is, a character; 0: it may not. */
static size_t plain_len(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t len;

	if (*at < 0x80)
		return *at >= ' ' && *at != 0x7f;
	len = utf8_len(text);
	return len < 4 && len && is_escaped(code_point(at, len)) ? 0 : len;
}

size_t on_line_plain(const char *text)
{
	const char *at = text;

	for (size_t len; *at && (len = plain_len(at));)
		at += len;
	return (size_t)(at - text);
}

size_t on_line_escape(const char *text, char escape[static ON_LINE_ESCAPE])
{
	const unsigned char *at = (const unsigned char *)text;
	size_t len = utf8_len(text);

	if (*at == '\t' || *at == '\n')
		snprintf(escape, ON_LINE_ESCAPE, "\\%c", *at == '\t' ? 't' : 'n');
	else if (len < 2)
		snprintf(escape, ON_LINE_ESCAPE, "\\x%02x", *at);
	else
		snprintf(escape, ON_LINE_ESCAPE, "\\u%04x", code_point(at, len) & 0xffff);
	return len ? len : 1;
}

/* As much of `part` as there is room for, whole characters where it is cut. */
static size_t put_plain(char *to, size_t room, const char *part, size_t len)
{
	size_t fit = 0;

	if (len <= room)
		fit = len;
	for (size_t step; len > room && fit + (step = plain_len(part + fit)) <= room;)
		fit += step;
	memcpy(to, part, fit);
	return fit;
}

size_t on_line_copy(char *to, size_t size, const char *text)
{
	size_t used = 0;

	while (*text) {
		char escape[ON_LINE_ESCAPE];
		size_t plain = on_line_plain(text), fit = put_plain(to + used, size - 1 - used, text, plain);

		used += fit;
		text += fit;
		if (fit < plain || !*text)
			break;
		text += on_line_escape(text, escape);
		if (strlen(escape) > size - 1 - used)
			break;
		memcpy(to + used, escape, strlen(escape));
		used += strlen(escape);
	}
	to[used] = '\0';
	return used;
}

char *on_line_dup(const char *text)
{
	size_t size = 4 * strlen(text) + 1; /* a byte that is four */
	char *shown = malloc(size);

	if (shown)
		on_line_copy(shown, size, text);
	return shown;
}

void on_line_put(const char *text, FILE *file)
{
	while (*text) {
		char escape[ON_LINE_ESCAPE];
		size_t plain = on_line_plain(text);

		fwrite(text, 1, plain, file);
		text += plain;
		if (!*text)
			return;
		text += on_line_escape(text, escape);
		fputs(escape, file);
	}
}
