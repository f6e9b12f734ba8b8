/* SPDX-License-Identifier: BSD-2-Clause */
#include "sinks/json_text.h"

#include <stdbool.h>
#include <string.h>

#include "sinks/utf8.h"

static bool is_plain(char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

static void write_character(struct output *output, const char *at, size_t len)
{
	if (!len)
		output_write(output, UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT));
	else if (*at == '"' || *at == '\\')
		output_printf(output, "\\%c", *at);
	else if ((unsigned char)*at < ' ')
		output_printf(output, "\\u%04x", (unsigned char)*at);
	else
		output_write(output, at, len);
}

void json_string(struct output *output, const char *text)
{
	output_write(output, "\"", 1);
	while (*text) {
		size_t plain = 0, len;

		while (is_plain(text[plain]))
			plain++;
		output_write(output, text, plain);
		text += plain;
		if (!*text)
			break;
		len = utf8_len(text);
		write_character(output, text, len);
		text += len ? len : 1;
	}
	output_write(output, "\"", 1);
}
