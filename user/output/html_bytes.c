/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/html_bytes.h"

#include <stdarg.h>
#include <stdio.h>

void html_put(struct html_bytes *bytes, uint8_t byte)
{
	gzip_buffer(bytes->gzip)[bytes->used++] = byte;
	if (bytes->used < GZIP_BUFFER)
		return;
	bytes->used = 0;
	if (!bytes->err)
		bytes->err = gzip_push(bytes->gzip, GZIP_BUFFER, false);
}

void html_put_number(struct html_bytes *bytes, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		html_put(bytes, (uint8_t)(number | 0x80));
	html_put(bytes, (uint8_t)number);
}

void html_put_text(struct html_bytes *bytes, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (const char *at = text; *at; at++)
		html_put(bytes, (uint8_t)*at);
}

void html_put_string(struct html_bytes *bytes, const char *string)
{
	html_put(bytes, '"');
	for (const char *at = string; *at; at++) {
		if ((unsigned char)*at < ' ' || *at == '"' || *at == '\\')
			html_put_text(bytes, "\\u%04x", (unsigned char)*at);
		else
			html_put(bytes, (uint8_t)*at);
	}
	html_put(bytes, '"');
}

void html_put_member(struct html_bytes *bytes, const char *name, const char *string)
{
	html_put_text(bytes, ",\"%s\":", name);
	html_put_string(bytes, string ? string : "");
}

int html_end(struct html_bytes *bytes)
{
	int err = gzip_push(bytes->gzip, bytes->used, true);

	return bytes->err ? bytes->err : err;
}
