/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/bytes/json_text.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

static bool is_plain(char c, bool in_html)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\' && !(in_html && c == '<');
}

static void write_character(struct output *output, const char *at, size_t len)
{
	if (!len)
		output_write(output, UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT));
	else if (*at == '"' || *at == '\\')
		output_printf(output, "\\%c", *at);
	else if ((unsigned char)*at < ' ' || *at == '<')
		output_printf(output, "\\u%04x", (unsigned char)*at);
	else
		output_write(output, at, len);
}

static void write_string(struct output *output, const char *text, bool in_html)
{
	output_write(output, "\"", 1);
	while (*text) {
		size_t plain = 0, len;

		while (is_plain(text[plain], in_html))
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

void json_string(struct output *output, const char *text)
{
	write_string(output, text, false);
}

void json_string_in_html(struct output *output, const char *text)
{
	write_string(output, text, true);
}
